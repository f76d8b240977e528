#!/usr/bin/env python3
"""Scores how completely docmill takes mail apart.

    bench/read/mail.py SHARED [--out FILE]

SHARED is the folder with `corpus/` and `scorers/`. Builds and runs the example `mail` of docmill-formats on
`corpus/mail/mime4j`, writes its answer as the prediction file, and hands that to `scorers/score_mail.py`, which
fails if part recall is under 0.97 or a subject is wrong.
"""
import argparse
import pathlib
import subprocess
import sys

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("shared", type=pathlib.Path)
arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path("target/mail-pred.json"))
given = arguments.parse_args()

corpus = given.shared / "corpus/mail/mime4j"
files = sorted(str(path) for path in (corpus / "docs").iterdir())
run = ["cargo", "run", "--quiet", "--package", "docmill-formats", "--example", "mail", "--"]
answer = subprocess.run(run + files, check=True, stdout=subprocess.PIPE).stdout
given.out.parent.mkdir(parents=True, exist_ok=True)
given.out.write_bytes(answer)
score = [sys.executable, str(given.shared / "scorers/score_mail.py"), str(given.out), str(corpus / "truth.json")]
sys.exit(subprocess.run(score + ["--min", "part_recall=0.97", "--min", "subject_acc=1.0"]).returncode)
