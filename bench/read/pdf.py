#!/usr/bin/env python3
"""How good is the text of PDF files, and what does it cost?

    bench/read/pdf.py [--shared DIR] [--write]

There is no truth for most PDF files, so three other readers vote: pdftotext, pypdfium2 and PyMuPDF. A word counts as
often as the median of the three says. Files in which that leaves fewer than 20 words say nothing and are left out. A
file under 0.8 must be explained in `explained.json` beside this script; the run fails if one is not. `text/pdfbox` has
a truth of its own, and `score_text.py` scores it.

Two more readers, kreuzberg and xberg, are measured beside them where their packages install; they do not vote.

For cost, one process of docmill reads all of these files one after the other, as its children do, and one fork that
has pypdfium2 loaded reads them all, in turns; docmill's start is counted, pypdfium2's is not. The cheapest round counts,
for each of them. What the voters said is kept in a folder, because it does not change from run to run.

The voters are needed for measuring alone and are no part of docmill: pypdfium2 and PyMuPDF are installed into an
environment of their own under the folder for temporary files, and pdftotext comes with `poppler-utils`.
"""

import argparse
import hashlib
import importlib
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
from measure import ROOT, machine, table, write_reading  # noqa: E402
from tools import release, with_packages  # noqa: E402

FEWEST_WORDS = 20
MUST_BE_EXPLAINED = 0.8
SECONDS = 60
MEMORY = 4 << 30
EXPLAINED = Path(__file__).with_name("explained.json")

with_packages("pdf", "pypdfium2", "PyMuPDF:pymupdf", "rapidfuzz")
import pymupdf as mupdf  # noqa: E402
import pypdfium2 as pdfium  # noqa: E402


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


def kreuzberg(path):
    import kreuzberg as module

    try:
        return module.extract_file_sync(str(path)).content
    except Exception:  # whatever it cannot read counts as read without words
        return ""


def xberg(path):
    import asyncio

    import xberg as module

    try:
        given = module.ExtractInput(kind=module.ExtractInputKind.BYTES, bytes=Path(path).read_bytes(), mime_type="application/pdf")
        answer = asyncio.run(module.extract(given))
        return "\n".join(document.content for document in answer.results)
    except Exception:
        return ""


BESIDE = {"kreuzberg": kreuzberg, "xberg": xberg}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder with corpus and scorers")
    parser.add_argument("--show", type=Path, help="the example `show` of docmill-formats; built if it is not given")
    parser.add_argument("--votes", type=Path, default=Path(tempfile.gettempdir()) / "docmill-pdf-votes")
    parser.add_argument("--only", help="files whose path contains this")
    parser.add_argument("--rounds", type=int, default=3, help="how often cost is measured; 0 leaves it out")
    parser.add_argument("--write", action="store_true", help="write the results and the table in docs/quality.md")
    parser.add_argument("--words", action="store_true", help="say which words are missing and which are too many")
    options = parser.parse_args()
    mupdf.TOOLS.mupdf_display_errors(False)
    before = machine()
    show = release(options.show, "docmill-formats", "show")
    options.votes.mkdir(parents=True, exist_ok=True)
    folders = [options.shared / "hostile" / "pdf", options.shared / "corpus"]
    files = sorted(p for f in folders for p in f.rglob("*") if p.suffix.lower() == ".pdf")
    files = [f for f in files if not options.only or options.only in str(f)]
    rows = []
    for path in files:
        consensus, votes = vote(path, options.votes)
        if consensus.total() < FEWEST_WORDS:
            continue
        found = words(run([show, "--text", path])[0])
        row = {
            "file": str(path.relative_to(options.shared)),
            "words": consensus.total(),
            "consensus": consensus,
            "f1": f1(found, consensus),
            "voters": {name: f1(said, consensus) for name, said in votes.items()},
            "scans": run([show, "--scans", path])[0].splitlines(),
        }
        rows.append(row)
        if options.words:
            print(path.name, f"{row['f1']:.3f}")
            print("  missing:", *(f"{w}×{n}" for w, n in (consensus - found).most_common(40)))
            print("  too many:", *(f"{w}×{n}" for w, n in (found - consensus).most_common(40)))
    if not rows:
        sys.exit("no file has enough words")
    results = {"machine": before, **summary(rows, len(files))}
    if options.rounds:
        results["cpu_s"] = cost(show, [options.shared / row["file"] for row in rows], options.rounds)
        results["beside"] = beside(rows, options.shared)
    if not options.only:
        results["pdfbox"] = pdfbox(show, options.shared)
    unexplained = report(results, rows)
    if options.write:
        write_reading("pdf", "bench/read/pdf.py --write", results, markdown(results))
    if unexplained:
        sys.exit(f"not explained in {EXPLAINED.name}: {', '.join(unexplained)}")


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


