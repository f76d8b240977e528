"""N distinct small texts, from the command to text-searchable, on a fresh data directory.

`docmill ingest` answers only when the text index holds everything, so its running time is the whole way. Memory is
the peak of all docmill processes together. Afterwards the ledger must balance and a search must find a text.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measure import ROOT, MemoryOfTree, machine, table, write_results  # noqa: E402

import texts  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docmill", required=True, help="the release binary")
    parser.add_argument("--counts", default="1000,10000,100000", help="how many texts, comma-separated")
    parser.add_argument("--rounds", type=int, default=1, help="repeats of each count; the median counts")
    parser.add_argument("--corpus", default=ROOT.parent / "shared/corpus/class", help="a folder of .txt posts")
    options = parser.parse_args()
    if not Path(options.corpus).is_dir():
        raise SystemExit(f"no corpus at {options.corpus}; name a folder of .txt posts with --corpus")

    before = machine()
    counts = [int(count) for count in options.counts.split(",")]
    runs = []
    for _ in range(options.rounds):
        for count in counts:
            print(f"{count:,} texts", file=sys.stderr, flush=True)
            runs.append(measure(options.docmill, options.corpus, count))
    report(counts, runs, before)


def measure(docmill, corpus, count):
    home = Path(tempfile.mkdtemp(prefix="docmill-bench-"))
    try:
        total, (sample_path, sample) = texts.write(corpus, home / "in", count)
        # The files were just written; their write-back must not be charged to docmill.
        os.sync()
        began = time.monotonic()
        command = [docmill, "--data", home / "data", "--json", "ingest", home / "in"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        memory = MemoryOfTree(process.pid)
        memory.start()
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed = time.monotonic() - began
        memory.stop()
        if process.returncode:
            raise SystemExit(f"ingest ended with exit code {process.returncode}")
        answer = json.loads(printed.splitlines()[-1])
        check(docmill, home / "data", answer, count, sample_path, sample)
        return {
            "texts": count,
            "text_bytes": total,
            "elapsed_s": elapsed,
            "docs_per_s": count / elapsed,
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "cpu_ms_per_doc": (usage.ru_utime + usage.ru_stime) * 1000 / count,
            "peak_pss_mb": memory.peak_pss / 1e6 if memory.pss_complete else None,
            "peak_rss_sum_mb": memory.peak_rss / 1e6,
            "processes": memory.peak_processes,
            "data_mb": size_of(home / "data") / 1e6,
        }
    finally:
        shutil.rmtree(home, ignore_errors=True)


def check(docmill, data, answer, count, sample_path, sample):
    """A fast wrong answer is no answer."""
    wanted = {"received": count, "completed": count, "failed": 0, "skipped": 0, "open": 0, "duplicates": 0}
    wrong = {key: answer.get(key) for key, value in wanted.items() if answer.get(key) != value}
    if wrong:
        raise SystemExit(f"ingest of {count} texts answered {wrong}")
    audit = ask(docmill, data, "audit")
    if not audit["balanced"] or audit["expected"] != count or audit["completed"] != count:
        raise SystemExit(f"the ledger of {count} texts says {audit}")
    unread = [d["name"] for d in ask(docmill, data, "list", "--state", "unsupported", "--limit", "5")["documents"]]
    if unread:
        raise SystemExit(f"texts without a reader: {unread}")
    # The longest words of a text are rare enough to lead back to it.
    words = sorted(set(re.findall(r"[A-Za-z]{4,}", sample)), key=lambda w: (-len(w), w))[:8]
    found = ask(docmill, data, "search", "--limit", "50", "--", " ".join(words))
    if sample_path.name not in [hit["name"] for hit in found["hits"]]:
        raise SystemExit(f"search for {words} does not find {sample_path.name}")


def ask(docmill, data, *arguments):
    command = [docmill, "--data", data, "--json", *arguments]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def size_of(folder):
    return sum(p.lstat().st_blocks * 512 for p in Path(folder).rglob("*") if p.is_file())


def report(counts, runs, before):
    median = {}
    for count in counts:
        same = sorted((r for r in runs if r["texts"] == count), key=lambda r: r["docs_per_s"])
        median[count] = same[len(same) // 2]
    print()
    table(
        ["texts", "docs/s", "seconds", "CPU ms/doc", "peak PSS MB", "sum of RSS MB", "processes", "data MB"],
        [
            [
                f"{count:,}",
                f"{m['docs_per_s']:,.0f}",
                f"{m['elapsed_s']:.1f}",
                f"{m['cpu_ms_per_doc']:.2f}",
                "hidden" if m["peak_pss_mb"] is None else f"{m['peak_pss_mb']:.0f}",
                f"{m['peak_rss_sum_mb']:.0f}",
                m["processes"],
                f"{m['data_mb']:.0f}",
            ]
            for count, m in median.items()
        ],
    )
    growth = None
    if len(counts) > 1:
        small, large = median[min(counts[1:])] if len(counts) > 2 else median[min(counts)], median[max(counts)]
        growth = (large["elapsed_s"] / small["elapsed_s"]) / (large["texts"] / small["texts"])
        print(f"\nfrom {small['texts']:,} to {large['texts']:,} texts the time grows {growth:.2f} times as fast as the count")
    write_results(
        "ingest",
        {
            "machine": before,
            "wanted": {"docs_per_s_at_10000": ">= 500", "peak_mb_at_10000": "<= 300"},
            "growth": growth,
            "runs": runs,
        },
    )


if __name__ == "__main__":
    main()
