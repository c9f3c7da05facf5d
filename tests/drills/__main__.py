"""All drills, long: one table. ``make drill`` does it, ``python tests/drills --help`` says more."""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from plan import PLAN, done
from row import Row, markdown, merged, table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "drills.md"
BEGIN, END = "<!-- drills: made by 'make drill' -->", "<!-- end of drills -->"


def page(text: str, rows: Sequence[Row], today: datetime.date) -> str:
    """Give the page with its table made anew."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    tried = f"Last done on {today.isoformat()}, on Linux:"
    return f"{head}{BEGIN}\n{tried}\n\n{markdown(rows)}\n{END}{tail}"


def main(arguments: Sequence[str]) -> int:
    """Do the drills; give 1 when anything was violated."""
    names = [drill for drill, _, _ in PLAN]
    parser = argparse.ArgumentParser(prog="python tests/drills", description=__doc__)
    parser.add_argument("drills", nargs="*", metavar="DRILL", help=f"some of: {', '.join(names)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", type=float, default=1.0, help="so much of it, such as 0.1")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write the table into docs/drills.md")
    args = parser.parse_args(arguments)
    chosen = [row for row in PLAN if not args.drills or row[0] in args.drills]
    if not chosen:
        parser.error(f"there are these drills: {', '.join(names)}")
    began = time.monotonic()
    rows = list(_executed(chosen, args.seed, args.part, args.workers))
    print(table(rows))
    print(f"\n{(time.monotonic() - began) / 60:.0f} minutes; {_verdict(rows)}")
    if args.write:
        PAGE.write_text(page(PAGE.read_text(), rows, datetime.datetime.now(datetime.UTC).date()))
    return int(not all(row.clean for row in rows))


def _executed(
    chosen: Sequence[tuple[str, int, int]], seed: int, part: float, workers: int
) -> Iterable[Row]:
    """Do the pieces side by side, and give a row for each drill in the order of the plan."""
    results: dict[str, list[Row]] = {}
    # Each piece has a process of its own, whose peak of memory is then its own too.
    with ProcessPoolExecutor(workers, max_tasks_per_child=1) as pool:
        pieces: dict[Future[list[Row]], str] = {}
        for drill, number, split in chosen:
            for k in range(split):
                size = max(1, round(number * part / split))
                pieces[pool.submit(done, drill, size, 1000 * seed + k)] = drill
        for piece in as_completed(pieces):
            drill, error = pieces[piece], piece.exception()
            # A drill that breaks has not shown what it should: the others still may.
            broken = [Row(drill=drill, failed={f"the drill broke: {error!r}": 1})]
            rows = broken if error else piece.result()
            results.setdefault(drill, []).extend(rows)
            print(table(rows), file=sys.stderr, flush=True)
    for drill, _, _ in chosen:
        yield merged(results[drill])


def _verdict(rows: Sequence[Row]) -> str:
    bad = [row.drill for row in rows if not row.clean]
    skipped = [row.drill for row in rows if not row.tried]
    text = f"violated by: {', '.join(bad)}" if bad else "nothing was violated"
    return text + (f"; not possible here: {', '.join(skipped)}" if skipped else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
