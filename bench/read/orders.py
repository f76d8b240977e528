#!/usr/bin/env python3
"""Is there an order of reading in which receipts come nearer to their truth?

    bench/read/orders.py --models DIR [--shared DIR]

Receipts are recognised once; then what was read is put into one order after the other and scored: rows as docmill gives
them, every piece of a line by its upper or lower edge or its middle, and tables column by column, where rows of as many
pieces stand under each other, at most so many heights of a line apart. The last line takes for each receipt whichever
of these orders suits it best, which nobody can know who has no truth.

DIR has the models of PP-OCR (`docmill models pull`).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from measure import ROOT, table  # noqa: E402
from tools import release  # noqa: E402

# Pieces of a row are parted by gaps of at least so many heights of a word.
GAP = 1.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder with corpus and scorers")
    parser.add_argument("--models", type=Path, required=True, help="the folder of PP-OCR's models")
    parser.add_argument("--recogniser", type=Path, help="the example `recognise` of docmill-formats; built if it is not given")
    options = parser.parse_args()
    sys.path.insert(0, str(options.shared / "scorers"))
    from common import edit, norm_text

    receipts = options.shared / "corpus/fields/sroie"
    recogniser = release(options.recogniser, "docmill-formats", "recognise")
    with tempfile.TemporaryDirectory() as folder:
        files = sorted((receipts / "docs").glob("*.jpg"))
        subprocess.run([recogniser, f"--models={options.models}", f"--words={folder}", *files], check=True, stdout=subprocess.DEVNULL)
        pages = {path.stem: rows(json.loads((Path(folder) / f"{path.stem}.json").read_text())[0]) for path in files}
    truths = {key: norm_text((receipts / f"ocr_truth/{key}.txt").read_text(), True) for key in pages}
    length = sum(map(len, truths.values()))
    orders = {
        "rows, from left to right": lambda page: [piece for row in page for piece in row],
        "by upper edges": lambda page: sorted(sum(page, []), key=lambda piece: piece[1]),
        "by lower edges": lambda page: sorted(sum(page, []), key=lambda piece: piece[3]),
        "by middles": lambda page: sorted(sum(page, []), key=lambda piece: piece[1] + piece[3]),
    }
    for apart in (1.2, 1.6, 2.2, 9):
        orders[f"tables by columns, rows at most {apart} apart"] = lambda page, apart=apart: by_columns(page, apart, 99)
        orders[f"the same, tables of two rows alone, {apart}"] = lambda page, apart=apart: by_columns(page, apart, 2)
    edits = {
        name: {key: edit(norm_text("\n".join(p[4] for p in order(page)), True), truths[key]) for key, page in pages.items()}
        for name, order in orders.items()
    }
    results = [[name, round(sum(each.values()) / length, 4)] for name, each in edits.items()]
    best = sum(min(each[key] for each in edits.values()) for key in pages)
    table(["order", "CER"], results + [["the best of these for each receipt", round(best / length, 4)]])


def rows(page):
    """Pieces of each row: left, top, right, bottom, text."""
    lines = {}
    for word in page["words"]:
        left, top = word["x"] * page["width"], word["y"] * page["height"]
        edges = (left, top, left + word["width"] * page["width"], top + word["height"] * page["height"])
        lines.setdefault(word["line"], []).append((*edges, word["text"]))
    out = []
    for line in lines.values():
        pieces = [[line[0]]]
        for before, word in zip(line, line[1:]):
            if word[0] - before[2] > GAP * (before[3] - before[1]):
                pieces.append([])
            pieces[-1].append(word)
        out.append([(min(w[0] for w in p), min(w[1] for w in p), max(w[2] for w in p), max(w[3] for w in p), " ".join(w[4] for w in p)) for p in pieces])
    return out


def by_columns(page, apart, most):
    out, at = [], 0
    while at < len(page):
        end = at + 1
        while end < len(page) and under(page[end - 1], page[end], apart):
            end += 1
        block = page[at:end]
        out += [piece for column in zip(*block) for piece in column] if 2 <= len(block) <= most else sum(block, [])
        at = end
    return out


def under(upper, lower, apart):
    """Whether two rows are of one table: each piece stands under another."""
    if len(upper) < 2 or len(upper) != len(lower):
        return False
    near = min(p[1] for p in lower) - min(p[1] for p in upper) <= apart * max(p[3] - p[1] for p in upper)
    return near and all(min(a[2], b[2]) > max(a[0], b[0]) for a, b in zip(upper, lower))


if __name__ == "__main__":
    main()
