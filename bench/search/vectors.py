"""How well and how fast the embedded indexes answer among 10,000 and 100,000 passages and texts.

    bench/search/vectors.py --docmill PROGRAM --models DIR --write

The vectors are real: they are computed once, by `docmill ingest` of paragraphs that people wrote, and kept in `--cache`,
outside the checkout; DIR is a data directory in which `docmill models pull` has run. The paragraphs are those of the shared
texts, and what is missing is taken from the documentation inside the crates that docmill is built from, which lie on every
machine that has built it. `crates/backends/examples/vectors.rs` measures; it fills up what is still missing, and says so.
Questions are real vectors that are not in the index.
"""

import argparse
import itertools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measure import ROOT, machine, table, write_quality, write_results  # noqa: E402

SHARED = ["retrieval/cranfield/corpus.jsonl", "class/**/*.txt", "tags/**/*.txt"]
CRATES = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "registry/src"
# Fewer words say little; more are cut, so that each is one passage.
WORDS = range(10, 61)
# The measurer keeps every eighth vector as a question.
QUESTIONS = 8 / 7
BARS = {"recall_at_10": 0.97, "p50_ms": 5.0, "p99_ms": 25.0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docmill", help="the release binary; only needed while there are no vectors yet")
    parser.add_argument("--models", help="a data directory whose models are used")
    parser.add_argument("--shared", default=ROOT.parent / "shared", type=Path, help="where the texts are")
    parser.add_argument("--cache", default=Path.home() / ".cache/docmill-bench/vectors", type=Path)
    parser.add_argument("--minutes", default=30, type=float, help="how long real vectors are computed for at most")
    parser.add_argument("--measurer", type=Path, help="the example `vectors`, built; by default cargo builds it")
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--write", action="store_true", help="write bench/results/vectors.json and docs/quality.md")
    options = parser.parse_args()
    vectors = options.cache / "vectors.i16"
    if not vectors.exists():
        compute(options, vectors)
    before = machine()
    command = [options.measurer] if options.measurer else ["cargo", "run", "--release", "--quiet", "-p", "docmill-backends", "--example", "vectors", "--"]
    command += [vectors, options.shared / "corpus/class", *options.sizes.split(",")]
    measured = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    head, rows = lines(measured)
    table(head, rows)
    if options.write:
        write_results("vectors", {"machine": before, "load_after": os.getloadavg()[0], "measured": measured})
        write_quality("vectors", ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)])


def compute(options, vectors):
    """Ingests the texts with the model, for so long, and takes the vectors out of the index."""
    if not options.docmill or not options.models:
        sys.exit(f"{vectors} is not there: give --docmill and --models to compute it")
    home = Path(tempfile.mkdtemp(prefix="docmill-bench-"))
    try:
        (home / "data").mkdir()
        (home / "data/models").symlink_to(Path(options.models).resolve() / "models")
        wanted = int(max(int(size) for size in options.sizes.split(",")) * QUESTIONS) + 8
        for n, passage in enumerate(itertools.islice(passages(options.shared / "corpus"), wanted)):
            path = home / "in" / str(n // 1000) / f"{n}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(passage, encoding="utf-8")
        ingest = ["nice", "-n", "19", options.docmill, "--data", home / "data", "--quiet", "ingest", home / "in"]
        process = subprocess.Popen(ingest, stdout=subprocess.DEVNULL)
        began = time.monotonic()
        try:
            process.wait(options.minutes * 60)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.wait()
        # Read only, with its log: what the last batch wrote may be there alone.
        index = sqlite3.connect(f"file:{home}/data/vectors/vectors.db?mode=ro", uri=True)
        kept = [row[0] for row in index.execute("SELECT vector FROM passage ORDER BY id")]
        print(f"{len(kept)} real vectors in {time.monotonic() - began:.0f} s")
        vectors.parent.mkdir(parents=True, exist_ok=True)
        vectors.write_bytes(b"".join(kept))
    finally:
        shutil.rmtree(home)


def passages(corpus):
    """Different paragraphs, always in the same order: those of the shared texts first."""
    seen = set()
    for paragraph in itertools.chain(shared_paragraphs(corpus), documentation()):
        words = paragraph.split()
        for at in range(0, len(words), WORDS.stop - 1):
            passage = words[at : at + WORDS.stop - 1]
            text = " ".join(passage)
            if len(passage) >= WORDS.start and text not in seen:
                seen.add(text)
                yield text


def shared_paragraphs(corpus):
    for pattern in SHARED:
        for path in sorted(corpus.glob(pattern)):
            text = path.read_text(encoding="utf-8", errors="replace")
            texts = [json.loads(line)["text"] for line in text.splitlines()] if path.suffix == ".jsonl" else [text]
            yield from texts


def documentation():
    """Paragraphs of comments that document items, and of pages, file by file."""
    for path in sorted(CRATES.glob("*/*/**/*.md")):
        yield from path.read_text(encoding="utf-8", errors="replace").split("\n\n")
    for path in sorted(CRATES.glob("*/*/**/*.rs")):
        paragraph = []
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            line = line.strip()
            said = line[3:].strip() if line.startswith(("///", "//!")) else ""
            if said:
                paragraph.append(said)
            elif paragraph:
                yield " ".join(paragraph)
                paragraph = []


def lines(measured):
    head = ["what", "how many", "recall@10", "p50 ms", "p99 ms", "CPU ms", "p99 ms beside indexing", "memory MB", "indexed a second"]
    rows = []
    for one in measured:
        if one["measure"] == "meaning":
            beside = one["beside_indexing"]
            rows.append([
                "by meaning", f"{one['passages']:,} passages, {one['real']:,} of them real", f"{one['recall_at_10']:.3f}",
                f"{one['p50_ms']:.1f}", f"{one['p99_ms']:.1f}", f"{one['cpu_ms_per_question']:.1f}", f"{beside['p99_ms']:.1f}",
                f"{one['memory_mb']:.0f}", f"{one['passages_per_s']:,.0f}",
            ])
        else:
            rows.append([
                "by words", f"{one['documents']:,} texts", "–", f"{one['p50_ms']:.1f}", f"{one['p99_ms']:.1f}",
                f"{one['cpu_ms_per_query']:.1f}", "–", "–", f"{one['documents_per_s']:,.0f}",
            ])
    rows.append(["bar", "", f"{BARS['recall_at_10']}", f"{BARS['p50_ms']:.0f}", f"{BARS['p99_ms']:.0f} (by meaning)", "", "", "", ""])
    return head, rows


if __name__ == "__main__":
    main()
