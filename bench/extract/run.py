#!/usr/bin/env python3
"""Scores `docmill extract` without a model, from file to record, on the shared sets and on generated documents.

usage: run.py [--docmill BIN] [--data DIR] [--shared DIR] [--sets a,b] [--write] [--sight BIN --words DIR]

`sroie_poor` are copies of the receipts made by bench/read/degrade.py, read once (`sroie_poor_once`) and with the gate's
second try. --data names a data directory with the models of PP-OCR (`docmill models pull`). --write writes
bench/results/extract.json and the tables in docs/quality.md.

With --boxes the box of every accepted field is looked up on the drawn page, by boxes.py; needs `tesseract-ocr`.

With --sight the example of docmill-extract reads words that were written down before, which skips reading and
recognition: DIR/SET/ID.json has the pages of a document. --failures prints what is wrong.
"""
import argparse, glob, json, os, subprocess, sys, tempfile, time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / "read")]
import boxes  # noqa: E402
from measure import machine, write_reading  # noqa: E402
from tools import release, with_packages  # noqa: E402

ACCEPTED = 0.8
HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = ["--sources", "page"]
SETS = {
    "zugferd_inside": dict(schema="invoice", where="zugferd", truth="truth.json", flags=["--sources", "embedded"], score=[]),
    "zugferd": dict(schema="invoice", truth="truth_visible.json", flags=["--sources", "page"], score=[]),
    "sroie": dict(schema="receipt", truth="truth.json", flags=["--sources", "page"], score=["--dayfirst"]),
    "sparrow_invoices": dict(schema="invoice", truth="truth.json", flags=["--sources", "page"], score=[]),
    # Of its truth what the schema has. Its failures were read after it had been scored once.
    "invoice2data": dict(schema="invoice", truth="truth.json", flags=["--sources", "page"], score=[], fields="amount amount_untaxed bic currency date iban invoice_number issuer order_id vat"),
    "sroie_poor_once": dict(schema="receipt", where="sroie", poor=True, truth="truth.json", flags=[*PAGE, "--tries", "1"], score=["--dayfirst"]),
    "sroie_poor": dict(schema="receipt", where="sroie", poor=True, truth="truth.json", flags=PAGE, score=["--dayfirst"]),
    "kleister_nda": dict(schema="nda", truth="truth.json", flags=["--sources", "page"], score=[]),
    "generated_invoices": dict(schema="invoice", kind="invoice", flags=["--sources", "page"], score=[]),
    "generated_receipts": dict(schema="receipt", kind="receipt", flags=["--sources", "page"], score=[]),
}


def spans(x, name):
    field = x["fields"].get(name)
    return " ".join(e["span"] for e in field["evidence"]) if field else None


def confidence(x, name):
    field = x["fields"].get(name)
    return field["confidence"] if field else 1.0


def sparrow(x):
    """Names of that set: buyer and seller with their addresses in one, amounts as they are."""
    d, out = x["data"], []
    def put(path, value, *of):
        if value:
            out.append((path, value, min(confidence(x, f) for f in of)))
    for side, name in (("client", "buyer"), ("seller", "seller")):
        if d.get(name + "_name"):
            put("header." + side, " ".join(filter(None, [spans(x, name + "_name"), spans(x, name + "_address")])), name + "_name", name + "_address")
        put(f"header.{side}_tax_id", d.get(name + "_tax_id"), name + "_tax_id")
    put("header.iban", d.get("iban"), "iban")
    put("header.invoice_no", d.get("invoice_number"), "invoice_number")
    put("header.invoice_date", d.get("invoice_date"), "invoice_date")
    for i, item in enumerate(d.get("items", [])):
        for ours, theirs in (("description", "item_desc"), ("gross_amount", "item_gross_worth"), ("unit_price", "item_net_price"), ("net_amount", "item_net_worth"), ("quantity", "item_qty"), ("tax_rate", "item_vat")):
            value = item.get(ours)
            put(f"items.{theirs}", value + "%" if value and ours == "tax_rate" else value, f"items[{i}].{ours}")
    for ours, theirs in (("total_amount", "total_gross_worth"), ("tax_basis_total", "total_net_worth"), ("tax_total", "total_vat")):
        put("summary." + theirs, d.get(ours), ours)
    return out


def invoice2data(x):
    names = {"total_amount": "amount", "tax_basis_total": "amount_untaxed", "invoice_date": "date", "seller_name": "issuer", "seller_tax_id": "vat", "order_number": "order_id"}
    # Numbers of taxpayers stand in the truth as they are printed.
    return [(names.get(path, path), spans(x, path) if path == "seller_tax_id" else value, c) for path, value, c in plain(x)]


