"""Makes poor copies of scans, always the same ones: the paper is lit from one corner and stained, the page lies askew,
the picture is soft, grainy, small and saved badly.

    python3 bench/read/degrade.py FROM TO

FROM is a folder of JPEG or PNG files; TO gets a JPEG of the same name for each. Needs Pillow and numpy.
"""

import random
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

SEED = 4711


def degrade(picture, name):
    seed = zlib.crc32(name.encode()) ^ SEED
    dice, noise = random.Random(seed), np.random.default_rng(seed)
    picture = picture.convert("L")
    picture = picture.rotate(dice.uniform(-3, 3), resample=Image.BICUBIC, expand=True, fillcolor=255)
    factor = dice.uniform(0.55, 0.75)
    picture = picture.resize((int(picture.width * factor), int(picture.height * factor)), Image.BILINEAR)
    picture = picture.filter(ImageFilter.GaussianBlur(dice.uniform(0.4, 0.8)))
    pixels = np.asarray(picture, dtype=np.float32)
    height, width = pixels.shape
    down, across = np.mgrid[0:height, 0:width].astype(np.float32)
    # Ink fades, then light falls from one corner.
    pixels = 255 - (255 - pixels) * dice.uniform(0.55, 0.75)
    corner_x, corner_y = dice.choice([0, width]), dice.choice([0, height])
    distance = np.hypot((across - corner_x) / width, (down - corner_y) / height)
    pixels *= 1 - dice.uniform(0.35, 0.55) * np.clip(distance, 0, 1.2)
    for _ in range(dice.randint(2, 4)):
        x, y = dice.uniform(0, width), dice.uniform(0, height)
        size = dice.uniform(0.08, 0.2) * max(width, height)
        pixels *= 1 - dice.uniform(0.15, 0.35) * np.exp(-((across - x) ** 2 + (down - y) ** 2) / (2 * size**2))
    pixels += noise.normal(0, dice.uniform(6, 12), pixels.shape)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def main():
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.suffix.lower() in {".jpg", ".jpeg", ".png"}:
            degrade(Image.open(path), path.stem).save(target / f"{path.stem}.jpg", quality=45)


if __name__ == "__main__":
    main()
