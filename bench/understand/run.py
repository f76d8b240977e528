#!/usr/bin/env python3
"""Scores what is understood without a model: tags, few-shot labels, near duplicates.

    bench/understand/run.py SHARED [--guess PROGRAM] [--write]

SHARED is the folder with `corpus/` and `scorers/`. Builds and runs the example `guess` of docmill-understand, and hands
what it says to the scorers. Fails under the bars that it names.
"""

import argparse
import email
import email.policy
import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
from measure import ROOT, machine, table, write_reading  # noqa: E402

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("shared", type=Path)
arguments.add_argument("--guess", type=Path, help="the example `guess` of docmill-understand; built if it is not given")
arguments.add_argument("--write", action="store_true", help="write the results and the table in docs/quality.md")
given = arguments.parse_args()
corpus, scorers = given.shared.resolve() / "corpus", given.shared.resolve() / "scorers"
run = ["cargo", "run", "--quiet", "--release", "--package", "docmill-understand", "--example", "guess", "--"]
folder = tempfile.TemporaryDirectory()
temporary = Path(folder.name)


def guess(*what):
    """What the example says, as a file for a scorer."""
    command = ([given.guess] if given.guess else run) + [str(w) for w in what]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
    path = temporary / "said.json"
    path.write_bytes(said)
    return path


def score(scorer, said, truth, *options):
    command = [sys.executable, "-B", scorers / scorer, said, truth, *options]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def halves(truth):
    """The even ones of the documents in the order of their names, the odd ones, and those whose tags nobody had seen."""
    known = json.loads(truth.read_text())
    names = sorted(known)
    parts = [("even half", names[::2]), ("odd half", names[1::2])]
    if any(name in SEEN for name in names):
        parts.append(("odd half, unseen", [name for name in names[1::2] if name not in SEEN]))
    for name, part in parts:
        path = temporary / "half.json"
        path.write_text(json.dumps({n: known[n] for n in part}))
        yield name, path


def plain(path):
    """The text of a message as a reader gives it: header fields, then what it says."""
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.compat32)
    lines = [f"{name}: {message.get(name)}" for name in ("From", "To", "Subject", "Date") if message.get(name)]
    for part in message.walk():
        if part.get_content_maintype() == "text":
            body = (part.get_payload(decode=True) or b"").decode("latin-1")
            if part.get_content_subtype() == "html":
                body = re.sub(r"(?is)<(script|style).*?</\1>|<!--.*?-->", " ", body)
                body = html.unescape(re.sub(r"<[^>]*>", " ", body))
            lines += ["", body]
    return "\n".join(lines)


# Their tags were looked at before the weights were set, though they are of the odd half.
SEEN = {"S0009261413011111", "S0010938X14002157"}
results, rows = {}, []


def row(name, what, value, bar, note="–"):
    rows.append((name, what, value, bar, note))


for name, bar, other in (("SemEval2017", 0.22, "YAKE 0.18"), ("WikiNews", None, "–")):
    truth = corpus / "tags" / name / "truth.json"
    said = guess("tags", corpus / "tags" / name / "docs")
    results[f"tags_{name}"] = score("score_tags.py", said, truth)
    row(f"`tags/{name}`", "F1@10", results[f"tags_{name}"]["f1@10"], bar, other)
    for half, path in halves(truth):
        results[f"tags_{name}, {half}"] = score("score_tags.py", said, path)
        row(f"`tags/{name}`, {half}", "F1@10", results[f"tags_{name}, {half}"]["f1@10"], None)

news = corpus / "class/20news"
results["20news"] = score("score_class.py", guess("learn", news / "train", news / "train.json", news / "docs"), news / "truth.json")
row("`class/20news`, from 300 examples", "accuracy", results["20news"]["accuracy"], 0.65, "Naive Bayes 0.58")
row("the same", "error of confidence", results["20news"]["ece"], None)

mails = temporary / "mails"
mails.mkdir()
spam = corpus / "class/spamassassin"
for path in sorted((spam / "docs").iterdir()):
    (mails / f"{path.stem}.txt").write_text(plain(path), errors="replace")
results["spamassassin"] = score("score_class.py", guess("folds", mails, spam / "truth.json", 5), spam / "truth.json")
row("`class/spamassassin`, five parts", "accuracy", results["spamassassin"]["accuracy"], 0.95)
results["spamassassin_raw"] = score("score_class.py", guess("folds", spam / "docs", spam / "truth.json", 5), spam / "truth.json")
row("the same, from the files as they are", "accuracy", results["spamassassin_raw"]["accuracy"], None)

for name in ("minhash_100", "minhash_1000"):
    pairs = corpus / "pairs" / name
    results[name] = score("score_pairs.py", guess("pairs", pairs / "articles.txt"), pairs / "truth.txt")
    row(f"`pairs/{name}`", "F1", results[name]["f1"], 0.98)

shown = [(n, w, v, "–" if b is None else b, o) for n, w, v, b, o in rows]
table(["measure", "", "docmill", "bar", "others"], shown)
if given.write:
    lines = ["| measure | | docmill | bar | others |", "|---|---|---|---|---|"]
    lines += [f"| {n} | {w} | {v} | {b} | {o} |" for n, w, v, b, o in shown]
    write_reading("understand", "bench/understand/run.py SHARED --write", {"machine": machine(), **results}, lines)
under = [n for n, _, v, b, _ in rows if b is not None and v < b]
if under:
    sys.exit(f"under the bar: {', '.join(under)}")
