"""One line of the table of all drills."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_HEADS = ("drill", "tried", "runs", "rows wrong", "left alive", "what failed", "remarks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of a drill.

    `tried` faults took effect; `runs` rows were held against plan and programs, `wrong` of them
    were lost, torn, twice or foreign; `left` processes outlived their trial; `failed` counts the
    violations by their text. `most` has the largest of each kind of cost, by its unit. `tried` is 0
    where a drill cannot be made here, and `note` says why.
    """

    drill: str
    tried: int = 0
    runs: int | None = None
    wrong: int = 0
    left: int | None = None
    failed: Mapping[str, int] = field(default_factory=dict)
    most: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def clean(self) -> bool:
        return not (self.wrong or self.left or self.failed)

    def cells(self) -> tuple[str, ...]:
        """Give what stands in the table."""
        runs = "–" if self.runs is None else f"{self.runs:,}"
        left = "–" if self.left is None else str(self.left)
        failed = str(sum(self.failed.values()))
        most = [f"{number:.3g} {unit}" for unit, number in self.most.items()]
        note = self.note + ("at most " + ", ".join(most) if most else "")
        return (self.drill, f"{self.tried:,}", runs, str(self.wrong), left, failed, note)


def merged(rows: Sequence[Row]) -> Row:
    """Give the sum of rows of one drill."""
    if len(rows) == 1:
        return rows[0]
    failed: Counter[str] = Counter()
    for row in rows:
        failed.update(row.failed)
    runs = [row.runs for row in rows if row.runs is not None]
    left = [row.left for row in rows if row.left is not None]
    return Row(
        drill=rows[0].drill,
        tried=sum(row.tried for row in rows),
        runs=sum(runs) if runs else None,
        wrong=sum(row.wrong for row in rows),
        left=sum(left) if left else None,
        failed=dict(failed),
        most={unit: max(row.most.get(unit, 0.0) for row in rows) for unit in rows[0].most},
        note=rows[0].note,
    )


def table(rows: Sequence[Row]) -> str:
    """Write the rows for a terminal, with each violation below its row."""
    cells = [_HEADS, *(row.cells() for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(_HEADS))]
    lines = [
        "  ".join(
            text.ljust(width) if k in {0, 6} else text.rjust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    text = [lines[0]]
    for row, line in zip(rows, lines[1:], strict=True):
        text.append(line)
        text += [f"    {n} x {what}" for what, n in sorted(row.failed.items())]
    return "\n".join(text)


def markdown(rows: Sequence[Row]) -> str:
    """Write the rows for a page."""
    lines = [_HEADS, ("---",) * len(_HEADS), *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
