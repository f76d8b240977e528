#!/usr/bin/env python3
"""Scores the text of Office and text formats.

    bench/read/office.py SHARED [--out FOLDER]

SHARED is the folder with `corpus/` and `scorers/`. Builds and runs the example `show` of docmill-formats on
`corpus/text/docling_office`, writes the text of each file as a prediction, and hands those to
`scorers/score_text.py`, which fails if the mean word F1 is under 0.95.
"""
import argparse
import pathlib
import subprocess
import sys

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("shared", type=pathlib.Path)
arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path("target/office-pred"))
given = arguments.parse_args()

corpus = given.shared / "corpus/text/docling_office"
run = ["cargo", "run", "--quiet", "--package", "docmill-formats", "--example", "show", "--", "--text"]
given.out.mkdir(parents=True, exist_ok=True)
for path in sorted((corpus / "docs").iterdir()):
    text = subprocess.run(run + [str(path)], check=True, stdout=subprocess.PIPE).stdout
    (given.out / f"{path.name}.txt").write_bytes(text)
score = [sys.executable, str(given.shared / "scorers/score_text.py"), str(given.out), str(corpus / "truth")]
sys.exit(subprocess.run(score + ["--verbose", "--min", "f1=0.95"]).returncode)
