"""The page of a verdict: every cell says the number that it stands for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.data.trial import read_trial
from analysis.report import Command, Section, Sentence, Table, Value, page_of
from analysis.verdict.judging import judge

TIMES = {
    "old": {f"b{k}": [1.0 + k, 1.01 + k, 1.02 + k, 1.03 + k, 0.99 + k, 1.0 + k] for k in range(6)},
    "new": {f"b{k}": [0.5 + k, 0.51 + k, 0.52 + k, 0.53 + k, 0.54 + k, 0.5 + k] for k in range(6)},
    "slow": {f"b{k}": [3.0 + k, 3.1 + k, 3.2 + k, 3.3 + k, 3.4 + k, 3.5 + k] for k in range(6)},
}


def blocks(sections, kind):
    for section in sections:
        for block in section.blocks:
            if isinstance(block, kind):
                yield block
            if isinstance(block, Section):
                yield from blocks((block,), kind)


@pytest.fixture
def verdict(synthetic, tmp_path):
    return judge(read_trial(synthetic(TIMES).write(tmp_path)))


def test_the_first_section_holds_the_answer(verdict):
    page = page_of(verdict)
    (answers,) = blocks(page.sections[:1], Table)
    new, slow = verdict.candidates
    assert answers.rows == (
        (
            "new",
            Value(f"{new.speedup:.2f}x", new.speedup),
            "over the suite: faster, reliability 0.984",
            "faster on 6 of 6",
        ),
        (
            "slow",
            Value(f"{slow.speedup:.2f}x", slow.speedup),
            "over the suite: slower, reliability 0.984",
            "slower on 6 of 6",
        ),
    )


def test_the_tables_hold_the_medians_and_speedups(verdict):
    page = page_of(verdict)
    _, *tables = blocks(page.sections, Table)
    assert [table.name for table in tables] == ["benchmarks-1", "benchmarks-2"]
    for table, one in zip(tables, verdict.candidates, strict=True):
        *rows, mean = table.rows
        assert [c.heading for c in table.columns][1:3] == ["old", one.variant]
        for cells, row in zip(rows, one.benchmarks, strict=True):
            assert cells[0] == row.benchmark
            assert [cell.value for cell in cells[1:4]] == [
                row.median_baseline,
                row.median_candidate,
                row.speedup,
            ]
            assert cells[1].text == f"{row.median_baseline:.2f} s"
            assert cells[3].text == f"{row.speedup:.2f}x"
            assert cells[4:] == ("6+6", row.outcome)
        assert mean[0] == "geometric mean of 6"
        assert mean[3] == Value(f"{one.speedup:.2f}x", one.speedup)


def test_what_is_next_can_be_copied(verdict, synthetic, tmp_path):
    (command,) = blocks(page_of(verdict).following, Command)
    path = verdict.path
    assert command.line == f"fairtrial hpt {path}:new {path}:old"
    made = synthetic(TIMES, status="running")
    made.rows = made.rows[:40]
    unfinished = judge(read_trial(made.write(tmp_path / "a b")))
    (command,) = blocks(page_of(unfinished).following, Command)
    assert command.line == f"fairtrial status '{tmp_path}/a b'"


def test_one_benchmark_is_answered_by_its_own_test(synthetic, tmp_path):
    only = {variant: {"b0": rows["b0"]} for variant, rows in TIMES.items()}
    page = page_of(judge(read_trial(synthetic(only).write(tmp_path))))
    answers, *_ = blocks(page.sections, Table)
    assert [row[2:] for row in answers.rows] == [("faster", ""), ("slower", "")]
    said = " ".join(block.text for block in blocks(page.sections, Sentence))
    assert "one benchmark: the outcome is by a rank-sum test in each direction at 0.05" in said


def test_a_bound_is_written_as_one(synthetic, tmp_path):
    made = synthetic(TIMES)
    made.rows = [
        replace(row, max_rss_bytes=9 << 20, max_rss_floor_bytes=10 << 20)
        if row.variant == "old"
        else row
        for row in made.rows
    ]
    found = judge(read_trial(made.write(tmp_path)), metric="max_rss")
    assert found.candidates[0].benchmarks[0].floored == ("baseline",)
    _, table, _ = blocks(page_of(found).sections, Table)
    base, ours, speedup = table.rows[0][1:4]
    assert base == Value("<= 9.00 MiB", float(9 << 20))
    assert ours == Value("50.0 MiB", float(50 << 20))
    assert speedup == Value("-", None)
