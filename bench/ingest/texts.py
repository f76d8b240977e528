"""Distinct small texts made of real posts: paragraphs of the corpus, recombined by a fixed seed.

They are about as long as the posts themselves (1.5 kB on average). The same count gives the same files on every machine, and the first thousand of ten thousand are the thousand.
"""

import hashlib
import random
import re
from pathlib import Path

FILES_PER_FOLDER = 1000
HEADER = re.compile(r"(From |[A-Z][A-Za-z-]*: )")


def paragraphs(corpus):
    """Every paragraph of every post, in a fixed order."""
    found = []
    for path in sorted(Path(corpus).rglob("*.txt")):
        for paragraph in decoded(path.read_bytes()).replace("\r\n", "\n").split("\n\n"):
            paragraph = paragraph.strip()
            # A text that begins with a mail header would rightly be taken for a mail.
            if 40 <= len(paragraph) <= 2000 and not HEADER.match(paragraph):
                found.append(paragraph)
    if len(found) < 100:
        raise SystemExit(f"{corpus} holds {len(found)} paragraphs, fewer than the 100 that are needed")
    return found


def decoded(post):
    """Old posts are UTF-8 or Latin-1."""
    try:
        return post.decode("utf-8")
    except UnicodeDecodeError:
        return post.decode("latin-1")


def write(corpus, folder, count):
    """Writes `count` texts under `folder`; returns their bytes and, for a check, one text and its path."""
    pool = paragraphs(corpus)
    seen, total, sample = set(), 0, None
    for number in range(count):
        draw = random.Random(number)
        while True:
            text = "\n\n".join(draw.sample(pool, draw.randint(3, 8))) + "\n"
            digest = hashlib.sha256(text.encode()).digest()
            if digest not in seen:
                break
        seen.add(digest)
        path = Path(folder) / f"{number // FILES_PER_FOLDER:04}" / f"post-{number:06}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        total += len(text.encode())
        if number == count // 2:
            sample = (path, text)
    return total, sample
