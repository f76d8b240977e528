"""Do the boxes of values hold what they are said to hold? Looked up on the drawn page by somebody else.

Pages are drawn by `docmill page`, as people see them, and read by `tesseract` alone, which knows nothing of docmill's
words. A box is confirmed if what Tesseract reads inside it is what the evidence says, letter by letter or nearly so.
What it cannot make out on the page as a whole is cut out, made larger and read once more. A box is grown by a third of
its height before, because the edges of two recognisers differ.
"""
import csv, io, json, os, subprocess, tempfile
from pathlib import Path

WIDTH = 1600
GROW = 0.33
ALIKE = 80


def check(docmill, files, found, accepted):
    """How many boxes of accepted fields there are, how many are confirmed, and which are not."""
    boxes = list(wanted(files, found, accepted))
    told = {"boxes": len(boxes), "confirmed": 0, "without": without(found, accepted), "unconfirmed": []}
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        names = ingested(docmill, data, sorted({path for path, *_ in boxes}))
        pages = {}
        for path, number, span, frame, name in boxes:
            if (path, number) not in pages:
                png = os.path.join(folder, f"{len(pages)}.png")
                command = [docmill, "--data", data, "-q", "page", names[Path(path).name], str(number), "-o", png, "--width", str(WIDTH)]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                pages[path, number] = (png, read(png))
            png, (size, words) = pages[path, number]
            frame = grown(frame, size)
            seen = inside(words, frame)
            if not same(span, seen):
                seen = cut(png, frame)
            if same(span, seen):
                told["confirmed"] += 1
            else:
                told["unconfirmed"].append(f"{Path(path).name} {name}: `{span}`, but there stands `{seen}`")
    return told


def wanted(files, found, accepted):
    for path in files:
        for name, field in found.get(Path(path).stem, {}).get("fields", {}).items():
            for at in field["evidence"] if field["confidence"] >= accepted else []:
                if at["source"] == "page" and at.get("box"):
                    yield path, at["page"], at["span"], at["box"], name


def without(found, accepted):
    """Accepted fields of pages that have no box at all."""
    return sum(
        field["confidence"] >= accepted and any(at["source"] == "page" and not at.get("box") for at in field["evidence"])
        for record in found.values() for field in record["fields"].values()
    )


def ingested(docmill, data, files):
    """Documents by the names of their files. Nothing is recognised: only pictures of the pages are wanted."""
    environment = dict(os.environ, DOCMILL_OCR_MODE="never")
    for at in range(0, len(files), 50):
        subprocess.run([docmill, "--data", data, "-q", "ingest", *files[at : at + 50]], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    names, cursor = {}, []
    while True:
        answer = json.loads(subprocess.run([docmill, "--data", data, "--json", "list", *cursor], check=True, stdout=subprocess.PIPE).stdout)
        names.update({document["name"]: document["document_id"] for document in answer["documents"]})
        if not answer["next_cursor"]:
            return names
        cursor = ["--cursor", answer["next_cursor"]]


def tesseract(picture, *more):
    command = ["tesseract", picture, "-", *more]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_THREAD_LIMIT": "1"})
    return run.stdout.decode("utf-8", "replace")


def read(png):
    """The size of a page, and its words with their middles, in parts of it."""
    words, size = [], (1, 1)
    for row in csv.DictReader(io.StringIO(tesseract(png, "tsv")), delimiter="\t", quoting=csv.QUOTE_NONE):
        left, top, width, height = (int(row[key]) for key in ("left", "top", "width", "height"))
        if row["level"] == "1":
            size = (width, height)
        elif row["level"] == "5" and (row["text"] or "").strip():
            words.append((row["text"], (left + width / 2) / size[0], (top + height / 2) / size[1]))
    return size, words


def grown(frame, size):
    left, top, width, height = frame
    down = height * GROW
    across = down * size[1] / size[0]
    return left - across, top - down, left + width + across, top + height + down


def inside(words, frame):
    left, top, right, bottom = frame
    return " ".join(text for text, x, y in words if left <= x <= right and top <= y <= bottom)


def cut(png, frame):
    from PIL import Image

    page = Image.open(png).convert("L")
    left, top, right, bottom = frame
    edges = (max(0, left * page.width), max(0, top * page.height), min(page.width, right * page.width), min(page.height, bottom * page.height))
    part = page.crop(tuple(round(edge) for edge in edges))
    part = part.resize((part.width * 3, part.height * 3), Image.BICUBIC)
    # Letters that touch the edge are not read.
    framed = Image.new("L", (part.width + 60, part.height + 60), 255)
    framed.paste(part, (30, 30))
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        framed.save(file.name)
        return " ".join(tesseract(file.name, "--psm", "6").split())


def same(span, seen):
    from rapidfuzz import fuzz

    def plain(text):
        return "".join(c for c in text.lower() if c.isalnum())

    wanted, there = plain(span or ""), plain(seen)
    if not wanted:
        return (span or "").strip() in seen
    return wanted in there or len(there) >= len(wanted) * 0.7 and fuzz.partial_ratio(wanted, there) >= ALIKE
