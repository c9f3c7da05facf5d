"""How a file is damaged: by bytes, by lines, by values of JSON with a right checksum.

Every mutant comes of a `random.Random`, so a seed and a number give it again.
"""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

from analysis.record.shapes import encode_checked

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 2**31, 2**53, 2**63 - 1, 2**63, -(2**70), 10**400),
    *(1.5, -0.0, 1e308, 1e-320, "", "x", "a", "\ud800", "\0", "\x1b[31m\u202e", "../../etc/passwd"),
    *([], {}, [[1], 2], {"a": {}}, [None], "9" * 300, "2026-11-21T04:12:00Z", "lower", "ok"),
)
# What no encoder of JSON writes: it is put in as it stands.
RAW = ("NaN", "-Infinity", "1e999", "9" * 5000, "[" * 100_000, '"\\ud800"', '"\n"', "\ufeff")
TOKENS = (
    *(
        "&a ",
        "*a",
        "!!python/object:os.system ",
        "<<: ",
        "---\n",
        "...\n",
        "|\n",
        ">-\n",
        "? ",
        ": ",
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "#",
        "\t",
        "\r",
        "\x85",
        "\u2028",
        "\0",
        "\x1b",
        "\ufeff",
        "{{",
    ),
    *(
        "{level}",
        "{variant}",
        "{level",
        "0x10",
        "1_000",
        "1e999",
        ".inf",
        "~",
        "yes",
        "-1",
        "'",
        ",",
    ),
    *(
        "nan",
        "inf",
        "-0",
        "1e-400",
        "1,5",
        ";",
        "\n\n",
        " ",
        "NA",
        "# x\n",
        "\\N{BEL}",
        "\\x",
        "(a+)+$",
    ),
    *("protocol: ", "matrix: ", "stop: ", "runs: 0\n", "extends: x\n", "9" * 400, "1" * 5000 + "x"),
)

NUMBERS = (
    *(
        b"1e400",
        b"-1",
        b"NaN",
        b"-Infinity",
        b"Infinity",
        b"inf",
        b"0",
        b"-0.0",
        b"1e308",
        b"5e-324",
    ),
    *(
        b"9" * 400,
        b"9" * 5000,
        b"null",
        b"true",
        b"",
        b"1,5",
        b"1_0",
        b"0x10",
        b'"1"',
        b"[]",
        b"{}",
    ),
    *("\u0661\u0662".encode(), "\u00b2".encode(), b"1e", b"--", b"1.5.2", b" 1", b"2147483648"),
)
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")


def damaged(data: bytes, rng: Random) -> bytes:
    """Give a mutant of the bytes of a file."""
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        kind = rng.choice((_values, _values, _values, _bytes, _token, _lines))
        data = kind(data, rng)
    return data


def damaged_numbers(data: bytes, rng: Random) -> bytes:
    """Give a mutant of a file of results: also other numbers, copies, long lines, deep nesting."""
    if rng.random() < 0.5:
        return damaged(data, rng)
    for _ in range(rng.choice((1, 1, 2))):
        data = rng.choice((_number, _number, _number, _copy, _long))(data, rng)
    return data


def _number(data: bytes, rng: Random) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return _token(data, rng)
    place = rng.choice(found)
    return data[: place.start()] + rng.choice(NUMBERS) + data[place.end() :]


def _copy(data: bytes, rng: Random) -> bytes:
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return rng.choice((data + data, data + b"\n" + data, data[:b] + data[a:b] * 3 + data[b:]))


def _long(data: bytes, rng: Random) -> bytes:
    a = rng.randrange(len(data) + 1)
    more = rng.choice((b"x", b" ", b"[", b"1", b",", b"<a>", b'{"a":', b"\t", b"-")) * 50_000
    return data[:a] + more + data[a:]


def _bytes(data: bytes, rng: Random) -> bytes:
    a = rng.randrange(len(data) + 1)
    b = min(len(data), a + rng.choice((0, 1, 1, 2, 8, 64)))
    change = rng.randrange(5)
    if change == 0:
        return data[:a] + data[b:]
    if change == 1:
        return data[:a] + rng.randbytes(rng.choice((1, 1, 2, 8))) + data[b:]
    if change == 2:
        return data[:b] + data[a:]
    if change == 3:
        return data[:a]
    return data[:a] + bytes(byte ^ (1 << rng.randrange(8)) for byte in data[a:b]) + data[b:]


def _token(data: bytes, rng: Random) -> bytes:
    a = rng.randrange(len(data) + 1)
    b = min(len(data), a + rng.choice((0, 0, 1, 4)))
    token = rng.choice(TOKENS + RAW if rng.random() < 0.1 else TOKENS)
    return data[:a] + token.encode("utf-8", "surrogatepass") + data[b:]


def _lines(data: bytes, rng: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    change, a, b = rng.randrange(6), rng.randrange(len(lines)), rng.randrange(len(lines))
    if change == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif change == 1:
        del lines[a]
    elif change == 2:
        lines.insert(b, lines[a])
    elif change == 3:
        lines.reverse()
    elif change == 4:
        return b"\xef\xbb\xbf" + data
    else:
        lines = lines[:a]
    return b"".join(lines)


def _values(data: bytes, rng: Random) -> bytes:
    """Change a value of a JSON document, or of one of the lines that are such; else some bytes."""
    whole = data.strip().startswith((b"{\n", b"["))
    lines = [data] if whole else data.splitlines()
    k = rng.randrange(len(lines)) if lines else 0
    try:
        document = json.loads(lines[k])
    except (ValueError, IndexError, RecursionError):
        return (_token if rng.random() < 0.5 else _bytes)(data, rng)
    if not isinstance(document, dict | list) or not document:
        return _bytes(data, rng)
    checked = isinstance(document, dict) and document.pop("crc32", None) is not None
    _change(document, rng)
    raw = rng.choice(RAW) if rng.random() < 0.1 else None
    if raw is not None:
        _put(document, rng, "@raw@")
    try:
        text = encode_checked(document) if checked else json.dumps(document).encode()
    except ValueError:
        return _bytes(data, rng)
    if raw is not None:
        text = text.replace(b'"@raw@"', raw.encode("utf-8", "surrogatepass"))
    lines[k] = text
    return lines[0] if whole else b"\n".join(lines) + b"\n"


def _change(document: dict[str, Any] | list[Any], rng: Random) -> None:
    if isinstance(document, dict) and document and rng.random() < 0.15:
        del document[rng.choice(list(document))]
    elif isinstance(document, dict) and rng.random() < 0.1:
        document[rng.choice(("", "x", "\ud800", "schema", "further", "crc32"))] = rng.choice(VALUES)
    else:
        _put(document, rng, rng.choice(VALUES))


def _put(document: dict[str, Any] | list[Any], rng: Random, value: Any) -> None:
    """Put a value in the place of another one, anywhere within."""
    while document:  # an empty one has no place
        key = rng.choice(list(document) if isinstance(document, dict) else range(len(document)))
        inner = document[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.7:
            document = inner
            continue
        document[key] = value
        return