def plain(x):
    out = []
    def walk(value, path, name):
        if isinstance(value, dict):
            for k, v in value.items():
                walk(v, f"{path}.{k}" if path else k, f"{name}.{k}" if name else k)
        elif isinstance(value, list):
            for i, v in enumerate(value):
                walk(v, f"{path}[{i}]", name)
        else:
            out.append((name, value, confidence(x, path)))
    walk(x["data"], "", "")
    return out


MAPS = {"sparrow_invoices": sparrow, "invoice2data": invoice2data}


def nested(triples):
    out = {}
    for path, value, _ in triples:
        out.setdefault(path, []).append(value)
    return out


def flat(value):
    out = {}
    def walk(v, name):
        if isinstance(v, dict):
            for k, w in v.items():
                walk(w, f"{name}.{k}" if name else k)
        elif isinstance(v, list):
            for w in v:
                walk(w, name)
        elif v is not None and str(v).strip():
            out.setdefault(name, []).append(v)
    walk(value, "")
    return out


def extract(args, name, spec, files):
    if args.sight:
        where = {"generated_invoices": "gen", "generated_receipts": "gen"}.get(name, name)
        words = [os.path.join(args.words, where, os.path.splitext(os.path.basename(f))[0] + ".json") for f in files]
        run = subprocess.run([args.sight, spec["schema"], *words], stdout=subprocess.PIPE, check=True, text=True)
        return {os.path.splitext(os.path.basename(o["path"]))[0]: o["extraction"] for o in map(json.loads, run.stdout.splitlines())}
    command = [args.docmill, "extract", "--json", "--schema", spec["schema"], *spec["flags"], *files]
    environment = dict(os.environ, **({"DOCMILL_DATA": args.data} if args.data else {}))
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment)
    return {os.path.splitext(os.path.basename(o["path"]))[0]: o for o in map(json.loads, run.stdout.splitlines())}


