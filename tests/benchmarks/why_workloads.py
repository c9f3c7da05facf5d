"""Three small programs in one, each with a handful of functions: the study of false names (why_names.py) profiles them."""

import sys


def key(number: int) -> int:
    """Give what numbers are sorted by."""
    total = 0
    for factor in range(20):
        total += number * factor % 7
    return total


def order(count: int) -> list[int]:
    """Sort numbers."""
    return sorted(range(count), key=key)


def digits(number: int) -> str:
    """Write a number's square."""
    return str(number * number)


def count_digits(count: int) -> dict[str, int]:
    """Count the digits of many numbers."""
    found: dict[str, int] = {}
    for number in range(count):
        for sign in digits(number):
            found[sign] = found.get(sign, 0) + 1
    return found


def leaf(depth: int) -> int:
    """Give the value of a leaf."""
    return depth % 3


def walk(depth: int) -> int:
    """Add up the leaves of a tree."""
    return leaf(depth) if depth == 0 else walk(depth - 1) + walk(depth - 1) + 1


if __name__ == "__main__":
    {
        "sort": lambda: order(20_000),
        "digits": lambda: count_digits(30_000),
        "tree": lambda: walk(16),
    }[sys.argv[1]]()
