"""What a change costs: each is made in a copy of the tree by editing no more files than said."""

from __future__ import annotations

import json
import tomllib

import pytest

from tests.contract.copies import ROOT, answers, copied, python

SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Copy the product; what tests add there touches nobody."""
    return copied(tmp_path_factory.mktemp("tree"), ("analysis", "harness"))


TALLY_READ = '''"""The files of a tally that never was: ``tally:`` and seconds between semicolons."""

from __future__ import annotations

from analysis.data.opening import Opened
from analysis.importers.parsing import ForeignCell, ForeignFile


def knows_tally(opened: Opened) -> bool:
    return opened.head().startswith("tally:")


def read_tally(opened: Opened) -> ForeignFile:
    values = tuple(map(float, opened.text().removeprefix("tally:").split(";")))
    cell = ForeignCell(benchmark="all", processes=(values,))
    return ForeignFile(format="tally", source=opened.source, cells=(cell,))
'''
TALLY_WRITE = '''"""The files of a tally that never was, written."""

from __future__ import annotations

from analysis.importers.exports.export_data import ExportedData
from analysis.importers.exports.losses import Written, lost


def write_tally(exported: ExportedData) -> Written:
    metric = exported.metrics[0].name
    values = [v for one in exported.samples for process in one.processes(metric) for v in process]
    data = "tally:" + ";".join(map(repr, values))
    return Written(data=data.encode(), lost=tuple(lost(exported, metric)))
'''


def test_a_foreign_tool_costs_a_module_and_a_row_each_way(tree):
    (tree / "analysis/importers/tools/tally.py").write_text(TALLY_READ)
    (tree / "analysis/importers/exports/tally.py").write_text(TALLY_WRITE)
    for table, head, row in (
        (
            tree / "analysis/importers/registry.py",
            "TOOLS: tuple[Tool, ...] = (",
            'Tool(name="tally", said="tally", module="analysis.importers.tools.tally"),',
        ),
        (
            tree / "analysis/importers/exports/targets.py",
            "TARGETS: tuple[Target, ...] = (",
            'Target(name="tally", said="a tally", endings=(".tally",), '
            'module="analysis.importers.exports.tally"),',
        ),
    ):
        text = table.read_text()
        assert head in text
        table.write_text(text.replace(head, f"{head}\n    {row}"))
    (tree / "x.tally").write_text("tally:1;1.5;2")
    (tree / "old.tally").write_text("tally:2;2.1;2.2;2.3;2.4")
    (tree / "new.tally").write_text("tally:1;1.1;1.2;1.3;1.4")
    shown, _, read, tested, ranked = answers(
        tree,
        ("export", "--help"),
        ("export", "x.tally", "-o", "y.tally"),
        ("import", "y.tally", "--dry-run", "--json"),
        # every command reads it
        ("speedup-test", "new.tally", "old.tally"),
        ("hpt", "new.tally", "old.tally", "--json"),
    )
    assert "tally" in shown
    assert (tree / "y.tally").read_text() == "tally:1.0;1.5;2.0"
    found = json.loads(read)
    assert (found["format"], found["cells"][0]["sum"]) == ("tally", 4.5)
    assert "new" in tested
    assert '"word": "faster"' in ranked


SIGNS = {
    "analysis/methods/signs/__init__.py": '"""The sign test."""\n',
    "analysis/methods/signs/result.py": '''"""What the sign test says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from analysis.pages.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class SignTest(Result):
    """On how many benchmarks the candidate's median is better."""

    method: ClassVar[str] = "sign-test"

    better: int
    of: int
''',
    "analysis/methods/signs/compare.py": '''"""The sign test: count the benchmarks that are better."""

from __future__ import annotations

from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import match
from analysis.methods.signs.result import SignTest


