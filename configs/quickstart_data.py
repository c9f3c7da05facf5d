"""Write the input files of quickstart.yaml: eight kinds of data, the same bytes everywhere.

    python3 quickstart_data.py [FOLDER] [SCALE]

FOLDER is `data`, next to this script, unless it is given; SCALE multiplies the sizes. A file that
already has the right bytes is left alone.

Any Python from 3.7 on gives the same files: only `random.Random.random` and SHA-256 are used,
whose results for a seed are promised to stay. (`randrange`, `choice` and `shuffle` make no such
promise.)
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import random
import struct
import sys
from collections.abc import Callable

SEED = 20261121


def whole(rng: random.Random, limit: int) -> int:
    """Draw a whole number from 0 to `limit` - 1."""
    return int(rng.random() * limit)


def skewed(rng: random.Random, limit: int) -> int:
    """Draw one from 0 to `limit` - 1, small ones far more often: words of a language are so."""
    return int(limit * rng.random() ** 3)


def vocabulary(rng: random.Random, count: int) -> list[str]:
    """Make up `count` words of one to five syllables, shorter ones first."""
    heads = [*"bcdfghklmnprstvw", "st", "tr", "pl", "ch"]
    vowels = [*"aeiou", "ea", "ou"]
    tails = ["", "", "", "n", "r", "s", "t", "l", "nd", "ng"]
    return [
        "".join(
            heads[whole(rng, len(heads))]
            + vowels[whole(rng, len(vowels))]
            + tails[whole(rng, len(tails))]
            for _ in range(1 + whole(rng, 2 + number * 4 // count))
        )
        for number in range(count)
    ]


def repeated(size: int, piece: Callable[[], str]) -> bytes:
    """Join pieces until there are `size` bytes, and cut what is too much."""
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(piece())
        length += len(parts[-1])
    return "".join(parts).encode("ascii")[:size]


def text(rng: random.Random, size: int) -> bytes:
    """Make prose: sentences of frequent and rare words."""
    words = vocabulary(rng, 6000)

    def sentence() -> str:
        line = " ".join(words[skewed(rng, 6000)] for _ in range(4 + whole(rng, 16)))
        return line.capitalize() + (".\n" if rng.random() < 0.3 else ". ")

    return repeated(size, sentence)


def logs(rng: random.Random, size: int) -> bytes:
    """Make a web server's log: a growing clock, few hosts, more paths."""
    words = vocabulary(rng, 300)
    second = 0

    def line() -> str:
        nonlocal second
        second += whole(rng, 3)
        host = f"10.0.{whole(rng, 4)}.{skewed(rng, 250)}"
        clock = f"{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
        path = f"/{words[skewed(rng, 40)]}/{words[skewed(rng, 300)]}"
        status = ("200", "200", "200", "304", "404")[whole(rng, 5)]
        return f'{host} [21/Nov/2026:{clock}] "GET {path} HTTP/1.1" {status} {whole(rng, 50000)}\n'

    return repeated(size, line)


def json_records(rng: random.Random, size: int) -> bytes:
    """Make one JSON object a line: the same keys again and again, other values."""
    words = vocabulary(rng, 800)
    number = 0

    def line() -> str:
        nonlocal number
        number += 1
        name = f"{words[skewed(rng, 800)]} {words[skewed(rng, 800)]}"
        score = f"{whole(rng, 100)}.{whole(rng, 10)}"
        active = ("true", "false")[whole(rng, 2)]
        tags = f'["{words[skewed(rng, 60)]}", "{words[skewed(rng, 60)]}"]'
        return (
            f'{{"id": {number}, "name": "{name}", "score": {score}, '
            f'"active": {active}, "tags": {tags}}}\n'
        )

    return repeated(size, line)


