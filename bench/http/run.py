"""The HTTP interface under load: durable uploads, lists and searches among many documents, listeners, one large file.

The load comes from `wrk` (Debian's package; the scripts beside this file). Each part has a server of its own on a fresh
data directory. Rates are of a server that is asked as fast as it answers; latencies of lists and searches are those
under a fixed moderate rate, because whoever asks as fast as possible measures his own queue.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "ingest")]
from measure import ROOT, TICKS, MemoryOfTree, family, machine, table, write_results  # noqa: E402

import texts  # noqa: E402
from listeners import Listeners  # noqa: E402

BARS = {
    "uploads_per_s": (">=", 300),
    "list_p99_ms": ("<=", 50),
    "search_p99_ms": ("<=", 50),
    "page_p99_ms": ("<=", 150),
    "listeners_lost": ("<=", 0),
    "large_peak_pss_mb": ("<", 200),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docmill", required=True, help="the release binary")
    parser.add_argument("--parts", default="uploads,reads,listeners,large,pages", help="which, comma-separated")
    parser.add_argument("--seconds", type=int, default=20, help="length of each measurement")
    parser.add_argument("--documents", type=int, default=100_000, help="documents to list and search")
    parser.add_argument("--listeners", type=int, default=1000, help="streams of events at once")
    parser.add_argument("--large-mb", type=int, default=2048, help="size of the large file")
    parser.add_argument("--rate", type=int, default=40, help="lists, searches or pages a second")
    parser.add_argument("--connections", type=int, default=32, help="that upload at once")
    parser.add_argument("--corpus", default=ROOT.parent / "shared/corpus/class", help="a folder of .txt posts")
    parser.add_argument("--keep", help="a data directory with the documents to read; made if it is not there, and kept")
    options = parser.parse_args()
    if not shutil.which("wrk"):
        raise SystemExit("wrk is not installed: `apt-get install wrk`")
    before = machine()
    parts = {"uploads": uploads, "reads": reads, "listeners": listeners, "large": large, "pages": pages}
    results = {}
    for name in options.parts.split(","):
        if name not in parts:
            raise SystemExit(f"`{name}` is not a part; there are: {', '.join(parts)}")
        print(f"{name} (load {os.getloadavg()[0]:.1f})", file=sys.stderr, flush=True)
        home = Path(tempfile.mkdtemp(prefix="docmill-bench-"))
        try:
            load = os.getloadavg()[0]
            results[name] = {**parts[name](options, home), "load_before": load, "load_after": os.getloadavg()[0]}
        finally:
            shutil.rmtree(home, ignore_errors=True)
    report(results, before)


class Server:
    """`docmill serve` on a port of its own."""

    def __init__(self, docmill, data):
        self.docmill, self.data = docmill, data
        command = [docmill, "--data", data, "--json", "serve", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        said = json.loads(self.process.stdout.readline())
        self.port = int(said["listen"].rsplit(":", 1)[1])
        self.address = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=120) as answer:
            return json.load(answer)

    def cpu_ms(self):
        """Of the server and its children, those that have ended too."""
        total = 0
        for pid in family(self.process.pid):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            total += sum(int(f) for f in fields[11:13])
            if pid == self.process.pid:
                total += sum(int(f) for f in fields[13:15])
        return total * 1000 / TICKS

    def wait_until_done(self):
        while True:
            status = self.get("/v1/status")
            if not status["ingestions"]["in_progress"]:
                return status
            time.sleep(0.5)

    def wrk(self, script, seconds, connections, *arguments):
        """What wrk measured."""
        with tempfile.NamedTemporaryFile() as out:
            command = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", HERE / script]
            command += [self.address, "--", *(str(a) for a in arguments)]
            began = self.cpu_ms()
            environment = {**os.environ, "WRK_RESULTS": out.name}
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)
            cpu = self.cpu_ms() - began
            measured = json.loads(Path(out.name).read_text())
        return {**measured, "connections": connections, "server_cpu_s": cpu / 1000}


def uploads(options, home):
    """Distinct texts of 1 kB, a request each; then the server is killed, and what it answered must be there."""
    with Server(options.docmill, home / "data") as server:
        memory = MemoryOfTree(server.process.pid)
        memory.start()
        found = server.wrk("uploads.lua", options.seconds, options.connections, "a", 1000, 0)
        memory.stop()
        server.process.kill()
        server.process.wait()
    with Server(options.docmill, home / "data") as server:
        stored = server.get("/v1/status")["documents"]
        began = time.monotonic()
        server.wait_until_done()
        left_s = time.monotonic() - began
        balanced = server.get("/v1/ledger")["balanced"]
    if stored < found["accepted"] or not balanced:
        raise SystemExit(f"{found['accepted']} uploads were answered with 202, {stored} are there, balanced: {balanced}")
    with Server(options.docmill, home / "paced") as server:
        # Thirty senders, each once in 300 ms.
        paced = server.wrk("uploads.lua", options.seconds, 30, "b", 1000, 300)
    return {
        "per_s": found["accepted"] / found["seconds"],
        "cpu_ms_per_upload": found["server_cpu_s"] * 1000 / max(found["accepted"], 1),
        "stored_after_kill": stored,
        "seconds_to_finish_the_rest": left_s,
        "peak_rss_sum_mb": memory.peak_rss / 1e6,
        "flat_out": found,
        "at_100_per_s": paced,
    }


def reads(options, home):
    """Pages of the list from everywhere, filters, and searches for words that stand in the texts."""
    data = Path(options.keep) if options.keep else home / "data"
    if not data.exists():
        texts.write(options.corpus, home / "in", options.documents)
        subprocess.run([options.docmill, "--data", data, "-q", "ingest", home / "in"], check=True)
        shutil.rmtree(home / "in")
    draw = random.Random(1)
    with Server(options.docmill, data) as server:
        documents = server.get("/v1/status")["documents"]
        cursors, cursor = [""], ""
        while cursor is not None and len(cursors) < 200:
            page = server.get(f"/v1/documents?limit=1000{cursor and '&cursor=' + cursor}")
            cursor = page["next_cursor"]
            # From the middle of the page too, so that pages begin anywhere.
            cursors += [page["documents"][n]["document_id"] for n in (17, 500) if n < len(page["documents"])]
        words = vocabulary(options.corpus, draw)
        listed = [f"/v1/documents?limit=50{c and '&cursor=' + c}" for c in cursors]
        groups = {
            "list": listed,
            "list_filtered": [
                f"/v1/documents?limit=50&{f}"
                for f in ("state=ready", "state=failed", "state=unsupported", "state=processing", "type=text/plain",
                          "type=application/pdf", "type=image/*")
            ],
            "list_found": [f"/v1/documents?limit=50&q={q}" for q in words["one"][:200]],
            "search_rare": [f"/v1/search?q={q}" for q in words["rare"]],
            "search_one": [f"/v1/search?q={q}" for q in words["one"]],
            "search_two": [f"/v1/search?q={q}" for q in words["two"]],
            "search_phrase": [f"/v1/search?q={q}" for q in words["phrase"]],
            "status": ["/v1/status"],
        }
        groups["search"] = [p for key in ("search_rare", "search_one", "search_two", "search_phrase") for p in groups[key]]
        draw.shuffle(groups["search"])
        measured = {}
        for name, paths in groups.items():
            file = home / f"{name}.txt"
            file.write_text("\n".join(paths) + "\n")
            server.wrk("reads.lua", 2, 8, file, 0)  # once, so that the first in the table is not the coldest
            found = server.wrk("reads.lua", options.seconds, 8, file, 8000 // options.rate)
            found["cpu_ms_per_answer"] = found["server_cpu_s"] * 1000 / max(found["answers"], 1)
            if found["refused"] or found["broken"]:
                raise SystemExit(f"{name}: {found}")
            measured[name] = found
        flat_out = {
            name: server.wrk("reads.lua", options.seconds, 8, home / f"{name}.txt", 0) for name in ("list", "search")
        }
    return {"documents": documents, "at_rate": measured, "flat_out": flat_out}


def vocabulary(corpus, draw):
    """Queries out of what was written: common words, rare ones, two words, phrases."""
    pool = texts.paragraphs(corpus)
    counts = {}
    for paragraph in pool:
        for word in set(re.findall(r"[a-z]{4,12}", paragraph.lower())):
            counts[word] = counts.get(word, 0) + 1
    by_count = sorted(counts, key=lambda word: (-counts[word], word))
    common, rare = by_count[:2000], [word for word in by_count if counts[word] <= 2]
    pairs = []
    while len(pairs) < 500:
        found = re.findall(r"[a-z]{4,12} [a-z]{4,12}", draw.choice(pool).lower())
        pairs += [draw.choice(found)] if found else []
    quoted = urllib.parse.quote_plus
    return {
        "one": [quoted(word) for word in draw.sample(common, min(500, len(common)))],
        "rare": [quoted(word) for word in draw.sample(rare, min(500, len(rare)))],
        "two": [quoted(pair) for pair in pairs],
        "phrase": [quoted(f'"{pair}"') for pair in pairs],
    }


def listeners(options, home):
    """Everybody listens while texts are uploaded; each must hear every number once, in order."""
    with Server(options.docmill, home / "data") as server:
        memory = MemoryOfTree(server.process.pid)
        memory.start()
        listening = Listeners(server.port, options.listeners, server.get("/v1/status")["last_event"])
        listening.start()
        if not listening.ready.wait(60) or listening.wrong:
            raise SystemExit(f"{listening.open} of {options.listeners} listen: {listening.wrong[:3]}")
        cpu = server.cpu_ms()
        began = time.monotonic()
        found = server.wrk("uploads.lua", max(options.seconds // 2, 1), 10, "c", 500, 250)
        status = server.wait_until_done()
        listening.last = status["last_event"]
        listening.join(300)
        seconds = time.monotonic() - began
        cpu = server.cpu_ms() - cpu
        memory.stop()
        if listening.is_alive():
            raise SystemExit(f"after {seconds:.0f} s not everybody has heard event {listening.last}")
    events = listening.last - listening.after
    return {
        "listeners": options.listeners,
        "documents": found["accepted"],
        "events": events,
        "heard": listening.heard,
        "lost": options.listeners * events - listening.heard,
        "wrong": listening.wrong[:5],
        "seconds": seconds,
        "server_cpu_s": cpu / 1000,
        "sent_mb": listening.bytes / 1e6,
        "peak_rss_sum_mb": memory.peak_rss / 1e6,
    }


def large(options, home):
    """One large file of noise by curl, and the memory of all processes until it is done."""
    file = home / "large.bin"
    noise = random.Random(1).randbytes(1 << 20)
    with file.open("wb") as out:
        for number in range(options.large_mb):
            out.write(number.to_bytes(8, "big") + noise[8:])
    os.sync()
    with Server(options.docmill, home / "data") as server:
        memory = MemoryOfTree(server.process.pid)
        memory.start()
        began = time.monotonic()
        command = ["curl", "-sS", "--fail-with-body", "-F", f"file=@{file}", server.address + "/v1/documents"]
        answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        seconds = time.monotonic() - began
        server.wait_until_done()
        memory.stop()
        shown = server.get(f"/v1/documents/{json.loads(answer)['document_id']}")
    if shown["bytes"] != file.stat().st_size:
        raise SystemExit(f"{shown['bytes']} bytes are there of {file.stat().st_size}")
    return {
        "bytes": shown["bytes"],
        "state": shown["state"],
        "seconds": seconds,
        "mb_per_s": shown["bytes"] / 1e6 / seconds,
        "peak_pss_mb": memory.peak_pss / 1e6 if memory.pss_complete else None,
        "peak_rss_sum_mb": memory.peak_rss / 1e6,
    }


def pages(options, home):
    """Images of the pages of a PDF file, each asked for again and again."""
    with Server(options.docmill, home / "data") as server:
        routes = server.get("/openapi.json")["paths"]
        if not any(re.search(r"/pages/\{[a-z]+\}(\.png)?$", path) for path in routes):
            print("  this binary has no route for page images", file=sys.stderr)
            return {"measured": False}
        file = home / "pages.pdf"
        file.write_bytes(pdf(40))
        command = ["curl", "-sS", "--fail-with-body", "-F", f"file=@{file}", server.address + "/v1/documents?mode=sync"]
        shown = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        paths = home / "paths.txt"
        paths.write_text("".join(f"/v1/documents/{shown['document_id']}/pages/{n}.png\n" for n in range(1, 41)))
        first = server.wrk("reads.lua", 2, 2, paths, 100)
        found = server.wrk("reads.lua", options.seconds, 8, paths, 8000 // options.rate)
    return {"measured": True, "first": first, "at_rate": found}


def pdf(count):
    """A PDF file of text pages, by hand."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", None, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for number in range(1, count + 1):
        lines = "".join(f"(Page {number}, line {n}: the heron stands in the water and waits.) Tj T*\n" for n in range(45))
        stream = f"BT /F1 11 Tf 15 TL 60 780 Td\n{lines}ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {count} >>"
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table_at = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(f"{at:010} 00000 n \n" for at in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table_at}\n%%EOF\n"
    return out.encode()


