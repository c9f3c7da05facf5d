"""Sentences and headings come from rules: each with a case that it finds, and one that it must not."""

from __future__ import annotations

import dataclasses

import numpy as np

from analysis.report.assembling import chapter_html
from analysis.report.benchmarks.chapter import chapter

NAMES = {"x": 1.0, "y": 2.0, "z": 3.0, "w": 4.0}


def parts_of(subject):
    return {part["name"]: part for part in chapter(subject)["benchmarks"]}


def said(part) -> str:
    return " ".join(part["remarks"])


def test_how_many_sessions_and_by_how_much(matrix, subject) -> None:
    parts = parts_of(
        subject(matrix("new", {"x": 0.8, "y": 8.0}, seed=2), matrix("old", {"x": 1.0, "y": 2.0}))
    )
    assert "new is ahead in all 5 sessions, by 2" in said(parts["x"])
    assert "new is behind in all 5 sessions, at 0.2" in said(parts["y"])
    assert parts["x"]["finding"] is None


def test_equal_sides_are_said_to_be_equal(matrix, subject) -> None:
    old = matrix("old", NAMES)
    parts = parts_of(subject(dataclasses.replace(old, name="new"), old))
    assert said(parts["x"]) == "new equals the baseline in all 5 sessions."


def test_means_and_medians_part_where_slow_runs_differ(matrix, subject) -> None:
    old, new = matrix("old", NAMES, runs=12), matrix("new", NAMES, runs=12, seed=2)
    values = new.values("x").copy()
    values[::4] *= 1.8  # a quarter of the runs; the median hardly moves
    new = dataclasses.replace(new, samples=(values, *new.samples[1:]))
    parts = parts_of(subject(new, old))
    assert parts["x"]["finding"] == "where means and medians part"
    assert "Medians of new give another speedup" in said(parts["x"])


def test_means_and_medians_of_one_law_do_not_part(matrix, subject) -> None:
    """The negative control: 40 benchmarks of equal laws, at 5 % over all of them."""
    names = {f"b{k}": 1.0 for k in range(40)}
    parts = parts_of(subject(matrix("new", names, seed=8), matrix("old", names, seed=9)))
    assert [part["finding"] for part in parts.values() if part["finding"]] == []


def test_a_benchmark_on_one_side_only_says_so(matrix, subject) -> None:
    parts = parts_of(subject(matrix("new", {"x": 1.0, "y": 2.0}, seed=2), matrix("old", NAMES)))
    assert parts["z"]["finding"] == "no runs of new"
    assert "new has no run that counts here." in said(parts["z"])
    assert parts["z"]["candidates"] == []


def test_two_states_are_named_with_their_places(matrix, subject) -> None:
    rng = np.random.default_rng(3)
    names = {"x": 1.0, "y": 2.0}

    def two(name: str, seed: int):
        one = matrix(name, names, seed=seed, runs=12)
        states = np.where(rng.random(60) < 0.5, 1.0, 1.4)
        return dataclasses.replace(one, samples=(one.values("x") * states, *one.samples[1:]))

    parts = parts_of(subject(two("new", 1), two("old", 2)))
    assert parts["x"]["finding"] == "two modes"
    assert "All variants have several modes, old near 1.0" in said(parts["x"])
    assert parts["y"]["finding"] is None
    alone = parts_of(subject(two("new", 1), matrix("old", names, seed=2, runs=12)))
    assert "new has several modes, near 999 ms and 1.40 s." in said(alone["x"])


def test_names_in_sentences_are_set_apart_and_harmless(matrix, subject) -> None:
    evil = "<b>\u202eevil\n"
    found = chapter(subject(matrix(evil, NAMES, seed=2), matrix("old", NAMES)))
    assert "<b>U+202Eevil␊ is " in said(found["benchmarks"][0])
    page = str(chapter_html(found))
    assert '<p class="parts-remarks"><bdi>&lt;b&gt;U+202Eevil␊</bdi> is ' in page
    assert "\u202e" not in page
