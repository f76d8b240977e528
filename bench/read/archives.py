#!/usr/bin/env python3
"""How fast are archives unpacked, in bytes that come out per second of CPU?

    bench/read/archives.py [--shared DIR] [--docmill FILE] [--rounds N] [--write]

The archives are made the same way every time: posts of the corpus recombined by a fixed seed, and the corpus' own office
files, PDF files, mails and pictures, which hardly shrink. Each is unpacked through the pool of readers by one sandboxed child, as in
production, and every byte goes back to the parent, which counts and drops it. What is divided by is the CPU time of
parent and child together, start and end included; the best round counts. `7z` archives are made by py7zr (LZMA2, one
solid block, as 7-Zip does by default), `zip` archives by Python (deflate, level 6).

Then `corpus/archive` is read: for every archive the members that come out and those that are refused with a reason are
counted.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "ingest")]
import texts  # noqa: E402
from measure import ROOT, machine, table, write_reading  # noqa: E402
from tools import release, with_packages  # noqa: E402

BARS = {"zip": 140.0, "7z": 50.0}
POSTS = 30_000
LARGEST = 4 << 20

with_packages("archives", "py7zr")
import py7zr  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder with the corpus")
    parser.add_argument("--docmill", type=Path, help="a release build of docmill; built if it is not given")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write the results and the table in docs/quality.md")
    options = parser.parse_args()
    before = machine()
    docmill = release(options.docmill)
    with tempfile.TemporaryDirectory(prefix="docmill-archives-") as folder:
        archives = make(Path(folder), options.shared)
        results = {kind: measure(docmill, path, options.rounds) for kind, path in archives.items()}
    results = {"machine": before, "made_of": f"{POSTS} posts and the files of the corpus", "speed": results}
    results["corpus"] = corpus(docmill, options.shared)
    report(results)
    if options.write:
        write_reading("archives", "bench/read/archives.py --write", results, markdown(results))
    slow = [kind for kind, bar in BARS.items() if results["speed"][kind]["mb_per_cpu_s"] < bar]
    if slow:
        sys.exit(f"under the bar: {', '.join(slow)}")


def make(folder, shared):
    """Two archives of the same files."""
    files = folder / "files"
    texts.write(shared / "corpus" / "class", files, POSTS)
    found = [p for p in sorted((shared / "corpus").rglob("*")) if p.is_file() and p.stat().st_size <= LARGEST]
    members = [(p, str(p.relative_to(files))) for p in sorted(files.rglob("*.txt"))]
    members += [(p, f"corpus/{p.relative_to(shared / 'corpus')}") for p in found if "class" not in p.parts]
    archives = {"zip": folder / "all.zip", "7z": folder / "all.7z"}
    with zipfile.ZipFile(archives["zip"], "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path, name in members:
            archive.write(path, name)
    filters = [{"id": py7zr.FILTER_LZMA2, "preset": 5}]
    with py7zr.SevenZipFile(archives["7z"], "w", filters=filters) as archive:
        for path, name in members:
            archive.write(path, name)
    return archives


def run(docmill, path):
    """What came out, and the CPU time of parent and child."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([docmill, "--json", "bench", "unpack", path], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
        said = process.stderr.read().decode("utf-8", "replace")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        answer = json.loads(out.read() or b"{}")
    return {**answer, "exit": process.returncode, "said": said.strip()[-200:]}, used.ru_utime + used.ru_stime


def measure(docmill, path, rounds):
    taken = [run(docmill, path) for _ in range(rounds)]
    answer, cpu = min(taken, key=lambda one: one[1])
    if answer["exit"] or answer["refused"] or "error" in answer:
        sys.exit(f"{path.name}: {answer}")
    return {
        "packed_mb": round(answer["packed_bytes"] / 1e6, 1),
        "unpacked_mb": round(answer["bytes"] / 1e6, 1),
        "members": answer["members"],
        "cpu_s": round(cpu, 3),
        "mb_per_cpu_s": round(answer["bytes"] / 1e6 / cpu, 1),
    }


def corpus(docmill, shared):
    """How every archive of the corpus ends."""
    ends = {}
    for path in sorted((shared / "corpus/archive").rglob("*")):
        if path.is_file():
            answer, _ = run(docmill, path)
            kept = ("members", "refused", "error")
            ends[path.name] = {k: answer[k] for k in kept if k in answer} or {"error": answer["said"] or "died"}
    return ends


def report(results):
    table(["archive", *next(iter(results["speed"].values()))], [(k, *v.values()) for k, v in results["speed"].items()])
    for name, end in results["corpus"].items():
        print(name, end)


def markdown(results):
    yield "| archive | packed | unpacked | members | per second of CPU | bar |"
    yield "|---|---|---|---|---|---|"
    for kind, one in results["speed"].items():
        yield (
            f"| {kind} | {one['packed_mb']} MB | {one['unpacked_mb']} MB | {one['members']} "
            f"| {one['mb_per_cpu_s']} MB | {BARS[kind]:.0f} MB |"
        )


if __name__ == "__main__":
    main()
