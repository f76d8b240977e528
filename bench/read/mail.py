#!/usr/bin/env python3
"""Scores how completely docmill takes mail apart.

    bench/read/mail.py SHARED [--mail PROGRAM] [--write]

SHARED is the folder with `corpus/` and `scorers/`. Builds and runs the example `mail` of docmill-formats on
`corpus/mail/mime4j`, and hands its answer to `scorers/score_mail.py`. Fails if part recall is under 0.97 or a subject
is wrong. How many messages mailboxes hold is compared with their reference by the test `corpora` of docmill-formats.
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

BARS = {"part_recall": 0.97, "subject_acc": 1.0}

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("shared", type=Path)
arguments.add_argument("--mail", type=Path, help="the example `mail` of docmill-formats; built if it is not given")
arguments.add_argument("--write", action="store_true", help="write the results and the table in docs/quality.md")
given = arguments.parse_args()

corpus = given.shared / "corpus/mail/mime4j"
files = sorted(str(path) for path in (corpus / "docs").iterdir())
run = ["cargo", "run", "--quiet", "--package", "docmill-formats", "--example", "mail", "--"]
with tempfile.NamedTemporaryFile(suffix=".json") as answer:
    subprocess.run(([given.mail] if given.mail else run) + files, check=True, stdout=answer, cwd=ROOT)
    scorer = [sys.executable, "-B", given.shared / "scorers/score_mail.py", answer.name, corpus / "truth.json"]
    score = json.loads(subprocess.run(scorer, check=True, stdout=subprocess.PIPE).stdout)
print(json.dumps(score))
if given.write:
    lines = ["| measure | docmill | bar |", "|---|---|---|"]
    lines.append(f"| `mail/mime4j`, parts found of {score['parts']} in {score['docs']} messages | {score['part_recall']} | 0.97 |")
    lines.append(f"| `mail/mime4j`, subjects | {score['subject_acc']} | 1.0 |")
    write_reading("mail", "bench/read/mail.py SHARED --write", {"machine": machine(), **score}, lines)
under = [key for key, bar in BARS.items() if score[key] < bar]
if under:
    sys.exit(f"under the bar: {', '.join(under)}")
