"""Draw the house from its own imports: a room for each package, a room stands above what it uses.

``make generated`` writes ``docs/floors.svg``; a test compares it with the code.
``python docs/draw_floors.py`` says how many rooms and floors there are, which rooms use each
other in a circle, and how many arrows point up in the order of layers that ``pyproject.toml`` sets.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "floors.svg"
OPENED = ("harness", "analysis", "analysis.methods")  # their packages are rooms of their own
GROUND = (
    "analysis.errors",
    "analysis.registry",
    "analysis.version",
    "analysis.words",
    "harness.errors",
)
ROW, BOX, GAP = 92, 46, 14
SHARES = {"harness": (20, 470), "analysis": (520, 900)}  # where each half begins, and its width
WIDTH = 1440
COLOURS = {"harness": ("#fbe9ec", "#b4415c"), "analysis": ("#e6eef7", "#2f6299")}


def modules() -> dict[str, Path]:
    """Give every module of both halves by its name."""
    found = {}
    for half in ("harness", "analysis"):
        for path in sorted((ROOT / half).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def room(module: str) -> str:
    """Give the room that a module stands in."""
    parts = module.split(".")
    for depth in range(len(parts), 0, -1):
        if ".".join(parts[: depth - 1]) in OPENED:
            return ".".join(parts[:depth])
    return parts[0]


def imports(module: str, path: Path) -> Iterator[str]:
    """Give the modules that a module imports, wherever in the file, of our own two packages."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(up if node.level else []), *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def house() -> tuple[dict[str, int], set[tuple[str, str]]]:
    """Give the lines of each room, and which room uses which."""
    known = modules()
    lines: dict[str, int] = {}
    arrows = set()
    for module, path in known.items():
        mine = room(module)
        if mine in OPENED:  # a face of an opened package holds no code
            continue
        lines[mine] = lines.get(mine, 0) + len(path.read_text(encoding="utf-8").splitlines())
        for used in imports(module, path):
            name = used
            while name and name not in known:
                name = name.rpartition(".")[0]
            if name and (other := room(name)) != mine and other not in OPENED:
                arrows.add((mine, other))
    return lines, arrows


def floors(lines: dict[str, int], arrows: set[tuple[str, str]]) -> dict[str, int]:
    """Put each room one floor above the highest that it uses; circles cannot be drawn."""
    below = {name: {b for a, b in arrows if a == name} for name in lines}
    found: dict[str, int] = {}
    while len(found) < len(lines):
        ready = [n for n in lines if n not in found and below[n] <= set(found)]
        if not ready:
            raise SystemExit(f"a circle among {sorted(set(lines) - set(found))}")
        found |= {n: 1 + max((found[b] for b in below[n]), default=0) for n in ready}
    return found


def circles(lines: dict[str, int], arrows: set[tuple[str, str]]) -> list[set[str]]:
    """Give the groups of rooms in which each uses, directly or through others, every other one."""
    reached = {name: {b for a, b in arrows if a == name} for name in lines}
    for middle in lines:
        for own in reached.values():
            if middle in own:
                own.update(reached[middle])
    found = []
    for name in lines:
        group = {other for other in reached[name] if name in reached[other]}
        if group and group not in found:
            found.append(group)
    return found


def arrows_up(arrows: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Give the uses of a room of a higher layer, or of another one of the same layer."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layer = {
        f"{contract['containers'][0]}.{name.strip()}": depth
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
        for depth, row in enumerate(contract["layers"])
        for name in row.split("|")
    }

    def depth(room: str) -> int | None:
        return layer.get(".".join(room.split(".")[:2]))  # all methods are one layer

    return [
        (upper, lower)
        for upper, lower in sorted(arrows)
        if (a := depth(upper)) is not None
        and (b := depth(lower)) is not None
        and upper.split(".")[0] == lower.split(".")[0]
        and a >= b
    ]


def count() -> str:
    """Say how many rooms, floors, circles and arrows up the house has.

    The methods count as one room, and modules that stand directly in a half (its front) as none.
    """
    known, (lines, arrows) = modules(), house()
    packages = {name for name in lines if known[name].name == "__init__.py"}
    rooms = {".".join(name.split(".")[:2]) for name in packages}
    round_about = circles(lines, arrows)
    height = "none" if round_about else max(floors(lines, arrows).values())
    up = arrows_up(arrows)
    return "\n".join(
        [
            f"rooms {len(rooms)}",
            f"floors {height}",
            f"circles {len(round_about)}",
            *(f"  {', '.join(sorted(group))}" for group in round_about),
            f"arrows up {len(up)}",
            *(f"  {upper} -> {lower}" for upper, lower in up),
        ]
    )


def picture() -> str:
    """Give the drawing as SVG."""
    lines, arrows = house()
    levels = floors(lines, arrows)
    top = max(levels.values())
    places: dict[str, tuple[float, float, float]] = {}
    for level in range(1, top + 1):
        for half, (left, share) in SHARES.items():
            row = sorted(n for n in lines if levels[n] == level and n.startswith(half))
            widths = [max(84, 8.2 * len(_short(name)) + 18) for name in row]
            x = left + (share - sum(widths) - GAP * (len(row) - 1)) / 2
            for name, width in zip(row, widths, strict=True):
                places[name] = (x, 60 + (top - level) * ROW, width)
                x += width + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top * ROW + 90}" '
        'font-family="DejaVu Sans, sans-serif" font-size="13">',
        "<title>The rooms of fairtrial, each above what it uses</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        *(
            f'<text x="{left + share / 2}" y="34" font-size="17" text-anchor="middle">{half}/</text>'
            for half, (left, share) in SHARES.items()
        ),
    ]
    for upper, lower in sorted(arrows):
        if lower in GROUND:
            continue  # nearly everybody stands on these
        (x1, y1, w1), (x2, y2, w2) = places[upper], places[lower]
        a, b = x1 + w1 / 2, x2 + w2 / 2
        parts.append(
            f'<path d="M{a:.0f} {y1 + BOX} C{a:.0f} {y1 + BOX + 30} {b:.0f} {y2 - 30} {b:.0f} {y2}" '
            'fill="none" stroke="#8a8f98" stroke-opacity="0.45"/>'
        )
    for name, (x, y, width) in sorted(places.items()):
        fill, ink = COLOURS[name.split(".")[0]]
        weight = ' stroke-width="3"' if name in GROUND else ""
        parts.append(
            f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{BOX}" rx="4" fill="{fill}" '
            f'stroke="{ink}"{weight}/><text x="{x + 8:.0f}" y="{y + 19}">{escape(_short(name))}</text>'
            f'<text x="{x + 8:.0f}" y="{y + 36}" font-size="11" fill="#5a5f66">'
            f"{_size(lines[name])}</text>"
        )
    parts.append(
        f'<text x="30" y="{top * ROW + 70}" font-size="12" fill="#5a5f66">a room stands above what '
        "it uses; thick frame: used by nearly all, its arrows are not "
        "drawn</text>"
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _short(name: str) -> str:
    """Leave out the half, which the column says."""
    return name.partition(".")[2]


def _rough(lines: int) -> int:
    """Round the size, so that the picture is not stale after every line."""
    return 500 * round(lines / 500)


def _size(lines: int) -> str:
    return f"{_rough(lines)} lines" if _rough(lines) else "small"


if __name__ == "__main__":
    sys.stdout.write(count() + "\n")
