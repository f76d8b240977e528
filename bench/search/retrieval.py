"""How well search finds what questions ask for: each question of a set by words, by meaning and by both.

`--collection` is a folder in the form of BEIR (`corpus.jsonl`, `queries.jsonl`, `qrels.tsv`); the scorer of the shared
files gives nDCG@10. Documents come in through `docmill ingest`, questions through the HTTP interface, as users have
them. The model must be there: `docmill --data DIR models pull`, with DIR as `--models`.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measure import ROOT, machine, table, write_results  # noqa: E402

MODES = ["text", "semantic", "hybrid"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docmill", required=True, help="the release binary")
    parser.add_argument("--models", required=True, help="a data directory whose models are used")
    parser.add_argument("--shared", default=ROOT.parent / "shared", type=Path, help="where the scorers are")
    parser.add_argument("--collection", default=None, type=Path, help="default: retrieval/cranfield of the shared files")
    options = parser.parse_args()
    collection = options.collection or options.shared / "corpus/retrieval/cranfield"
    before = machine()
    home = Path(tempfile.mkdtemp(prefix="docmill-bench-"))
    try:
        results = measure(options, collection, home)
    finally:
        shutil.rmtree(home)
    rows = [[mode, figures["ndcg@10"], figures["recall@100"], figures["p50_ms"], figures["p99_ms"]] for mode, figures in results["modes"].items()]
    table(["mode", "nDCG@10", "recall@100", "p50 ms", "p99 ms"], rows)
    results = {"machine": before, "collection": collection.name, **results}
    write_results("retrieval", results, "python3 bench/search/retrieval.py --docmill PROGRAM --models DIR")


def measure(options, collection, home):
    (home / "in").mkdir()
    (home / "data").mkdir()
    (home / "data/models").symlink_to(Path(options.models).resolve() / "models")
    documents = [json.loads(line) for line in (collection / "corpus.jsonl").open(encoding="utf-8")]
    for document in documents:
        title = document.get("title", "").strip()
        text = document["text"] if document["text"].strip().startswith(title) else f"{title}\n\n{document['text']}"
        (home / "in" / f"{document['_id']}.txt").write_text(text, encoding="utf-8")
    began = time.monotonic()
    subprocess.run([options.docmill, "--data", home / "data", "--quiet", "ingest", home / "in"], check=True, stdout=subprocess.DEVNULL)
    took = time.monotonic() - began
    command = [options.docmill, "--data", home / "data", "--json", "serve", "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = json.loads(server.stdout.readline())["listen"]
        address = address if address.startswith("http") else f"http://{address}"
        questions = [json.loads(line) for line in (collection / "queries.jsonl").open(encoding="utf-8")]
        modes = {mode: asked(address, questions, mode, collection, options.shared, home) for mode in MODES}
    finally:
        server.terminate()
        server.wait()
    return {"documents": len(documents), "ingest_s": round(took, 1), "modes": modes}


def asked(address, questions, mode, collection, shared, home):
    found, times = {}, []
    for question in questions:
        query = urllib.parse.urlencode({"q": question["text"], "mode": mode, "limit": 100})
        began = time.monotonic()
        with urllib.request.urlopen(f"{address}/v1/search?{query}") as answer:
            hits = json.load(answer)["hits"]
        times.append((time.monotonic() - began) * 1000)
        found[question["_id"]] = [Path(hit["name"]).stem for hit in hits]
    (home / "found.json").write_text(json.dumps(found))
    command = [sys.executable, shared / "scorers/score_retrieval.py", home / "found.json", collection / "qrels.tsv"]
    score = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    times.sort()
    return {**score, "p50_ms": round(statistics.median(times), 1), "p99_ms": round(times[int(len(times) * 0.99) - 1], 1)}


if __name__ == "__main__":
    main()