def table(rng: random.Random, size: int) -> bytes:
    """Make a table of numbers as text: four readings that wander."""
    values = [5000] * 4
    row = 0

    def line() -> str:
        nonlocal row
        row += 1
        for k in range(4):
            values[k] = abs(values[k] + whole(rng, 41) - 20)
        cells = ",".join(f"{value // 100}.{value % 100:02d}" for value in values)
        return f"{row},{cells}\n"

    return repeated(size, line)


def source(rng: random.Random, size: int) -> bytes:
    """Make program text: few words, much indentation, lines that look alike."""
    names = vocabulary(rng, 150)

    def statement() -> str:
        a, b, c = (names[skewed(rng, 150)] for _ in range(3))
        number = skewed(rng, 4096)
        shapes = (
            f"    {a} = {b}({c}, {number});\n",
            f"    if ({a}->{b} != {c}) return {number};\n",
            f"    for (int i = 0; i < {a}; i++) {b}[i] += {c}[{number}];\n",
            f"    {a}({b}, &{c}, 0x{number:04x});\n",
        )
        return shapes[whole(rng, len(shapes))]

    def function() -> str:
        head = f"static int {names[skewed(rng, 150)]}_{names[skewed(rng, 150)]}(int n)\n{{\n"
        body = "".join(statement() for _ in range(3 + whole(rng, 12)))
        return f"{head}{body}    return 0;\n}}\n\n"

    return repeated(size, function)


def binary(rng: random.Random, size: int) -> bytes:
    """Make fixed-size records: a counter, small numbers, coordinates, padding."""
    parts = []
    x = y = 1 << 20
    for number in range(size // 32):
        x += whole(rng, 2048) - 1024
        y += whole(rng, 2048) - 1024
        kind = skewed(rng, 6)
        parts.append(struct.pack("<IIqqHHI", number, kind, x, y, skewed(rng, 900), kind * 7, 0))
    return b"".join(parts)


def repetitive(rng: random.Random, size: int) -> bytes:
    """Make a few blocks over and over, as in a disk image: what compresses best."""
    blocks = [noise(rng, 1024) for _ in range(4)] + [bytes(4096)]
    parts = []
    length = 0
    while length < size:
        parts.append(blocks[whole(rng, len(blocks))])
        length += len(parts[-1])
    return b"".join(parts)[:size]


def noise(rng: random.Random, size: int) -> bytes:
    """Make bytes that nothing can compress, as encrypted or compressed data are."""
    key = whole(rng, 1 << 48)
    hashes = (hashlib.sha256(b"%d/%d" % (key, i)).digest() for i in range(-(-size // 32)))
    return b"".join(hashes)[:size]


# Bytes of each kind, chosen so that `gzip -6` takes some ten milliseconds.
FILES = {
    "text": (text, 200_000),
    "logs": (logs, 800_000),
    "json": (json_records, 800_000),
    "table": (table, 180_000),
    "source": (source, 500_000),
    "binary": (binary, 400_000),
    "repetitive": (repetitive, 3_200_000),
    "random": (noise, 800_000),
}


def contents(name: str, scale: float = 1.0) -> bytes:
    """Make the bytes of one file; its stream of random numbers is its own."""
    make, size = FILES[name]
    return make(random.Random(SEED + sum(name.encode())), int(size * scale))


def write(path: pathlib.Path, data: bytes) -> bool:
    """Write a file unless it is there: all of it or nothing, and to the disk before we return."""
    if path.exists() and path.read_bytes() == data:
        return False
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())  # or the disk is still busy with it when the first runs are timed
    fresh.replace(path)
    return True


def main(arguments: list[str]) -> None:
    """Write every file that is not there."""
    here = pathlib.Path(__file__).resolve().parent / "data"
    folder = pathlib.Path(arguments[0]) if arguments else here
    scale = float(arguments[1]) if len(arguments) > 1 else 1.0
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        data = contents(name, scale)
        fate = "written" if write(folder / name, data) else "there already"
        sys.stdout.write(f"{name:12} {len(data):8} bytes, {fate}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
