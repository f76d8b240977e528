"""How good is the text of scans and pictures, and what does it cost?

    python3 bench/read/ocr.py SHARED [--docmill PATH] [--data DIR]

SHARED holds corpus/ and scorers/. Receipts are scored as they are and as poor copies made by degrade.py, each against
`tesseract` called alone; pages of Tesseract's own tests upright and turned. DIR is a data directory into which
`docmill models pull` has fetched the models of PP-OCR; without it Tesseract works alone. Needs Pillow and numpy for the
poor copies, and `tesseract-ocr` for the comparison. Fails under the bars that it names.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from measure import table, write_results  # noqa: E402

TURNED = ["phototest-rotated-180", "phototest-rotated-L", "phototest-rotated-R"]


def run(command, **more):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, **more).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out.decode("utf-8", "replace"), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def docmill(binary, data, path):
    command = [binary, "--json", "read", str(path)] + (["--data", data] if data else [])
    said, cpu = run(command)
    answer = json.loads(said) if said else {}
    return answer.get("text", ""), cpu, answer


def alone(path):
    said, cpu = run(["tesseract", str(path), "-"], env={**os.environ, "OMP_THREAD_LIMIT": "1"})
    return said, cpu, {}


def score(shared, texts, truth, *more):
    with tempfile.TemporaryDirectory() as folder:
        pred = Path(folder) / "pred.json"
        pred.write_text(json.dumps(texts))
        wanted = Path(folder) / "truth"
        wanted.mkdir()
        for key in texts:
            (wanted / f"{key}.txt").write_bytes((Path(truth) / f"{key}.txt").read_bytes())
        command = [sys.executable, str(shared / "scorers/score_ocr.py"), str(pred), str(wanted), *more]
        return json.loads(run(command)[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--docmill", default="docmill")
    parser.add_argument("--data")
    arguments = parser.parse_args()
    corpus = arguments.shared / "corpus"
    receipts, receipts_truth = corpus / "fields/sroie/docs", corpus / "fields/sroie/ocr_truth"
    pages, pages_truth = corpus / "ocr/tesseract_test/docs", corpus / "ocr/tesseract_test/truth"
    rows, failed = [], []

    def measure(name, files, truth, reader, *more):
        texts, cpu = {}, 0.0
        for path in files:
            text, used, _ = reader(path)
            texts[path.stem], cpu = text, cpu + used
        scored = score(arguments.shared, texts, truth, *more)
        rows.append([name, len(files), scored["cer"], scored["word_recall"], round(cpu / max(1, len(files)), 2)])
        return scored["cer"]

    def ours(path):
        return docmill(arguments.docmill, arguments.data, path)

    def bar(name, value, limit):
        if value > limit:
            failed.append(f"{name}: {value:.4f} is over {limit}")

    with tempfile.TemporaryDirectory() as poor:
        subprocess.run([sys.executable, str(HERE / "degrade.py"), str(receipts), poor], check=True)
        good = sorted(receipts.glob("*.jpg"))
        bad = sorted(Path(poor).glob("*.jpg"))
        measure("receipts, tesseract alone", good, receipts_truth, alone, "--lower")
        bar("receipts", measure("receipts, docmill", good, receipts_truth, ours, "--lower"), 0.10)
        before = measure("poor copies, tesseract alone", bad, receipts_truth, alone, "--lower")
        after = measure("poor copies, docmill", bad, receipts_truth, ours, "--lower")
        bar("poor copies, loss against the gain wanted", after - before, -0.25)
    every = [path for path in sorted(pages.iterdir()) if (pages_truth / f"{path.stem}.txt").exists()]
    upright = [path for path in every if path.stem not in TURNED]
    turned = [path for path in every if path.stem in TURNED]
    bar("upright pages", measure("pages upright, docmill", upright, pages_truth, ours), 0.08)
    bar("turned pages", measure("pages turned, docmill", turned, pages_truth, ours), 0.02)
    columns = ["what", "files", "CER", "word recall", "CPU s each"]
    table(columns, rows)
    write_results("ocr", {"columns": columns, "rows": rows, "under_the_bar": failed})
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
