#!/usr/bin/env python3
"""What happens to documents that are far too large?

    bench/read/huge.py [--docmill FILE] [--write]

Makes, always the same way, a PDF file of a million pages (with a table of objects and without one), a text file, an HTML
page, a CSV table and a JSON file of 512 MB each, and a DOCX file whose text has 512 MB when it is unpacked. Each goes through `docmill
ingest` into a fresh data directory. Expected is text up to a limit, a problem that names the limit and the setting, a
ledger that balances, and no child above its memory limit.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
from measure import ROOT, MemoryOfTree, commit, machine, table  # noqa: E402
from tools import release  # noqa: E402

PAGES = 1_000_000
TEXT_BYTES = 512 << 20
MEMORY_LIMIT = 1 << 30
WORDS = "mill stone water wheel grain flour sack miller river house window letter paper ledger account number".split()
RESULTS = ROOT / "bench" / "results" / "read_huge.json"


def pdf(path, with_table):
    """Every page has the same content, and its own place in the tree of pages."""
    content = b"BT /F 12 Tf 50 700 Td (The same words on every page) Tj ET"
    per_node = 1000
    with open(path, "wb") as out:
        offsets = {}

        def put(number, body):
            offsets[number] = out.tell()
            out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))

        out.write(b"%PDF-1.7\n")
        nodes = [5 + PAGES + n for n in range(PAGES // per_node)]
        put(1, b"<</Type/Catalog/Pages 2 0 R>>")
        put(2, b"<</Type/Pages/Count %d/Kids[%s]>>" % (PAGES, b" ".join(b"%d 0 R" % n for n in nodes)))
        put(3, b"<</Length %d>>\nstream\n%s\nendstream" % (len(content), content))
        put(4, b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
        for page in range(PAGES):
            put(5 + page, b"<</Type/Page/Parent %d 0 R/Contents 3 0 R>>" % nodes[page // per_node])
        for at, node in enumerate(nodes):
            kids = b" ".join(b"%d 0 R" % (5 + at * per_node + n) for n in range(per_node))
            put(
                node,
                b"<</Type/Pages/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 4 0 R>>>>/Count %d/Kids[%s]>>"
                % (per_node, kids),
            )
        begin = out.tell()
        if with_table:
            out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1))
            out.writelines(b"%010d 00000 n \n" % offsets[number] for number in sorted(offsets))
        out.write(b"trailer <</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(offsets) + 1, begin))


def lines(size, shape):
    """Lines of words by a fixed seed, as bytes, until there are `size` of them."""
    draw = random.Random(7)
    pool = [" ".join(draw.choices(WORDS, k=12)) for _ in range(997)]
    written, number = 0, 0
    while written < size:
        line = shape(number, pool[number * 31 % len(pool)]).encode()
        yield line
        written += len(line)
        number += 1


def text(path):
    with open(path, "wb") as out:
        out.writelines(lines(TEXT_BYTES, lambda n, words: f"{n} {words}\n"))


def html(path):
    with open(path, "wb") as out:
        out.write(b"<!doctype html><title>long</title><body>")
        out.writelines(lines(TEXT_BYTES, lambda n, words: f"<p>{n} {words}</p>\n"))


def csv(path):
    with open(path, "wb") as out:
        out.writelines(lines(TEXT_BYTES, lambda n, words: f'{n},"{words}",{n * 3}\n'))


def json_file(path):
    with open(path, "wb") as out:
        out.write(b"[")
        out.writelines(lines(TEXT_BYTES, lambda n, words: f'{{"number": {n}, "words": "{words}"}},\n'))
        out.write(b"0]")


def docx(path):
    names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'wordprocessingml.document.main+xml"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        'Target="word/document.xml"/></Relationships>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        for name, body in parts.items():
            out.writestr(name, body)
        with out.open("word/document.xml", "w", force_zip64=True) as body:
            body.write(f"<w:document {names}><w:body>".encode())
            for line in lines(TEXT_BYTES, lambda n, words: f"<w:p><w:r><w:t>{n} {words}</w:t></w:r></w:p>\n"):
                body.write(line)
            body.write(b"</w:body></w:document>")


SAMPLES = {
    "million-pages.pdf": lambda path: pdf(path, True),
    "million-pages-no-table.pdf": lambda path: pdf(path, False),
    "long.txt": text,
    "long.html": html,
    "long.csv": csv,
    "long.json": json_file,
    "long.docx": docx,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docmill", type=Path, help="a release build of docmill; built if it is not given")
    parser.add_argument("--only", nargs="*", default=list(SAMPLES), choices=list(SAMPLES))
    parser.add_argument("--write", action="store_true", help="write the results")
    options = parser.parse_args()
    before = machine()
    docmill = release(options.docmill)
    rows = {}
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="docmill-huge-") as folder:
            rows[name] = one(docmill, Path(folder), name)
        print(name, json.dumps(rows[name]), flush=True)
    table(
        ["file", "MB", "seconds", "peak of a child, MB", "pages", "text, MB", "result"],
        [
            (name, r["file_mb"], r["wall_s"], r["child_peak_mb"], r["pages"], r["text_mb"], r["result"])
            for name, r in rows.items()
        ],
    )
    if options.write:
        document = {
            "made_by": "bench/read/huge.py --write",
            "made_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "commit": commit(),
            "machine": before,
            "files": rows,
        }
        RESULTS.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        print(f"\nwritten to {RESULTS.relative_to(ROOT)}")
    bad = [name for name, row in rows.items() if row["faults"]]
    if bad:
        sys.exit(f"not as expected: {', '.join(bad)}")


class PeakOfChildren(MemoryOfTree):
    """Also keeps the largest memory that one child had."""

    def __init__(self, pid):
        super().__init__(pid)
        self.largest = 0

    def run(self):
        from measure import PAGE, family

        while not self.over.wait(0.05):
            for pid in family(self.pid)[1:]:
                try:
                    rss = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
                except (OSError, IndexError):
                    continue
                self.largest = max(self.largest, rss)


def one(docmill, folder, name):
    path, data = folder / name, folder / "data"
    SAMPLES[name](path)
    call = lambda *arguments: [docmill, "--data", data, *arguments]  # noqa: E731
    begin = time.monotonic()
    process = subprocess.Popen(
        call("--json", "ingest", path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    memory = PeakOfChildren(process.pid)
    memory.start()
    process.stdout.read()
    status = process.wait()
    memory.stop()
    wall = time.monotonic() - begin
    audit = subprocess.run(call("audit"), stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode
    listed = json.loads(subprocess.run(call("--json", "list"), capture_output=True, check=True).stdout)
    listed = listed if isinstance(listed, list) else listed.get("documents", listed.get("items", []))
    identity = listed[0].get("document_id") or listed[0].get("id")
    shown = json.loads(subprocess.run(call("--json", "show", identity), capture_output=True, check=True).stdout)
    text = subprocess.run(call("text", identity), capture_output=True, check=False).stdout
    ingestion = shown["ingestions"][0]
    problems = [p["message"] for p in ingestion.get("problems") or shown.get("problems") or []]
    faults = []
    if audit:
        faults.append(f"audit ends with {audit}")
    if not text.strip():
        faults.append("no text")
    if not any("limits." in p for p in problems):
        faults.append("no problem names a limit")
    if memory.largest > MEMORY_LIMIT:
        faults.append("a child had more than its memory limit")
    return {
        "file_mb": round(path.stat().st_size / 1e6, 1),
        "wall_s": round(wall, 1),
        "exit": status,
        "child_peak_mb": round(memory.largest / 1e6),
        "pages": shown.get("page_count"),
        "text_mb": round(len(text) / 1e6, 1),
        "result": ingestion.get("result"),
        "problems": problems[:3],
        "faults": faults,
    }


if __name__ == "__main__":
    main()