def sign_test(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> SignTest:
    """Count."""
    pair = match(candidate, baseline)
    less = pair.candidate.medians() < pair.baseline.medians()
    wins = less if candidate.better == "lower" else ~less
    return SignTest(better=int(wins.sum()), of=int(wins.size), cautions=pair.cautions)
''',
    "analysis/methods/signs/page.py": '''"""The sign test in words."""

from __future__ import annotations

from analysis.pages.model import Page, Section, Sentence, page_of
from analysis.methods.signs.result import SignTest


@page_of.register(SignTest)
def _(result: SignTest) -> Page:
    said = f"better on {result.better} of {result.of} benchmarks"
    return Page(title="signs", sections=(Section((Sentence(said),)),), cautions=result.cautions)
''',
    "analysis/commands/sign_test.py": '''"""The subcommand ``sign-test``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TextIO

from analysis.commands.arguments import add_json, add_sides, reading, show

if TYPE_CHECKING:
    from analysis.commands.arguments import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``sign-test``."""
    parser = subparsers.add_parser("sign-test", description="Count the benchmarks that are better.")
    add_sides(parser)
    add_json(parser)
    parser.set_defaults(run=_sign_test)


def _sign_test(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from analysis.importers.sources import read_sides
    from analysis.methods.signs.compare import sign_test

    sides = read_sides(args.candidate, args.baseline, reading(args))
    show(sign_test(sides.candidate, sides.baseline), out, as_json=args.json)
    return 0
''',
}


COMMAND = (
    '    "sign-test": Command("analysis.commands.sign_test:add", "judge", "count the better ones"),'
)


def test_a_method_costs_its_folder_its_command_and_three_rows(tree):
    for name, text in SIGNS.items():
        path = tree / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    for name, before, row in (
        ("analysis/__init__.py", "_ROOMS = {", '    "methods.signs.compare": "sign_test",'),
        ("analysis/registry.py", "COMMANDS: dict[str, Command] = {", COMMAND),
        ("analysis/registry.py", "PAGES = {", '    "SignTest": "analysis.methods.signs.page",'),
    ):
        path = tree / name
        path.write_text(path.read_text().replace(before, f"{before}\n{row}"))
    for name, scale in (("x", 1), ("y", 2)):
        (tree / f"{name}.csv").write_text(f"a,{scale},{scale}\nb,{scale},{scale}\n")
    sides = ("sign-test", "x.csv", "y.csv", "--better", "lower")
    said, printed, shown = answers(tree, sides, (*sides, "--json"), ("--help",))
    assert said == "better on 2 of 2 benchmarks\n"
    data = json.loads(printed)
    assert (data["schema"], data["method"], data["better"]) == (1, "sign-test", 2)
    assert (data["cautions"], data["caution_codes"]) == ([], [])
    assert "count the better ones" in shown.partition("understand\n")[0]
    code = "import analysis; print(analysis.sign_test.__module__, 'sign_test' in dir(analysis))"
    assert python(tree, "-c", code) == "analysis.methods.signs.compare True\n"
    # the contracts hold for it as it is: no line of pyproject.toml names a method
    assert "methods.signs" not in (ROOT / "pyproject.toml").read_text()
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert {"analysis.methods.*"} in [set(c.get("modules", ())) for c in contracts["contracts"]]


COUNTS = '''"""How many runs each variant has."""

from __future__ import annotations

from analysis.plots import Axes, Scale, Tick, arranged, quantity_axis
from analysis.report.figures.layout import Drawing
from analysis.report.subject import Subject
from analysis.plots.sheet import Sheet


def draw_counts(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a bar for each variant."""
    counts = {name: sum(matrix.runs) for name, matrix in subject.matrices.items()}
    axes = Axes(x=Scale(-1, len(counts)))
    axes.x_ticks = [Tick(k, name) for k, name in enumerate(counts)]
    quantity_axis(axes, "y", Scale(0, max(counts.values())), "1")
    for k, count in enumerate(counts.values()):
        axes.band(k - 0.4, k + 0.4, 0, count, "ink")
    return Drawing(
        name=subject.anchor("counts"),
        title="runs",
        alt=f"Runs: {counts}.",
        picture=arranged(sheet, [[axes]], 40.0),
        columns=("variant", "runs"),
        rows=tuple(counts.items()),
    )
'''


def test_a_kind_of_figure_costs_a_file_and_a_row(tree):
    (tree / "analysis/report/figures/counts.py").write_text(COUNTS)
    kinds = tree / "analysis/report/figures/kinds.py"
    row = '    "counts": Kind("analysis.report.figures.counts", "how many runs each variant has"),'
    kinds.write_text(kinds.read_text().replace("_SUITE = {", f"_SUITE = {{\n{row}"))
    said, shown = answers(tree, ("plot", "counts", SAMPLE, "-o", "c.svg"), ("plot", "--help"))
    assert said == "Runs: {'gzip-6': 60, 'gzip-1': 60}.\n"
    assert (tree / "c.csv").read_text() == "variant,runs\ngzip-6,60\ngzip-1,60\n"
    assert "<text" in (tree / "c.svg").read_text(encoding="utf-8")
    assert "counts: how many runs" in " ".join(shown.split())


CHAPTER = '''"""How many runs there are, as a chapter."""

from __future__ import annotations

from analysis.pages.model import Section, Sentence
from analysis.report.chapter import Chapter


def chapter(subject):
    runs = subject.verdict.runs
    return Chapter(
        name="count",
        folder="count",
        anchor=subject.anchor("count"),
        title="How many",
        values={"runs": runs},
        sections=lambda: (Section((Sentence(f"{runs} runs in all."),), title="How many"),),
    )
'''


def test_a_chapter_of_the_report_costs_a_file_a_template_and_a_row(tree):
    room = tree / "analysis/report/count"
    room.mkdir()
    (room / "chapter.py").write_text(CHAPTER)
    (room / "chapter.html.jinja").write_text(
        '<section id="{{ chapter.anchor }}"><h2>{{ chapter.title }}</h2><p>{{ runs }}, all told</p></section>'
    )
    registry = tree / "analysis/registry.py"
    text = registry.read_text()
    row = '    "count": "analysis.report.count.chapter",'
    registry.write_text(text.replace("CHAPTERS = {\n", f"CHAPTERS = {{\n{row}\n"))
    _, as_json, as_text = answers(
        tree,
        ("report", SAMPLE, "-o", "page.html"),
        ("report", SAMPLE, "--format", "json"),
        ("report", SAMPLE, "--format", "md"),
    )
    assert '<section id="count">' in (tree / "page.html").read_text()
    assert "<p>120, all told</p>" in (tree / "page.html").read_text()
    assert json.loads(as_json)["count"][0]["runs"] == 120
    assert "120 runs in all." in as_text
