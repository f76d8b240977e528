#!/usr/bin/env python3
"""Scores `docmill extract` without a model on the shared sets and on generated documents.

usage: run.py [--docmill BIN] [--shared DIR] [--sets a,b] [--out FILE] [--sight BIN --words DIR]

With --sight the example of docmill-extract reads words that were written down before, which skips reading and
recognition: DIR/SET/ID.json has the pages of a document. --failures prints what is wrong.
"""
import argparse, glob, json, os, subprocess, sys, tempfile

ACCEPTED = 0.85
HERE = os.path.dirname(os.path.abspath(__file__))
SETS = {
    "zugferd": dict(schema="invoice", truth="truth_visible.json", flags=["--sources", "page"], score=[]),
    "sroie": dict(schema="receipt", truth="truth.json", flags=["--sources", "page"], score=["--dayfirst"]),
    "sparrow_invoices": dict(schema="invoice", truth="truth.json", flags=["--sources", "page"], score=[]),
    "invoice2data": dict(schema="invoice", truth="truth.json", flags=["--sources", "page"], score=[]),
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
    return [(names.get(path, path), value, c) for path, value, c in plain(x)]


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
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
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
    parser.add_argument("--docmill", default="docmill")
    parser.add_argument("--shared", default=os.path.join(HERE, "../../../shared"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--generated", help="a folder of `docmill generate --out`; made with a fixed seed if not given")
    parser.add_argument("--accepted", type=float, default=ACCEPTED)
    parser.add_argument("--out", help="a file for the results, such as bench/results/extract.json")
    parser.add_argument("--sight")
    parser.add_argument("--words")
    parser.add_argument("--failures", action="store_true")
    args = parser.parse_args()
    results = {}
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
                where = os.path.join(args.shared, "corpus/fields", name)
                truth, docs = json.load(open(os.path.join(where, spec["truth"]))), os.path.join(where, "docs")
            files = [f for f in sorted(glob.glob(docs + "/*")) if os.path.splitext(os.path.basename(f))[0] in truth]
            results[name] = score(args, name, spec, truth, extract(args, name, spec, files))
            r = results[name]
            print(f"{name}: f1 {r['f1']} precision {r['precision']} recall {r['recall']}; accepted: precision {r['accepted_precision']} coverage {r['accepted_coverage']}")
            print("  ", r["per_field_f1"])
    if args.out:
        json.dump(results, open(args.out, "w"), indent=2)
        open(args.out, "a").write("\n")


if __name__ == "__main__":
    main()
