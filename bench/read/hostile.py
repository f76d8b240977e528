#!/usr/bin/env python3
"""Does anything that a hostile file can do reach further than its own document?

    bench/read/hostile.py [--shared DIR] [--docmill FILE] [--through ingest|serve] [--write]

Brings all files of `hostile/` in as one batch: by `docmill ingest` alone, and by `docmill ingest` as the guest of a
`docmill serve` that is running. Working directory and folder for temporary files are empty folders that are watched:
whatever lies there afterwards was written outside the data directory. The longest silence is the longest time between two
events of the batch. Expected: the server lives, the ledger balances, no item is open, nothing is left behind.
"""

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
from measure import ROOT, commit, family, machine, table  # noqa: E402
from tools import release  # noqa: E402

MOST_SILENCE_S = 90
RESULTS = ROOT / "bench" / "results" / "read_hostile.json"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder with `hostile/`")
    parser.add_argument("--docmill", type=Path, help="a build of docmill; a release build is made if it is not given")
    parser.add_argument("--through", nargs="*", default=["ingest", "serve"], choices=["ingest", "serve"])
    parser.add_argument("--write", action="store_true", help="write the results")
    options = parser.parse_args()
    before = machine()
    docmill = release(options.docmill)
    results = {}
    for through in options.through:
        with tempfile.TemporaryDirectory(prefix="docmill-hostile-") as folder:
            results[through] = once(docmill, Path(folder), options.shared.resolve() / "hostile", through)
        print(through, json.dumps(results[through], indent=2), flush=True)
    table(
        ["through", "items", "seconds", "longest silence, s", "faults"],
        [(k, r["expected"], r["wall_s"], r["longest_silence_s"], "; ".join(r["faults"]) or "none") for k, r in results.items()],
    )
    if options.write:
        document = {
            "made_by": "bench/read/hostile.py --write",
            "made_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "commit": commit(),
            "machine": before,
            "runs": results,
        }
        RESULTS.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        print(f"\nwritten to {RESULTS.relative_to(ROOT)}")
    if any(run["faults"] for run in results.values()):
        sys.exit("not as expected")


def once(docmill, folder, hostile, through):
    data, work, temporary = folder / "data", folder / "work", folder / "tmp"
    for one in (data, work, temporary):
        one.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "HOME": str(work), "DOCMILL_DATA": str(data)}
    given = {"cwd": work, "env": environment, "stdin": subprocess.DEVNULL}
    seen = {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in hostile.rglob("*") if path.is_file()}
    faults, server = [], None
    if through == "serve":
        environment["DOCMILL_LISTEN"] = "127.0.0.1:0"
        server = subprocess.Popen([docmill, "serve"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **given)
        for _ in range(600):
            if subprocess.run([docmill, "--json", "status"], capture_output=True, check=False, **given).returncode == 0:
                break
            time.sleep(0.1)
    begin = time.monotonic()
    ingest = subprocess.run([docmill, "--json", "ingest", "--batch", "hostile", hostile], capture_output=True, check=False, **given)
    wall = time.monotonic() - begin
    if ingest.returncode not in (0, 7):
        faults.append(f"ingest ends with {ingest.returncode}: {ingest.stderr.decode()[-300:]}")
    if server and server.poll() is not None:
        faults.append(f"the server died with {server.returncode}")
    audit = subprocess.run([docmill, "--json", "audit"], capture_output=True, check=False, **given)
    account = json.loads(audit.stdout or b"{}")
    ledger = account.get("ledger", account)
    # The code is 7 for items that failed too; the balance is what counts here.
    if not account.get("balanced", ledger.get("balanced", audit.returncode == 0)):
        faults.append(f"the ledger does not balance: {ledger}")
    if ledger.get("open", 0):
        faults.append(f"{ledger['open']} items are open")
    events = subprocess.run([docmill, "--json", "events"], capture_output=True, check=True, **given).stdout.splitlines()
    times = sorted(
        datetime.datetime.fromisoformat(json.loads(line)["time"]).timestamp() for line in events if line.strip()
    )
    silence = max((b - a for a, b in zip(times, times[1:])), default=0.0)
    if silence > MOST_SILENCE_S:
        faults.append(f"nothing happened for {silence:.0f} s")
    processes = set(family(os.getpid())) - {os.getpid()} - ({server.pid} if server else set())
    if server:
        processes -= set(family(server.pid))
        server.send_signal(signal.SIGTERM)
        if server.wait(timeout=120) != 0:
            faults.append(f"the server ended with {server.returncode}")
    if processes:
        faults.append(f"processes are left: {sorted(processes)}")
    left = [str(p.relative_to(folder)) for top in (work, temporary) for p in top.rglob("*")]
    if left:
        faults.append(f"written outside the data directory: {left[:5]}")
    now = {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in hostile.rglob("*") if path.is_file()}
    if now != seen:
        faults.append("the originals have changed")
    return {
        "files": len(seen),
        **{k: v for k, v in ledger.items() if isinstance(v, (int, bool))},
        "expected": ledger.get("expected"),
        "audit_exit": audit.returncode,
        "ingest_exit": ingest.returncode,
        "wall_s": round(wall, 1),
        "longest_silence_s": round(silence, 1),
        "events": dict(Counter(json.loads(line)["type"] for line in events if line.strip()).most_common()),
        "faults": faults,
    }


if __name__ == "__main__":
    main()
