"""Writes the figures of a bench to bench/results and its table into docs/quality.md."""

import json
import time

from measure import ROOT, commit


def write(name, made_by, mark, results, lines):
    document = {
        "made_by": made_by,
        "made_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": commit(),
        **results,
    }
    path, page = ROOT / "bench" / "results" / f"{name}.json", ROOT / "docs" / "quality.md"
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    text = page.read_text()
    begin, end = f"<!-- begin: {mark} -->\n", f"<!-- end: {mark} -->"
    head, tail = text.split(begin)[0], text.split(end)[1]
    page.write_text(head + begin + "\n".join(lines) + "\n" + end + tail)
    print(f"\nwritten to {path.relative_to(ROOT)} and {page.relative_to(ROOT)}")
