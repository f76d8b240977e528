"""Moves a data directory to PostgreSQL and S3 and back, kills each move twice, and compares what arrives.

Takes in so many texts, some of them in boxes within boxes, in a fresh data directory; moves everything to a database and
a bucket; moves it back into another directory. Each move is killed twice (SIGKILL), in the middle of its blobs and in the
middle of its rows, and gone on with by the same command. That needs a binary with the feature `crash-points`. Both ledgers, every row and every blob of both directories must be the same in the end, or this fails.
"""

import argparse
import hashlib
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measure import ROOT, machine, table, write_results  # noqa: E402

IN_A_BOX = 60
BUCKET = "docmill-test"

# Rows are moved in chunks of some thousand; by then several tables are over.
KILLED_CHUNK = 12


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docmill", required=True, help="the binary")
    parser.add_argument("--documents", type=int, default=10_000)
    options = parser.parse_args()
    if "DOCMILL_TEST_POSTGRES" not in os.environ or "DOCMILL_TEST_S3" not in os.environ:
        # The servers live as long as the command that they are started for.
        with_servers = ROOT / ".ci/with-servers"
        os.execv(with_servers, [str(with_servers), sys.executable, *sys.argv])
    before = machine()
    home = Path(tempfile.mkdtemp(prefix="docmill-bench-"))
    try:
        runs = move(Mill(options.docmill, home, options.documents))
    finally:
        shutil.rmtree(home, ignore_errors=True)
    table(
        ["move", "seconds after the kills", "rows", "blobs copied"],
        [[r["move"], f"{r['seconds']:.1f}", r["rows"], r["blobs"]["copied"]] for r in runs["moves"]],
    )
    made_by = ["cargo xtask bench migrate", "--documents", str(options.documents)]
    if Path(options.docmill).parent.name != "release":
        made_by = ["python3 bench/migrate/run.py --docmill target/debug/docmill", *made_by[1:]]
    write_results("migrate", {"made_by": " ".join(made_by), "machine": before, **runs})


def move(mill):
    fill(mill.home / "in", mill.documents)
    here, back = mill.at("here"), mill.at("back")
    print(f"taking in {mill.documents} documents", flush=True)
    mill.run(here, "ingest", "in", "--batch", "pile", "-q")
    there = {
        "DOCMILL_STORE_URL": os.environ["DOCMILL_TEST_POSTGRES"],
        "DOCMILL_BLOBS_URL": f"s3://{BUCKET}/migrate-{os.getpid()}",
        "DOCMILL_BLOBS_ENDPOINT": os.environ["DOCMILL_TEST_S3"],
    }
    to_server = ["--to-store", there["DOCMILL_STORE_URL"], "--to-blobs", there["DOCMILL_BLOBS_URL"]]
    # Where the blobs go is a setting of the source too: its own lie in its data directory.
    endpoint = {"DOCMILL_BLOBS_ENDPOINT": there["DOCMILL_BLOBS_ENDPOINT"]}
    moves = [
        moved(mill, "to PostgreSQL and S3", {**here, **endpoint}, to_server),
        moved(mill, "back to SQLite and files", {**here, **there}, ["--to-data", back["DOCMILL_DATA"]]),
    ]
    ledgers = [json.loads(mill.run(place, "audit", "--json")) for place in (here, {**here, **there}, back)]
    same("ledgers", [{k: v for k, v in ledger.items() if k != "took_ms"} for ledger in ledgers])
    assert ledgers[0]["balanced"], ledgers[0]
    same("states", [m["state"] for m in moves])
    same("rows", [rows(place) for place in (here, back)])
    # What was still on its way when it was killed lies beside these.
    same("blobs", [blobs(place) for place in (here, back)])
    count = ledgers[0]["expected"]
    return {"documents": count, "ledgers_equal": True, "rows_equal": True, "hashes_equal": True, "moves": moves}


def moved(mill, name, source, target):
    """Starts a move, kills it twice while it copies, and lets it end."""
    killed = [
        killed_at(mill, name, source, target, f"migrate.blob.after:{mill.documents // 2}"),
        killed_at(mill, name, source, target, f"migrate.chunk.after_commit:{KILLED_CHUNK}"),
    ]
    print(f"moving {name}, after two kills", flush=True)
    began = time.monotonic()
    answer = json.loads(mill.run(source, "migrate", "--json", *target))
    if not answer["resumed"] or not answer["balanced"] or answer["blobs"]["missing"] or answer["blobs"]["damaged"]:
        sys.exit(f"the move {name} did not go on well: {answer}")
    return {
        "move": name,
        "seconds": time.monotonic() - began,
        "killed_at": killed,
        "state": answer["state"],
        "rows": answer["rows"],
        "blobs": answer["blobs"],
    }


def killed_at(mill, name, source, target, point):
    """Lets a move kill itself where it passes a crash point for the n-th time, and returns where that was."""
    process = mill.start({**source, "DOCMILL_CRASH_AT": point}, "migrate", *target, stdout=subprocess.DEVNULL)
    if process.wait() != -signal.SIGKILL:
        sys.exit(f"the move {name} did not die at {point}: it needs a binary with `--features crash-points`")
    print(f"killed the move {name} at {point}", flush=True)
    return point


class Mill:
    def __init__(self, docmill, home, documents):
        self.docmill, self.home, self.documents = docmill, home, documents

    def at(self, name):
        return {"DOCMILL_DATA": str(self.home / name)}

    def start(self, settings, *args, **more):
        ours = {k: v for k, v in os.environ.items() if not k.startswith("DOCMILL_")}
        return subprocess.Popen([self.docmill, *args], cwd=self.home, env={**ours, **settings}, **more)

    def run(self, settings, *args):
        process = self.start(settings, *args, stdout=subprocess.PIPE, text=True)
        out = process.communicate()[0]
        if process.returncode != 0:
            sys.exit(f"`docmill {' '.join(args)}` ended with {process.returncode}")
        return out


def fill(folder, documents):
    """A third of the texts in boxes, each with a box inside; the rest beside them."""
    boxes = max(1, documents // 3 // IN_A_BOX)
    for n in range(documents - boxes * (IN_A_BOX + 2)):
        path = folder / str(n % 50) / f"{n}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"letter {n} tells of harbours {'far away ' * (n % 50)}")
    for b in range(boxes):
        member = [(f"m/{n}.txt", f"member {n} of box {b} {'lies there ' * n}") for n in range(IN_A_BOX)]
        inner = packed(member[: IN_A_BOX // 2])
        (folder / f"box-{b}.zip").write_bytes(packed([("inner.zip", inner), *member[IN_A_BOX // 2 :]]))


def packed(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as box:
        for name, content in members:
            box.writestr(name, content)
    return out.getvalue()


def rows(place):
    """The hash of every row of each table, told without knowing what they mean."""
    database = sqlite3.connect(Path(place["DOCMILL_DATA"]) / "docmill.db")
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")]
    hashed = {}
    for name in tables:
        lines = sorted(repr(row) for row in database.execute(f"SELECT * FROM {name}"))
        hashed[name] = (len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest())
    return hashed


def blobs(place):
    """The hash of every blob by its key."""
    root = Path(place["DOCMILL_DATA"]) / "blobs"
    files = [path for folder in ("documents", "ingestions") for path in (root / folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def same(what, found):
    for other in found[1:]:
        if other != found[0]:
            differ = [k for k in {**found[0], **other} if found[0].get(k) != other.get(k)] if isinstance(other, dict) else other
            sys.exit(f"the {what} differ: {str(differ)[:2000]}")


if __name__ == "__main__":
    main()
