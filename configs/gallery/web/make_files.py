"""Write the files that nginx hands out: 200, 9,000 and 60,000 bytes of text, the same everywhere."""

import pathlib
import random

rng = random.Random(1)
words = ["".join(rng.choice("etaoinshrdlu") for _ in range(rng.randint(2, 9))) for _ in range(2000)]
text = " ".join(rng.choice(words) for _ in range(20_000))
pathlib.Path("files").mkdir(exist_ok=True)
for name, size in (("small", 200), ("mid", 9_000), ("big", 60_000)):
    pathlib.Path("files", f"{name}.txt").write_text(text[:size])
