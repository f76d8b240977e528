"""Many who listen to one stream of events, and whether each of them heard every event once."""

import asyncio
import re
import threading

NUMBER = re.compile(rb"^id: (\d+)$", re.MULTILINE)


class Listeners(threading.Thread):
    """`count` connections to `/v1/events/stream` from event `after` on, read in a thread of their own.

    Every tenth hangs up once, halfway, and goes on with `Last-Event-ID`.
    """

    def __init__(self, port, count, after):
        super().__init__(daemon=True)
        self.port, self.count, self.after = port, count, after
        self.open = 0
        self.ready = threading.Event()
        self.last = None
        self.wrong = []
        self.heard = 0
        self.bytes = 0

    def run(self):
        asyncio.run(self.listen())

    async def listen(self):
        self.done = 0
        await asyncio.gather(*(self.one(number) for number in range(self.count)))

    async def one(self, number):
        at, hangs_up = self.after, number % 10 == 0
        while True:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
            last_event = f"Last-Event-ID: {at}\r\n"
            writer.write(f"GET /v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{last_event}\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                self.wrong.append(f"listener {number}: {head[:60]!r}")
                return
            self.open += 1
            if self.open >= self.count:
                self.ready.set()
            left = b""
            while True:
                try:
                    piece = await asyncio.wait_for(reader.read(1 << 16), 5)
                except TimeoutError:
                    piece = b":"
                if not piece:
                    self.wrong.append(f"listener {number}: cut off at {at}")
                    return
                self.bytes += len(piece)
                whole, _, left = (left + piece).rpartition(b"\n")
                for found in NUMBER.finditer(whole):
                    event = int(found[1])
                    if event != at + 1:
                        self.wrong.append(f"listener {number}: {event} came after {at}")
                        return
                    at = event
                    self.heard += 1
                if self.last is not None and at >= self.last:
                    writer.close()
                    return
                if hangs_up and at > self.after + 100:
                    hangs_up = False
                    writer.close()
                    break