def report(results, before):
    rows = []

    def row(what, value, unit, bar=None):
        if bar is None:
            return rows.append([what, f"{value:,.1f} {unit}", "", ""])
        sign, limit = BARS[bar]
        holds = {">=": value >= limit, "<=": value <= limit, "<": value < limit}[sign]
        rows.append([what, f"{value:,.1f} {unit}", f"{sign} {limit}", "yes" if holds else "NO"])

    if found := results.get("uploads"):
        row("durable uploads", found["per_s"], "/s", "uploads_per_s")
        row("CPU per upload with its processing", found["cpu_ms_per_upload"], "ms")
        row("upload at 100/s, p99", found["at_100_per_s"]["p99_ms"], "ms")
    if found := results.get("reads"):
        for name, one in found["at_rate"].items():
            bar = {"list": "list_p99_ms", "search": "search_p99_ms"}.get(name)
            row(f"{name}, p99", one["p99_ms"], "ms", bar)
        for name, one in found["flat_out"].items():
            row(f"{name}, as fast as it goes", one["answers"] / one["seconds"], "/s")
    if found := results.get("listeners"):
        row(f"events lost by {found['listeners']:,} listeners", found["lost"], f"of {found['heard']:,}", "listeners_lost")
        row("CPU for them", found["server_cpu_s"], "s")
    if found := results.get("large"):
        peak = found["peak_pss_mb"] if found["peak_pss_mb"] is not None else found["peak_rss_sum_mb"]
        row(f"memory with a file of {found['bytes'] / 1e6:,.0f} MB", peak, "MB", "large_peak_pss_mb")
        row("its upload", found["mb_per_s"], "MB/s")
    if (found := results.get("pages")) and found["measured"]:
        row("page image, p99", found["at_rate"]["p99_ms"], "ms", "page_p99_ms")
    print()
    table(["measure", "value", "bar", "holds"], rows)
    write_results("http", {"machine": before, "bars": {k: " ".join(map(str, v)) for k, v in BARS.items()}, **results})


if __name__ == "__main__":
    main()
