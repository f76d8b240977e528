"""One file that breaks its reader among many that do not: how much later are the others done?

Ingests the same texts in turns without such a file and with one that loops for ever, eats all memory, overflows its
stack or crashes, and compares the moment at which the last of the innocent ones was completed. The misbehaving format
is built in by the feature `probe` alone, so this bench needs a binary of its own.

The data lies in memory where the machine allows it: a disk's flushes take two to five times as long in one second as in
the next, which hides what is measured. It makes the target harder, because the undisturbed run is the shorter one.
"""

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / "ingest")]
from measure import ROOT, machine, table, write_results  # noqa: E402

import texts  # noqa: E402

DEEDS = ["none", "loop", "oom", "stack", "segfault"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docmill", required=True, help="the release binary, built with the feature `probe`")
    parser.add_argument("--count", type=int, default=1000, help="files, the misbehaving one among them")
    parser.add_argument("--rounds", type=int, default=15)
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    parser.add_argument("--scratch", default=in_memory, help="where texts and data lie during the run")
    parser.add_argument("--deeds", default=",".join(DEEDS))
    parser.add_argument("--corpus", default=ROOT.parent / "shared/corpus/class", help="a folder of .txt posts")
    options = parser.parse_args()
    before = machine()
    deeds = options.deeds.split(",")
    home = Path(tempfile.mkdtemp(prefix="docmill-bench-", dir=options.scratch))
    try:
        texts.write(options.corpus, home / "in", options.count)
        taken = {deed: [] for deed in deeds}
        for number in range(1, options.rounds + 1):
            for deed in deeds:
                print(f"round {number}: {deed}", file=sys.stderr, flush=True)
                taken[deed].append(measure(options.docmill, home, deed, options.count))
    finally:
        shutil.rmtree(home, ignore_errors=True)
    report(taken, options, before)


def measure(docmill, home, deed, count):
    """Milliseconds from the first claim to the end of the last innocent text."""
    victim = sorted((home / "in").rglob("*.txt"))[count // 2]
    original = victim.read_bytes()
    if deed != "none":
        victim.write_text(f"DOCMILL-PROBE:{deed}\n")
    os.sync()
    data = home / "data"
    environment = dict(os.environ, DOCMILL_SANDBOX_CPU_WITHOUT_PROGRESS="2s", DOCMILL_LOG="off")
    try:
        command = [docmill, "--data", data, "--json", "ingest", home / "in"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        answer = json.loads(done.stdout.splitlines()[-1])
        if answer["received"] != count or answer["open"] or answer["dead"] != (deed != "none"):
            raise SystemExit(f"with `{deed}`: {answer}")
        store = sqlite3.connect(data / "docmill.db")
        (took,) = store.execute(
            "SELECT (SELECT max(completed_at) FROM ingestion WHERE name <> ?) - min(started_at) FROM batch", [victim.name]
        ).fetchone()
        store.close()
        return took
    finally:
        victim.write_bytes(original)
        shutil.rmtree(data, ignore_errors=True)


def report(taken, options, before):
    median = {deed: statistics.median(values) for deed, values in taken.items()}
    alone = median["none"]
    rows = [
        [deed, f"{median[deed]:.0f}", " ".join(f"{v:.0f}" for v in values), "" if deed == "none" else f"{median[deed] / alone - 1:+.1%}"]
        for deed, values in taken.items()
    ]
    print()
    table([f"of {options.count:,} texts, one does", "others done after ms", "each round", "later (wanted < 5 %)"], rows)
    write_results("poison", {"machine": before, "median_ms": median, "rounds_ms": taken})


if __name__ == "__main__":
    main()
