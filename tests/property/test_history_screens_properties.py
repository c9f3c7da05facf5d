"""Screens of many nights, whatever the nights are.

Authority: the rules of all screens: the answer as a sentence first, 80 columns but for what is pasted, at most three
notes, and numbers that JSON can hold.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.history.judging import judge_nights
from analysis.pages.as_markup import render_latex, render_markdown
from tests.examples import examples
from tests.unit.analysis.history.judged.made_nights import nights_of, series

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
COMMITS = st.sampled_from([None, "v1", "0" * 40, "a" * 64, "release candidate-" + "x" * 80])


@st.composite
def made_series(draw, benchmark):
    count = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    scale = draw(st.sampled_from([0.0, 1e-6, 0.01, 1.0, 30.0]))
    logs = scale * rng.normal(size=count)
    logs[count // 2 :] += draw(st.sampled_from([0.0, 0.05, -0.05, 3.0, -3.0]))
    own = scale * rng.normal(size=count) + draw(st.sampled_from([0.0, 5.0])) * (
        np.arange(count) > count // 3
    )
    commits = [draw(COMMITS)] * (count // 2) + [draw(COMMITS)] * (count - count // 2)
    skipped = (
        sorted(draw(st.sets(st.integers(1, max(count - 2, 1)), max_size=3))) if count > 4 else ()
    )
    return series(
        logs,
        benchmark,
        variant=draw(st.sampled_from(["tip", "next"])),
        paired=draw(st.booleans()),
        own=own,
        commits=commits,
        facts={count // 2: {"kernel": {"release": draw(NAMES)}}},
        skipped=skipped,
        unit=draw(st.sampled_from(["s", "B", "MB/s", "1"])),
        better=draw(st.sampled_from(["lower", "higher"])),
        metric=draw(st.sampled_from(["wall", "max_rss", "a metric with a long name of its own"])),
        campaign=draw(NAMES),
        baseline=draw(NAMES),
        ended=draw(st.sampled_from([None, None, "baseline"])),
    )


@st.composite
def histories(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=12, unique=True))
    made = [draw(made_series(name)) for name in names]
    asked = {
        "gate": draw(st.sampled_from([None, "slower>2%", "faster<5%", "worse>0.5%"])),
        "since": draw(st.sampled_from([None, "yesterday", "2026-10-01", made[0].values[0].trial])),
        "correction": draw(st.sampled_from([None, "holm", "bh", "none"])),
        "risk": draw(st.sampled_from([0.001, 0.05, 0.2])),
        "independent": draw(st.booleans()),
        "asked": draw(st.sampled_from([(), ("runs",)])),
    }
    return judge_nights(nights_of(*made), **asked)


@pytest.mark.filterwarnings("error")
@settings(max_examples=examples(120), deadline=None)
@given(histories())
def test_every_screen_can_be_read(history):
    lines = str(history).splitlines()
    label = {None: "", "passed": "PASS  ", "proven": "STOP  ", "undecided": "OPEN  "}
    told = f"{label[history.outcome]}{history.sentence}"
    assert "".join("".join(lines).split()).startswith("".join(told.split()))
    assert len([line for line in lines if line.startswith("note  ")]) <= 3
    assert len(lines) <= 60
    pasted = [line for command in history.following for line in command.words]
    for line in lines:
        held = any(len(word) > 40 and word[:30] in line for word in pasted)
        assert len(line) <= 80 or held or line.lstrip().startswith("next")
    json.dumps(history.to_dict(), allow_nan=False)
    assert render_markdown(history.screen())
    assert render_latex(history.screen())