def beside(rows, shared):
    """Quality and CPU of the readers that do not vote, on the same files. None where a package is not there."""
    found, paths = {}, [shared / row["file"] for row in rows]
    for name, reader in BESIDE.items():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", name]
        if subprocess.run(pip, check=False).returncode:
            found[name] = None
            continue
        # Loaded before the fork, as pypdfium2 is: only reading is measured.
        importlib.import_module(name)
        texts, cpu = aside(lambda all: "\0".join(reader(path).replace("\0", " ") for path in all), paths)
        scores = [f1(words(text), row["consensus"]) for text, row in zip(texts.split("\0"), rows, strict=False)]
        if len(scores) != len(rows):
            found[name] = None
            continue
        found[name] = {"mean_f1": round(statistics.fmean(scores), 4), "cpu_s": round(cpu, 2)}
    return found


def cost(show, paths, rounds):
    """CPU seconds of both for all files, taken in turns."""
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(run([show, "--text", *paths])[1])
        theirs.append(aside(lambda all: [pypdfium2(path) for path in all] and "", paths)[1])
    ours, theirs = min(ours), min(theirs)
    return {"docmill": round(ours, 3), "pypdfium2": round(theirs, 3), "ratio": round(ours / theirs, 3)}


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


def pdfbox(show, shared):
    """The score of `text/pdfbox`, and that of each of its files."""
    corpus = shared / "corpus/text/pdfbox"
    texts = {p.name[:-4]: run([show, "--text", p])[0] for p in sorted((corpus / "docs").glob("*.pdf"))}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as pred:
        json.dump(texts, pred)
        pred.flush()
        score = [sys.executable, "-B", shared / "scorers/score_text.py", pred.name, corpus / "truth"]
        return json.loads(subprocess.run(score, check=True, stdout=subprocess.PIPE).stdout)


def summary(rows, total):
    explained = json.loads(EXPLAINED.read_text())
    of_text = [row for row in rows if not explained.get(Path(row["file"]).name, {}).get("consensus_is_no_text")]
    mean = lambda key, some=rows: round(statistics.fmean(key(row) for row in some), 4)  # noqa: E731
    return {
        "files": total,
        "scored": len(rows),
        "mean_f1": mean(lambda r: r["f1"]),
        "voters": {name: mean(lambda r: r["voters"][name]) for name in VOTERS},
        "scored_whose_consensus_is_text": len(of_text),
        "mean_f1_where_consensus_is_text": mean(lambda r: r["f1"], of_text),
        "under_0.95": sum(row["f1"] < 0.95 for row in rows),
        "under_0.8": {
            row["file"]: {"f1": round(row["f1"], 3), **explained.get(Path(row["file"]).name, {})}
            for row in sorted(rows, key=lambda r: r["f1"])
            if row["f1"] < MUST_BE_EXPLAINED
        },
        "pages_for_recognition": {row["file"]: row["scans"] for row in rows if row["scans"]},
    }


def report(results, rows):
    """Prints everything, and returns the files that nobody explained."""
    names = list(VOTERS)
    few = sorted((row for row in rows if row["f1"] < 0.995), key=lambda row: row["f1"])
    if few:
        table(
            ["file", "words", "F1", *names],
            [
                (Path(r["file"]).name[:60], r["words"], f"{r['f1']:.3f}", *(f"{r['voters'][k]:.3f}" for k in names))
                for r in few
            ],
        )
    print(json.dumps({k: v for k, v in results.items() if k not in ("machine", "under_0.8")}, indent=2))
    for file, about in results["under_0.8"].items():
        print(f"{about['f1']:.3f} {file}: {about.get('why', 'NOT EXPLAINED')}")
    return [file for file, about in results["under_0.8"].items() if "why" not in about]


def markdown(results):
    yield "| measure | docmill | bar | others |"
    yield "|---|---|---|---|"
    voters = ", ".join(f"{name} {score:.3f}" for name, score in results["voters"].items())
    yield f"| token F1 against the consensus, {results['scored']} files | {results['mean_f1']:.4f} | 0.98 | {voters} |"
    scored = results["scored_whose_consensus_is_text"]
    yield f"| the same, without files whose consensus is no text, {scored} files | {results['mean_f1_where_consensus_is_text']:.4f} | 0.98 | – |"
    if cpu := results.get("cpu_s"):
        yield f"| CPU against pypdfium2, same files, in turns | {cpu['ratio']:.2f} × ({cpu['docmill']:.2f} s) | 0.60 × | {cpu['pypdfium2']:.2f} s |"
    for name, one in (results.get("beside") or {}).items():
        if one:
            yield f"| F1 and CPU of {name}, same files | – | – | F1 {one['mean_f1']:.3f}, {one['cpu_s']:.1f} s |"
    if box := results.get("pdfbox"):
        yield f"| `text/pdfbox`, word F1 | {box['f1']:.3f} | 0.95 | – |"
        yield f"| `text/pdfbox`, order | {box['order']:.3f} | 0.90 | – |"
    pages = sum(len(scans) for scans in results["pages_for_recognition"].values())
    yield f"| pages of these files that are handed to recognition | {pages} | – | – |"
    yield ""
    yield "Files under 0.8:"
    yield ""
    for file, about in results["under_0.8"].items():
        yield f"- `{Path(file).name}`, {about['f1']:.3f}: {about.get('why', 'not explained')}."


if __name__ == "__main__":
    main()