def score(args, name, spec, truth, found):
    sys.path.insert(0, os.path.join(args.shared, "scorers"))
    with tempfile.TemporaryDirectory() as folder:
        triples = {k: MAPS.get(name, plain)(x) for k, x in found.items()}
        paths = {}
        for what, value in (("pred", {k: nested(v) for k, v in triples.items()}), ("truth", {k: flat(v) for k, v in truth.items()})):
            paths[what] = os.path.join(folder, what + ".json")
            json.dump(value, open(paths[what], "w"))
        command = [sys.executable, os.path.join(args.shared, "scorers/score_fields.py"), paths["pred"], paths["truth"], *spec["score"]]
        result = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    import score_fields
    dayfirst = "--dayfirst" in spec["score"]
    right = accepted = given = 0
    for k, values in truth.items():
        rest = {f: [score_fields.nv(v, f, dayfirst) for v in vs] for f, vs in flat(values).items()}
        given += sum(map(len, rest.values()))
        for path, value, sure in triples.get(k, []):
            if path not in rest:
                continue
            said = score_fields.nv(value, path, dayfirst)
            good = said in rest[path]
            args.told.append((name, k, sure, good))
            if sure >= args.accepted:
                accepted += 1
                right += good
            if args.failures and not good:
                print(f"  {name} {k} {path} [{sure:.2f}]: {value!r} not {flat(values)[path]!r}")
            if good:
                rest[path].remove(said)
        if args.failures:
            for f, vs in rest.items():
                if vs and not any(p == f for p, *_ in triples.get(k, [])):
                    print(f"  {name} {k} {f}: missing {vs!r}")
    result["accepted_precision"] = round(right / max(1, accepted), 4)
    result["accepted_coverage"] = round(accepted / max(1, given), 4)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docmill", help="the binary; built if it is not given")
    parser.add_argument("--data", help="a data directory with models")
    parser.add_argument("--write", action="store_true", help="write the results and the tables in docs/quality.md")
    parser.add_argument("--shared", default=os.path.join(HERE, "../../../shared"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--generated", help="a folder of `docmill generate --out`; made with a fixed seed if not given")
    parser.add_argument("--accepted", type=float, default=ACCEPTED)
    parser.add_argument("--sight")
    parser.add_argument("--words")
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--boxes", action="store_true", help="look the boxes of accepted fields up on the drawn pages")
    args = parser.parse_args()
    args.told = []
    if args.boxes or any(SETS[name].get("poor") for name in args.sets.split(",")):
        with_packages("ocr", "pillow:PIL", "numpy", "rapidfuzz")
    if not args.sight:
        args.docmill = str(release(args.docmill))
    before, results = machine(), {}
    with tempfile.TemporaryDirectory() as folder:
        for name in args.sets.split(","):
            spec = SETS[name]
            if "kind" in spec:
                made = args.generated or os.path.join(folder, "made")
                if not os.path.exists(made):
                    subprocess.run([args.docmill, "generate", "--count", "60", "--seed", "7", "--kinds", "invoice,receipt", "--out", made], check=True)
                truth = json.load(open(os.path.join(made, "truth", spec["kind"] + ".json")))
                docs = os.path.join(made, "docs")
            else:
                where = os.path.join(args.shared, "corpus/fields", spec.get("where", name))
                truth, docs = json.load(open(os.path.join(where, spec["truth"]))), os.path.join(where, "docs")
                if spec.get("poor"):
                    good, docs = docs, os.path.join(folder, "poor")
                    if not os.path.exists(docs):
                        subprocess.run([sys.executable, os.path.join(HERE, "../read/degrade.py"), good, docs], check=True)
            if "fields" in spec:
                truth = {k: {f: v for f, v in vs.items() if f in spec["fields"].split()} for k, vs in truth.items()}
            files = [f for f in sorted(glob.glob(docs + "/*")) if os.path.splitext(os.path.basename(f))[0] in truth]
            started = time.monotonic()
            found = extract(args, name, spec, files)
            seconds = (time.monotonic() - started) / max(1, len(files))
            results[name] = dict(score(args, name, spec, truth, found), seconds_each=round(seconds, 2))
            r = results[name]
            print(f"{name}: f1 {r['f1']} precision {r['precision']} recall {r['recall']}; accepted: precision {r['accepted_precision']} coverage {r['accepted_coverage']}")
            print("  ", r["per_field_f1"])
            if args.boxes:
                r["boxes"] = boxes.check(args.docmill, files, found, args.accepted)
                print(f"   boxes: {r['boxes']['boxes']}, confirmed {r['boxes']['confirmed']}, fields without {r['boxes']['without']}")
                print("\n".join("   " + line for line in r["boxes"]["unconfirmed"]))
    steps = reliability(args.told)
    if args.write:
        document = {"machine": before, "sets": results, "reliability": steps}
        write_reading("extract", "bench/extract/run.py --write", document, markdown(results, steps), "extract.json")


def reliability(told):
    """How often values are right, by how sure they are said to be. Of every second document, in the order of names."""
    order = {key: at for at, key in enumerate(sorted({(name, k) for name, k, *_ in told}))}
    steps = []
    for low, high in [(0, 0.5), (0.5, 0.7), (0.7, 0.8), (0.8, 0.85), (0.85, 0.9), (0.9, 0.95), (0.95, 1.01)]:
        for half in (0, 1):
            inside = [(s, good) for name, k, s, good in told if low <= s < high and order[name, k] % 2 == half]
            if half == 0:
                steps.append({"from": low, "to": min(high, 1)})
            part = {"values": len(inside), "sure": mean(s for s, _ in inside), "right": mean(good for _, good in inside)}
            steps[-1]["even" if half == 0 else "odd"] = part
    return steps


def mean(values):
    values = list(values)
    return round(sum(values) / len(values), 3) if values else None


BARS = {"zugferd_inside": 0.99, "zugferd": 0.80, "sroie": 0.70, "sparrow_invoices": 0.75, "kleister_nda": 0.60, "generated_invoices": 0.95, "generated_receipts": 0.95}


def markdown(results, steps):
    lines = ["| set | documents | F1 | bar | accepted, precision | accepted, coverage | seconds each |", "|---|---|---|---|---|---|---|"]
    for name, r in results.items():
        lines.append(f"| `{name}` | {r['docs']} | {r['f1']} | {BARS.get(name, '–')} | {r['accepted_precision']} | {r['accepted_coverage']} | {r['seconds_each']} |")
    lines += ["", "| said to be | even documents: values | right | odd documents: values | right |", "|---|---|---|---|---|"]
    shown = lambda part: f"{part['values']} | {'–' if part['right'] is None else part['right']}"
    lines += [f"| {s['from']}–{s['to']} | {shown(s['even'])} | {shown(s['odd'])} |" for s in steps]
    return lines


if __name__ == "__main__":
    main()
