"""Bare tables and the Speedup-Test's files, by the layouts that their papers and tools document."""

from __future__ import annotations

from pathlib import Path

from analysis.data.opening import open_foreign
from analysis.importers.registry import read_foreign


def put(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_configuration_gives_both_programs_of_each_benchmark(tmp_path: Path) -> None:
    """Sample1 is the initial program, Sample2 the optimised one (The Speedup Test, 6.2.1)."""
    put(tmp_path, "a.1", "2.0\n2.5\n")
    put(tmp_path, "a.2", "1.0 # fast\n\n1.5\n")
    config = put(tmp_path, "c.csv", 'Name,Sample1,Sample2,ConfLevel,Coef\n"a b",a.1,a.2,0.95,\n')
    found = read_foreign(open_foreign(config))
    assert found.format == "speedup-test"
    assert [(c.benchmark, c.variant, c.values) for c in found.cells] == [
        ("a b", "initial", (2.0, 2.5)),
        ("a b", "optimised", (1.0, 1.5)),
    ]
    assert {c.unit for c in found.cells} == {"s"}
    assert [note.code for note in found.notes] == ["settings-left-out"]


def test_a_matrix_has_a_row_for_each_benchmark(tmp_path: Path) -> None:
    text = "barnes;0.5;0.6\n# a remark\n\nfmm;1;2\n"
    found = read_foreign(open_foreign(put(tmp_path, "m.csv", text)))
    assert (found.format, [c.benchmark for c in found.cells]) == ("matrix", ["barnes", "fmm"])
    assert {c.better for c in found.cells} == {None}  # never guessed


def test_what_is_said_of_a_table_is_said_of_the_file(tmp_path: Path) -> None:
    found = read_foreign(open_foreign(put(tmp_path, "m.txt", "# x\nmy runs\n1.5\n2\n")))
    assert [(note.code, note.text) for note in found.notes] == [
        ("headings-left-out", "line 2 was read as headings and left out")
    ]
