#!/usr/bin/env python3
"""Scores the text of Office and text formats.

    bench/read/office.py SHARED [--show PROGRAM] [--write]

SHARED is the folder with `corpus/` and `scorers/`. Builds and runs the example `show` of docmill-formats on
`corpus/text/docling_office`, and hands the text of each file to `scorers/score_text.py`. Fails if the mean word F1 is
under 0.95.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
from measure import ROOT, machine, write_reading  # noqa: E402

BAR = 0.95

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("shared", type=Path)
arguments.add_argument("--show", type=Path, help="the example `show` of docmill-formats; built if it is not given")
arguments.add_argument("--write", action="store_true", help="write the results and the table in docs/quality.md")
given = arguments.parse_args()

corpus = given.shared / "corpus/text/docling_office"
run = ["cargo", "run", "--quiet", "--package", "docmill-formats", "--example", "show", "--"]
with tempfile.TemporaryDirectory() as folder:
    for path in sorted((corpus / "docs").iterdir()):
        command = ([given.show] if given.show else run) + ["--text", str(path)]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
        (Path(folder) / f"{path.name}.txt").write_bytes(text)
    scorer = [sys.executable, "-B", given.shared / "scorers/score_text.py", folder, corpus / "truth", "--verbose"]
    score = json.loads(subprocess.run(scorer, check=True, stdout=subprocess.PIPE).stdout)
print(json.dumps(score))
if given.write:
    lines = ["| measure | docmill | bar |", "|---|---|---|"]
    lines.append(f"| `text/docling_office`, word F1 of {score['docs']} files | {score['f1']} | 0.95 |")
    lines.append(f"| `text/docling_office`, order | {score['order']} | – |")
    write_reading("office", "bench/read/office.py SHARED --write", {"machine": machine(), **score}, lines)
if score["f1"] < BAR:
    sys.exit(f"under the bar of {BAR}")
