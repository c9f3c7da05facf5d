"""How strong the tests are: mutants of each room, judged by the tests that execute their line.

``make mutants`` does it, ``--dry-run`` says what it would cost, ``--report`` what is known so far.
An interrupted run goes on where it was. Each mutant is first judged by the unit tests of its own
room; who survives those, by all other unit tests and the property, contract and golden tests.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.mutants import coverage_map, drawing, records, report
from tests.mutants.choosing_tests import STAGES, own_tests
from tests.mutants.judging import Judge
from tests.mutants.private_tree import PrivateTree, copied, product_hash

HERE = Path(__file__).resolve().parents[2]
PIECE_S = {"unit": 25.0, "property": 40.0, "contract": 40.0, "golden": 25.0}  # to map one
PACE_S = {"own": 8.0, "rest": 25.0}  # a mutant, before a run has shown its own
SURVIVING = 0.35  # the share that comes to the second stage, before it is known


def main(arguments: Sequence[str]) -> int:
    """Judge what is left to be judged, and print what is known."""
    args = _parser().parse_args(arguments)
    work = (args.work or args.tree / ".mutants").resolve()
    path = args.records or work / "records.jsonl"
    if not args.report:
        run = Run(args, work, path)
        print(run.cost(), flush=True)
        if args.dry_run:
            return 0
        run.go_on()
    _print(path, args.pair, full=True)
    return 0


def _print(path: Path, before: Path | None, *, full: bool) -> None:
    known, equivalent = records.read(path), records.equivalents()
    if full:
        print(report.survivors(known, equivalent))
    print(report.table(known, equivalent))
    if before is not None:
        print(report.comparison(records.read(before), known))


class Run:
    """A run: its private tree, its mutants by room, and what of them is left to do."""

    def __init__(self, args: argparse.Namespace, work: Path, path: Path) -> None:
        self._args, self._path = args, path
        self._tree = args.tree.resolve()
        self._product = product_hash(self._tree)
        self._private = PrivateTree(work, work / "tree")
        everything = drawing.rooms(self._tree)
        self._before: dict[str, str] = {}  # names in the other tree, when its mutants are judged
        self._killers: dict[str, str] = {}  # the tests that killed them there
        if args.pair is not None:
            self._mutants = self._found_again(everything)
        else:
            self._mutants = {
                room: drawing.drawn(self._tree, mutants, args.each, args.seed)
                for room, mutants in everything.items()
            }
        if args.rooms:
            self._mutants = {r: m for r, m in self._mutants.items() if r in args.rooms}

    def _found_again(
        self, everything: dict[str, list[drawing.Mutant]]
    ) -> dict[str, list[drawing.Mutant]]:
        others = records.outcomes(records.read(self._args.pair))
        keys = [(one["mutant"], one["key"], one["path"]) for one in others.values()]
        found: dict[str, list[drawing.Mutant]] = {}
        for name, mutant in drawing.paired(
            keys, [m for all_ in everything.values() for m in all_]
        ).items():
            if mutant is not None:
                self._before[mutant.name] = name
                if "::" in others[name]["by"] and others[name]["result"] in records.DEAD:
                    self._killers[mutant.name] = others[name]["by"]
                found.setdefault(mutant.room, []).append(mutant)
        return found

    def _left(self, stage: str, room: str) -> list[drawing.Mutant]:
        """Give the mutants of a room that a stage has not judged: later ones judge who survived."""
        known = records.read(self._path)
        done = records.judged(known, self._product, stage)
        dead = {
            name
            for earlier in ("again", *STAGES[: STAGES.index(stage)])
            for name, result in records.judged(known, self._product, earlier).items()
            if result in records.DEAD
        }
        skipped = done.keys() | dead
        return [mutant for mutant in self._mutants[room] if mutant.name not in skipped]

    def _pieces(self, stage: str, room: str = "") -> list[str]:
        """Give the pieces of the map that a stage needs."""
        if stage == "rest":
            return coverage_map.pieces(self._tree, self._args.kinds)
        found = coverage_map.pieces(self._tree, ["unit"])
        return [piece for piece in found if own_tests(room, f"{piece}/test_")]

    def cost(self) -> str:
        """Say what is to be done and about how long it takes, with one process on an idle core."""
        known = [one for one in records.read(self._path) if one["product"] == self._product]
        total, lines = 0.0, [f"tree {self._tree}, product {self._product}, seed {self._args.seed}"]
        for stage in self._args.stages:
            count = sum(len(self._left(stage, room)) for room in self._mutants)
            mine = [one["seconds"] for one in known if one["stage"] == stage]
            pace = sum(mine) / len(mine) if mine else PACE_S[stage]
            if stage == "rest" and "own" in self._args.stages:  # not all of them will get there
                open_ = sum(len(self._left("own", room)) for room in self._mutants)
                count -= round((1 - SURVIVING) * open_)
            wanted = {p for room in self._mutants for p in self._pieces(stage, room)}
            _, missing = coverage_map.state(self._private, self._tree, sorted(wanted))
            mapping = sum(PIECE_S[piece.split("/")[1]] for piece in missing)
            total += count * pace + mapping
            lines.append(
                f"stage {stage}: {count} mutants of {len(self._mutants)} rooms, {pace:.1f} s each; "
                f"{len(missing)} of {len(wanted)} pieces of the map to make, some {mapping / 60:.0f} min"
            )
        return "\n".join([*lines, f"about {total / 3600:.1f} h"])

    def go_on(self) -> None:
        """Make what is missing of the map and judge what is left, stage by stage, room by room."""
        copied(self._tree, self._private.work)
        compiling = self._private.root / "tests" / "compile_kernels.py"
        if compiling.exists():
            words = self._private.command(self._private.python, compiling)
            environment = self._private.environment()
            subprocess.run(words, cwd=self._private.root, env=environment, check=True)
        with Judge(self._private, self._args.limit) as judge:
            for room in self._mutants:
                self._judge_again(judge, room)
            for stage in self._args.stages:
                everywhere = None
                for room in self._mutants:
                    left = self._left(stage, room)
                    if not left:
                        continue
                    if stage == "own" or everywhere is None:
                        everywhere = self._mapped(self._pieces(stage, room))
                    judge.knows(everywhere)
                    self._judge(judge, stage, room, left)

    def _judge_again(self, judge: Judge, room: str) -> None:
        """Ask first who killed a mutant in the other tree: most of them are dead by one test."""
        asked = dead = 0
        for mutant in self._left("own", room):
            if mutant.name in self._killers:
                asked += 1
                record = judge.judge_again(mutant, self._killers[mutant.name])
                dead += record is not None
                if record is not None:
                    self._add(mutant, record)
        if asked:
            print(f"again {room}: {dead} of {asked} killed by the same test", flush=True)

    def _add(self, mutant: drawing.Mutant, record: dict[str, Any]) -> None:
        record |= {"product": self._product, "seed": self._args.seed}
        if mutant.name in self._before:
            record["before"] = self._before[mutant.name]
        records.add(self._path, record)

    def _mapped(self, pieces: list[str]) -> coverage_map.CoverageMap:
        coverage_map.make(self._private, pieces, lambda text: print(text, flush=True))
        return coverage_map.load(self._private, pieces)

    def _judge(self, judge: Judge, stage: str, room: str, left: list[drawing.Mutant]) -> None:
        began, results = time.monotonic(), []
        for mutant in left:
            record = judge.judge(mutant, stage)
            self._add(mutant, record)
            results.append(record["result"])
        dead = sum(result in records.DEAD for result in results)
        took = time.monotonic() - began
        print(f"{stage} {room}: {dead} of {len(results)} killed in {took:.0f} s", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--each", type=int, default=40, help="mutants a room (40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--rooms", nargs="*", metavar="ROOM", help="only these, such as harness/trial"
    )
    parser.add_argument(
        "--stages",
        nargs="+",
        choices=STAGES,
        default=list(STAGES),
        help="own: the room's unit tests",
    )
    parser.add_argument(
        "--kinds", nargs="+", choices=coverage_map.KINDS, default=list(coverage_map.KINDS),
        help="which tests judge those who survive their own",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=float, default=60.0, metavar="S", help="of a run of tests, beside their own"
    )
    parser.add_argument("--tree", type=Path, default=HERE, help="another tree than this one")
    parser.add_argument("--work", type=Path, help="copy and map, kept (.mutants in the tree)")
    parser.add_argument("--records", type=Path, help="JSON lines (records.jsonl in --work)")
    parser.add_argument(
        "--pair", type=Path, metavar="RECORDS", help="judge the mutants of another tree's records"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what it costs, do nothing")
    parser.add_argument("--report", action="store_true", help="print what is known, do nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
