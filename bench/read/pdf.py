"""How good is the text of PDF files, and what does it cost?

There is no truth for most PDF files, so three other readers vote: pdftotext, pypdfium2 and PyMuPDF. A word counts as
often as the median of the three says. Files in which that leaves fewer than 20 words say nothing and are left out.

Each file is read by a process of its own. docmill's CPU time is that of its whole process, start and all; pypdfium2's
is that of opening the file and reading all pages in a fork that has the library loaded. Both are taken in turns, file
by file. What the voters said is kept in a folder, because it does not change from run to run.

The voters are needed for measuring alone: `pip install pypdfium2 PyMuPDF` in an environment outside the checkout, and
`poppler-utils`.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
import pymupdf as mupdf  # noqa: E402
import pypdfium2 as pdfium  # noqa: E402

from measure import ROOT, machine, table, write_results  # noqa: E402

FEWEST_WORDS = 20
SECONDS = 60
MEMORY = 4 << 30


def pdftotext(path):
    command = ["pdftotext", "-q", "-enc", "UTF-8", str(path), "-"]
    return subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout.decode("utf-8", "replace")


def pypdfium2(path):
    texts = []
    try:
        document = pdfium.PdfDocument(path)
        for number in range(len(document)):
            try:
                texts.append(document[number].get_textpage().get_text_range())
            except pdfium.PdfiumError:
                continue
    except pdfium.PdfiumError:
        pass
    return "\f".join(texts)


def pymupdf(path):
    texts = []
    try:
        document = mupdf.open(path)
        for number in range(len(document)):
            try:
                texts.append(document[number].get_text())
            except Exception:  # its errors have no common ancestor
                continue
    except Exception:
        pass
    return "\f".join(texts)


VOTERS = {"pdftotext": pdftotext, "pypdfium2": pypdfium2, "pymupdf": pymupdf}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", required=True, help="the example `show` of docmill-formats, built with --release")
    shared = ROOT.parent / "shared"
    parser.add_argument("--files", type=Path, nargs="*", default=[shared / "hostile", shared / "corpus"])
    parser.add_argument("--votes", type=Path, default=Path(tempfile.gettempdir()) / "docmill-pdf-votes")
    parser.add_argument("--only", help="files whose path contains this")
    parser.add_argument("--no-cpu", action="store_true", help="leave out the comparison of cost")
    parser.add_argument("--write", action="store_true", help="write bench/results/read-pdf.json")
    parser.add_argument("--words", action="store_true", help="say which words are missing and which are too many")
    options = parser.parse_args()
    mupdf.TOOLS.mupdf_display_errors(False)
    before = machine()
    options.votes.mkdir(parents=True, exist_ok=True)
    files = sorted(p for f in options.files for p in ([f] if f.is_file() else f.rglob("*")) if p.suffix.lower() == ".pdf")
    files = [f for f in files if not options.only or options.only in str(f)]
    rows, ours, theirs = [], 0.0, 0.0
    for path in files:
        consensus, votes = vote(path, options.votes)
        text, cpu = run([options.show, "--text", str(path)])
        if not options.no_cpu:
            ours, theirs = ours + cpu, theirs + aside(pypdfium2, path)[1]
        if consensus.total() < FEWEST_WORDS:
            continue
        found = words(text)
        scores = {name: f1(vote, consensus) for name, vote in votes.items()}
        rows.append((f1(found, consensus), path, consensus.total(), cpu, scores))
        if options.words:
            print(path.name, f"{rows[-1][0]:.3f}")
            print("  missing:", *(f"{w}×{n}" for w, n in (consensus - found).most_common(40)))
            print("  too many:", *(f"{w}×{n}" for w, n in (found - consensus).most_common(40)))
    report(rows, len(files), ours, theirs, options, before)


def vote(path, folder):
    """How often each word is in the file, and what each voter said."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    kept = folder / f"{digest}.json"
    if kept.exists():
        texts = json.loads(kept.read_text())
    else:
        texts = {name: aside(voter, path)[0] for name, voter in VOTERS.items()}
        kept.write_text(json.dumps(texts))
    votes = {name: words(text) for name, text in texts.items()}
    every = set().union(*votes.values())
    return +Counter({word: int(statistics.median(v[word] for v in votes.values())) for word in every}), votes


def words(text):
    text = unicodedata.normalize("NFKC", text).replace("\u00ad", "")
    return Counter(re.findall(r"\w+", text.lower()))


def f1(found, truth):
    common = (found & truth).total()
    return 2 * common / (found.total() + truth.total()) if common else 0.0


def fence():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(command):
    """What a command prints, and its CPU time in seconds. A command that fails has printed what it has printed."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, preexec_fn=fence
        )
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
        out.seek(0)
        return out.read().decode("utf-8", "replace"), used.ru_utime + used.ru_stime


def aside(voter, path):
    """What a voter says and its CPU time in seconds, in a process that may die of it."""
    with tempfile.TemporaryFile() as out:
        pid = os.fork()
        if pid == 0:
            try:
                fence()
                begin = time.process_time()
                text = voter(path)
                taken = time.process_time() - begin
                out.write(json.dumps([text, taken]).encode())
                out.flush()
            finally:
                os._exit(0)
        _, _, used = os.wait4(pid, 0)
        out.seek(0)
        said = out.read()
        return json.loads(said) if said else ["", used.ru_utime + used.ru_stime]


def report(rows, total, ours, theirs, options, before):
    rows.sort(key=lambda row: row[0])
    names = list(VOTERS)
    table(
        ["file", "words", "F1", *names, "CPU s"],
        [(p.name[:60], n, f"{s:.3f}", *(f"{v[k]:.3f}" for k in names), f"{c:.2f}") for s, p, n, c, v in rows if s < 0.995],
    )
    mean = statistics.fmean(row[0] for row in rows) if rows else 0.0
    print(f"\n{len(rows)} of {total} files have at least {FEWEST_WORDS} words; mean F1 {mean:.4f}")
    for name in names:
        print(f"  {name}: {statistics.fmean(row[4][name] for row in rows):.4f}")
    print(f"  under 0.8: {sum(row[0] < 0.8 for row in rows)}, under 0.95: {sum(row[0] < 0.95 for row in rows)}")
    if not options.no_cpu:
        print(f"CPU of all files: docmill {ours:.2f} s, pypdfium2 {theirs:.2f} s, ratio {ours / max(theirs, 1e-9):.2f}")
    if options.write:
        write_results(
            "read-pdf",
            {
                "machine": before,
                "files": len(rows),
                "mean_f1": round(mean, 4),
                "voters": {k: round(statistics.fmean(row[4][k] for row in rows), 4) for k in names},
                "cpu_s": {"docmill": round(ours, 2), "pypdfium2": round(theirs, 2)},
                "under_0.8": {p.name: round(s, 3) for s, p, *_ in rows if s < 0.8},
            },
        )


if __name__ == "__main__":
    main()
