#!/usr/bin/env python3
"""What does it cost to decode a photograph of 12 megapixels and to make it fit 2048 pixels?

    bench/read/images.py [--shared DIR] [--docmill FILE] [--write]

One photograph, `corpus/heic/IMG_1034.heic`, as it is and as a JPEG file of 4032 by 3024 pixels. Each is ingested once;
then `docmill page` writes it 2048 pixels wide, as PNG: it starts, opens the data directory, starts a sandboxed child
that decodes, turns and shrinks the picture, and compresses the result. The CPU time of all that is what is compared with
the bar of JPEG; the best of some rounds counts. The bar of HEIC is for decoding alone: the same pixels as BMP, which need
no decoding, are taken off. Pillow does decode, shrink and PNG beside it, in turns, in processes of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
from measure import ROOT, machine, table, write_reading  # noqa: E402
from tools import release, timed, with_packages  # noqa: E402

with_packages("images", "pillow:PIL", "pillow-heif:pillow_heif")
import pillow_heif  # noqa: E402
from PIL import Image  # noqa: E402

PHOTO = "corpus/heic/IMG_1034.heic"
SIZE = (4032, 3024)
BARS = {"jpeg": ("cpu_s", 0.30), "heic": ("decoding_cpu_s", 0.90), "bmp": (None, None)}
BY_PILLOW = """
import sys
from PIL import Image
if sys.argv[1].endswith("heic"):
    import pillow_heif
    pillow_heif.register_heif_opener()
picture = Image.open(sys.argv[1])
picture.thumbnail((2048, 2048))
picture.convert("RGB").save(sys.argv[2])
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder with the corpus")
    parser.add_argument("--docmill", type=Path, help="a release build of docmill; built if it is not given")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the results and the table in docs/quality.md")
    options = parser.parse_args()
    before, docmill = machine(), release(options.docmill)
    with tempfile.TemporaryDirectory(prefix="docmill-images-") as folder:
        measured = [measure(docmill, kind, path, options.rounds) for kind, path in photos(options.shared, Path(folder))]
    plain = next(m["cpu_s"] for m in measured if m["kind"] == "bmp")
    for each in measured:
        each["decoding_cpu_s"] = round(max(0.0, each["cpu_s"] - plain), 3)
    results = {"machine": before, "pillow": Image.__version__, "photos": measured}
    table(["photograph", "megapixels", "CPU s", "of it decoding", "bar", "Pillow"], [row(m) for m in measured])
    if options.write:
        write_reading("images", "bench/read/images.py --write", results, markdown(measured))
    missed = [m["kind"] for m in measured if m["bar"] is not None and m[BARS[m["kind"]][0]] > m["bar"]]
    if missed:
        sys.exit("missed: " + ", ".join(missed))


def photos(shared, folder):
    heic = shared / PHOTO
    pillow_heif.register_heif_opener()
    jpeg = folder / "photo.jpg"
    with Image.open(heic) as picture:
        picture.convert("RGB").resize(SIZE).save(jpeg, quality=90)
    plain = folder / "photo.bmp"
    with Image.open(heic) as picture:
        picture.convert("RGB").save(plain)
    return [("jpeg", jpeg), ("heic", heic), ("bmp", plain)]


def measure(docmill, kind, path, rounds):
    with tempfile.TemporaryDirectory(prefix="docmill-images-") as data:
        base = [docmill, "--data", data]
        # Only the picture is wanted here, not what is written on it.
        without = {**os.environ, "DOCMILL_OCR_MODE": "never"}
        subprocess.run([*base, "--quiet", "ingest", path], check=True, stdout=subprocess.DEVNULL, env=without)
        listed = json.loads(subprocess.run([*base, "--json", "list"], check=True, stdout=subprocess.PIPE).stdout)
        document = listed["documents"][0]["document_id"]
        png = Path(data) / "page.png"
        ours, others = [], []
        for _ in range(rounds):
            png.unlink(missing_ok=True)
            ours.append(timed([*base, "page", document, "1", "--width", "2048", "--output", png])[1])
            with Image.open(png) as drawn:
                assert drawn.width == 2048, drawn.size
            png.unlink()
            others.append(timed([sys.executable, "-c", BY_PILLOW, path, png])[1])
            assert png.exists()
    with Image.open(path) as picture:
        megapixels = round(picture.width * picture.height / 1e6, 1)
    return {
        "kind": kind, "megapixels": megapixels, "cpu_s": round(min(ours), 3), "bar": BARS[kind][1],
        "pillow_cpu_s": round(min(others), 3), "rounds": [round(each, 3) for each in ours],
    }


def row(measured):
    return ["–" if measured[key] is None else measured[key] for key in ("kind", "megapixels", "cpu_s", "decoding_cpu_s", "bar", "pillow_cpu_s")]


def markdown(measured):
    yield "| photograph | megapixels | CPU s, all of `docmill page` | of it decoding | bar | Pillow, CPU s |"
    yield "|---|---|---|---|---|---|"
    for each in measured:
        yield "| " + " | ".join(str(cell) for cell in row(each)) + " |"


if __name__ == "__main__":
    main()
