"""Writing figures: each kind that applies in three forms, with data that read back as they were."""

from __future__ import annotations

import csv

import pytest

from analysis.errors import AnalysisError, UsageError
from analysis.plots.chart import Sheet
from analysis.registry import FIGURES
from analysis.report import figures as files
from analysis.report.figures import draw, kind_of, write_all, write_drawing

SHEET = Sheet(width=85, font_size=7)


def test_all_kinds_that_apply(measured, tmp_path, monkeypatch):
    # a picture of each kind is made in test_kinds.py
    monkeypatch.setattr(files, "write_picture", lambda _, path, **__: path.write_text("x"))
    said = []
    subject = measured(benches=("only", "two"), runs=12, sessions=2)
    found = write_all(subject, tmp_path / "new" / "p", SHEET, benchmarks=("two",), tell=said.append)
    refused = {line.split(":")[0].removeprefix("no ").partition(" of ")[0] for line in said}
    assert refused == {"biplot", "shares", "iterations"}
    assert "three" in said[0]
    stems = {path.stem for path in found}
    assert stems == {
        subject.anchor(name, "two" if kind.each else "")
        for name, kind in FIGURES.items()
        if name not in refused
    }
    assert len(found) == 4 * len(stems)
    assert {path.suffix for path in found} == {".svg", ".pdf", ".png", ".csv"}
    assert sorted(found) == sorted((tmp_path / "new" / "p").iterdir())
    assert all(path.stat().st_size for path in found)


def test_of_many_benchmarks_the_first_of_the_page_have_figures_of_their_own(
    measured, tmp_path, monkeypatch
):
    asked = []

    def refused(name, *_, benchmark):
        asked.append((name, benchmark))
        raise AnalysisError("not drawn")

    monkeypatch.setattr(files, "draw", refused)
    subject = measured(benches=tuple(f"b{k}" for k in range(9)), runs=12, sessions=2)
    write_all(subject, tmp_path, SHEET)
    chosen = {bench for name, bench in asked if kind_of(name).each}
    assert len(chosen) == 3
    assert chosen <= set(subject.order)


def test_the_data_read_back(measured, tmp_path):
    subject = measured()
    drawing = draw("forest", subject, SHEET)
    write_drawing(drawing, tmp_path / "f.svg")
    with (tmp_path / "f.csv").open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    line = subject.candidates[0].multilevel.benchmarks[0]
    assert float(rows[0]["speedup"]) == line.speedup
    assert float(rows[0]["low"]) == line.low
    assert rows[0]["line"] == line.name


@pytest.mark.parametrize("ending", [".pdf", ".png"])
def test_the_same_files_each_time(ending, measured, tmp_path):
    subject = measured()
    for name in ("one", "two"):
        write_drawing(draw("forest", subject, SHEET), tmp_path / f"{name}{ending}")
    for last in (ending, ".csv"):
        assert (tmp_path / f"one{last}").read_bytes() == (tmp_path / f"two{last}").read_bytes()


def test_a_folder_that_cannot_be(measured, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be made"):
        write_all(measured(), tmp_path / "file" / "p", SHEET)
