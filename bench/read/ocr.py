#!/usr/bin/env python3
"""How good is the text of scans and pictures, and what does it cost?

    bench/read/ocr.py [--shared DIR] [--write]

Receipts are scored as they are and as poor copies made by degrade.py, each against `tesseract` called alone; pages of
Tesseract's own tests upright and turned. Of PDF files that were born digital no page may be recognised. Everything is
read by the command `docmill read`, and CPU is user and system time of all its processes.

docmill is built, and the models of PP-OCR are fetched (`docmill models pull`) into a folder under the one for temporary
files, unless --docmill and --data name others. Needs `tesseract-ocr` for the comparison; Pillow and numpy for the poor
copies are installed into an environment of their own. Fails under the bars that it names.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from measure import ROOT, machine, table, write_reading  # noqa: E402
from tools import release, timed, with_packages  # noqa: E402

with_packages("ocr", "pillow:PIL", "numpy", "rapidfuzz")
from rapidfuzz import fuzz  # noqa: E402

TURNED = ["phototest-rotated-180", "phototest-rotated-L", "phototest-rotated-R"]
GOOD_SCAN = "phototest.tif"
BORN_DIGITAL = ["fields/invoice2data", "fields/kleister_nda", "fields/zugferd", "text/pdfbox"]
ROUNDS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder with corpus and scorers")
    parser.add_argument("--docmill", type=Path, help="the binary; built if it is not given")
    parser.add_argument("--data", type=Path, help="a data directory with the models of PP-OCR; fetched if it is not given")
    parser.add_argument("--write", action="store_true", help="write the results and the table in docs/quality.md")
    options = parser.parse_args()
    if not shutil.which("tesseract"):
        sys.exit("`tesseract` is missing: apt-get install tesseract-ocr")
    before = machine()
    binary = release(options.docmill)
    results = {"machine": before, **measure(options.shared, binary, options.data or models(binary))}
    bars = results["bars"]
    table(["measure", "docmill", "bar", "Tesseract alone"], [row(bar) for bar in bars])
    table(["files", "CER", "CER in any order", "word recall", "CPU s each"], [list(s.values()) for s in results["sets"]])
    if options.write:
        write_reading("ocr", "bench/read/ocr.py --write", results, markdown(bars, results["sets"]))
    missed = [bar["measure"] for bar in bars if not bar["met"]]
    if missed:
        sys.exit("missed: " + "; ".join(missed))


def models(binary):
    data = Path(tempfile.gettempdir()) / "docmill-bench-ocr-data"
    subprocess.run([binary, "--data", data, "models", "pull"], check=True, stdout=subprocess.DEVNULL)
    return data


def measure(shared, binary, data):
    corpus = shared / "corpus"
    receipts, receipts_truth = corpus / "fields/sroie/docs", corpus / "fields/sroie/ocr_truth"
    pages, pages_truth = corpus / "ocr/tesseract_test/docs", corpus / "ocr/tesseract_test/truth"
    sets, bars = [], []

    def cer(name, files, truth, reader, *more):
        texts, cpu = {}, 0.0
        for path in files:
            texts[path.stem], used = reader(path)
            cpu += used
        scored = score(shared, texts, truth, *more)
        sets.append({
            "files": f"{name} ({len(files)})",
            "cer": scored["cer"],
            "cer_in_any_order": in_any_order(texts, truth),
            "word_recall": scored["word_recall"],
            "cpu_s": round(cpu / max(1, len(files)), 2),
        })
        return scored["cer"]

    def ours(path):
        answer, cpu = read(binary, data, path)
        return answer.get("text", ""), cpu

    def bar(name, value, limit, alone=None, at_least=False):
        met = value >= limit if at_least else value <= limit
        bars.append({"measure": name, "value": round(value, 4), "bar": limit, "at_least": at_least, "alone": alone, "met": met})

    good = sorted(receipts.glob("*.jpg"))
    alone = cer("receipts, tesseract alone", good, receipts_truth, by_tesseract, "--lower")
    bar("receipts, CER", cer("receipts, docmill", good, receipts_truth, ours, "--lower"), 0.10, alone)
    cer("receipts, their truth in the order of the page", good, receipts_truth, in_order_of_the_page(receipts_truth, ours), "--lower")
    with tempfile.TemporaryDirectory() as poor:
        subprocess.run([sys.executable, str(HERE / "degrade.py"), str(receipts), poor], check=True)
        bad = sorted(Path(poor).glob("*.jpg"))
        alone = cer("poor copies, tesseract alone", bad, receipts_truth, by_tesseract, "--lower")
        after = cer("poor copies, docmill", bad, receipts_truth, ours, "--lower")
    bar("poor copies, characters right that were wrong", alone - after, 0.25, at_least=True)
    every = [path for path in sorted(pages.iterdir()) if (pages_truth / f"{path.stem}.txt").exists()]
    for name, limit, files in [
        ("pages upright, CER", 0.08, [path for path in every if path.stem not in TURNED]),
        ("pages turned, CER", 0.02, [path for path in every if path.stem in TURNED]),
    ]:
        alone = cer(name.replace("CER", "tesseract alone"), files, pages_truth, by_tesseract)
        bar(name, cer(name.replace("CER", "docmill"), files, pages_truth, ours), limit, alone)
    needless = []
    for folder in BORN_DIGITAL:
        for path in sorted((corpus / folder / "docs").glob("*.pdf")):
            answer, _ = read(binary, data, path)
            needless += [f"{path.name} page {p['number']}" for p in answer.get("pages", []) if recognised(p)]
    bar("pages of digital PDF files that are recognised", len(needless), 0)
    scan = pages / GOOD_SCAN
    cost = min(read(binary, data, scan)[1] for _ in range(ROUNDS))
    bar("`docmill read` of a good scan, CPU s", cost, 1.2, round(min(by_tesseract(scan)[1] for _ in range(ROUNDS)), 2))
    return {"bars": bars, "sets": sets, "needless": needless}


def recognised(page):
    """Whether recognition was tried, whatever came of it."""
    return page["source"] == "ocr" or "OCR" in page["reason"] or "recognised by" in page["reason"]


def read(binary, data, path):
    said, cpu = run([binary, "--json", "--data", data, "read", path])
    return (json.loads(said) if said else {}), cpu


def by_tesseract(path):
    return run(["tesseract", path, "-"], env={**os.environ, "OMP_THREAD_LIMIT": "1"})


def run(command, **more):
    out, cpu = timed(command, **more)
    return out.decode("utf-8", "replace"), cpu


def score(shared, texts, truth, *more):
    with tempfile.TemporaryDirectory() as folder:
        pred = Path(folder) / "pred.json"
        pred.write_text(json.dumps(texts))
        wanted = Path(folder) / "truth"
        wanted.mkdir()
        for key in texts:
            (wanted / f"{key}.txt").write_bytes((Path(truth) / f"{key}.txt").read_bytes())
        command = [sys.executable, "-B", shared / "scorers/score_ocr.py", pred, wanted, *more]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def in_any_order(texts, truth):
    """CER if each line of the truth is looked for anywhere in the text: those who wrote down receipts went through their
    columns in orders of their own. Case and blanks do not count."""
    def plain(text):
        return "".join(text.lower().split())

    edits = length = 0
    for key, text in texts.items():
        found = plain(text)
        for line in map(plain, (Path(truth) / f"{key}.txt").read_text(errors="replace").splitlines()):
            edits += nearest(line, found)
            length += len(line)
    return round(edits / max(1, length), 4)


def in_order_of_the_page(truth, reader):
    """Reads the truth itself, letter by letter, but each line where the reader found it: what a reader without a single
    mistake scores, if it goes through a page from top to bottom and from left to right."""
    def read_truth(path):
        page, cpu = reader(path)
        page = " ".join(page.lower().split())
        lines = [line for line in (Path(truth) / f"{path.stem}.txt").read_text(errors="replace").splitlines() if line.strip()]
        places = {}
        # Long lines are found surely; what they cover is not taken for a short one.
        for number, line in sorted(enumerate(lines), key=lambda each: -len(each[1])):
            at = fuzz.partial_ratio_alignment(" ".join(line.lower().split()), page)
            if at and at.score >= 60:
                places[number] = at.dest_start
                page = page[: at.dest_start] + "\0" * (at.dest_end - at.dest_start) + page[at.dest_end :]
            else:
                places[number] = len(page) + number
        return "\n".join(lines[number] for number in sorted(places, key=places.get)), cpu

    return read_truth


def nearest(line, text):
    """Fewest edits that make some part of the text the line."""
    before = [0] * (len(text) + 1)
    for number, letter in enumerate(line, 1):
        now = [number]
        for at, other in enumerate(text, 1):
            now.append(min(before[at - 1] + (letter != other), before[at] + 1, now[-1] + 1))
        before = now
    return min(before)


def row(bar):
    alone = "–" if bar["alone"] is None else bar["alone"]
    return [bar["measure"], bar["value"], f"{'≥' if bar['at_least'] else '≤'} {bar['bar']}", alone]


def markdown(bars, sets):
    yield "| measure | docmill | bar | Tesseract alone |"
    yield "|---|---|---|---|"
    for bar in bars:
        yield "| " + " | ".join(str(cell) for cell in row(bar)) + " |"
    yield ""
    yield "| files | CER | CER, lines in any order | word recall | CPU s each |"
    yield "|---|---|---|---|---|"
    for each in sets:
        yield "| " + " | ".join(str(cell) for cell in each.values()) + " |"


if __name__ == "__main__":
    main()
