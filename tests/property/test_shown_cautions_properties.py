"""Four screens show the same cautions of a trial, and none names what a screen does not show.

The authority is the policy of the cautions (docs/verdict.md): one list for verdict, gate, compare and report, at
most three whole sentences that fit 80 columns, about the benchmarks and variants on the screen.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.data.trial import read_trial
from analysis.errors import FairtrialError
from analysis.importers.reader import Reading
from analysis.pages.model import Note, Page, page_of
from analysis.record.trial_files import FINDINGS, GivenUp
from analysis.report.assembling import assemble
from analysis.report.subject import subject_of
from analysis.verdict.cautions import shown_cautions
from analysis.verdict.gate import gate_verdict
from analysis.verdict.judging import judge
from analysis.verdict.result import Verdict
from tests.examples import examples
from tests.unit.analysis.conftest import build as synthetic

LONGEST = 74
# names that no sentence of ours holds
NAMES = ("qzb", "qzb-" + "long" * 12, "qz{b}", "qzb\N{LATIN SMALL LETTER U WITH DIAERESIS}")
CHECKS = (
    ("load", "3.10 over 1 min on 2 CPUs, 3 other threads runnable now; busiest: make 90 %", "fail"),
    ("gaps", "cpu1 lost 12.00 % of 200 ms to others: 3 gaps, the longest 9.1 ms", "fail"),
    ("steal", "the hypervisor took 12 % of cpu1 during the session", "fail"),
    ("throttle", "slowed down 3 times", "warn"),
    ("kernel_log", "the kernel said something {strange}", "warn"),
    ("environment", "the kernel changed", "warn"),
    ("input", "the file data, an argument of a command, has changed since it was used", "warn"),
    ("drift", "the program gzip has changed", "warn"),
)


@st.composite
def trials(draw: st.DrawFn) -> dict[str, Any]:
    """Draw what a small trial is made of: failures, waiting, things that the host did, a metric of some."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.sampled_from([1, 2, 3, 15]))
    benchmarks = [f"{draw(st.sampled_from(NAMES))}-{k}" for k in range(count)]
    variants = [f"v{draw(st.sampled_from(NAMES))}-{k}" for k in range(draw(st.integers(2, 3)))]
    sessions, runs = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    noise = draw(st.sampled_from([0.0, 0.01, 0.2]))
    size = sessions * runs
    times = {
        v: {b: np.exp(rng.normal(0, noise, size) - 3).tolist() for b in benchmarks}
        for v in variants
    }
    cells = [(b, v) for b in benchmarks for v in variants]
    return {
        "times": times,
        "sessions": sessions,
        "failing": draw(st.sets(st.sampled_from(cells), max_size=3)),
        "often": draw(st.sampled_from([0.2, 1.0])),
        "waiting": draw(st.sets(st.sampled_from(variants))),
        "metered": draw(st.sets(st.sampled_from(benchmarks))),
        "zeros": draw(st.booleans()),
        "given_up": draw(st.sets(st.sampled_from(cells), max_size=2)),
        "checks": draw(st.sets(st.sampled_from(CHECKS), max_size=4)),
        "outputs": draw(st.sets(st.sampled_from(cells), max_size=2)),
        "chance": rng.random(len(cells) * size).tolist(),
    }


def written(drawn: dict[str, Any], path: Path) -> Path:
    """Write the trial, as the runner does."""
    metrics = {"rate": {"unit": "1/s", "better": "higher"}} if drawn["metered"] else {}
    made = synthetic(
        drawn["times"],
        sessions=drawn["sessions"],
        metrics=metrics,
        given_up=tuple(
            GivenUp(benchmark=b, variant=v, session=1, position=1, runs=1, why="exit")
            for b, v in sorted(drawn["given_up"])
        ),
    )
    rows = []
    for row, chance in zip(made.rows, drawn["chance"], strict=True):
        changes: dict[str, Any] = {"disturbed": row.variant in drawn["waiting"] and chance < 0.8}
        if row.benchmark in drawn["metered"]:
            rate = 0.0 if drawn["zeros"] and chance < 0.3 else 100 * (1 + chance / 10)
            changes["metrics"] = {"rate": [rate]}
        if (row.benchmark, row.variant) in drawn["failing"] and chance < drawn["often"]:
            changes |= {"outcome": "exit", "exit_code": 1, "metrics": {}}
        rows.append(replace(row, **changes))
    made.rows = rows
    notes = [
        {"session": 1, "when": when, "check": check, "status": status, "what": what}
        for check, what, status in sorted(drawn["checks"])
        for when in (["resume"] if check == "drift" else ["before", "during"])
    ]
    notes += [
        {
            "session": 1,
            "when": "during",
            "check": "output",
            "status": "warn",
            "what": f"{b} / {v} wrote another output than before",
        }
        for b, v in sorted(drawn["outputs"])
    ]
    made.extra[FINDINGS] = b"".join(json.dumps(one).encode() + b"\n" for one in notes)
    return Path(made.write(path))


def notes_of(page: Page) -> list[str]:
    """Give the notes below an answer, without the numbers that rows bear."""
    blocks = [block for section in (*page.sections, *page.following) for block in section.blocks]
    texts = [block.text for block in blocks if isinstance(block, Note)]
    plain = [text.partition("] ")[2] if text.startswith("[") else text for text in texts]
    return [text for text in plain if not text.startswith("and ")]


def reported(path: Path, metric: str) -> list[str]:
    """Give the codes of the cautions that stand open on the report's first screen."""
    subject = subject_of([str(path)], Reading(metric=metric), explain=False)
    return [caution.code for caution in assemble([subject]).shown]


def names_shown(verdict: Verdict) -> set[str]:
    found = {verdict.baseline, *(one.variant for one in verdict.candidates)}
    for one in verdict.candidates:
        found |= {line.name for line in one.multilevel.benchmarks} if one.multilevel else set()
    return found


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(drawn=trials(), metric=st.sampled_from(["wall", "rate", "max_rss"]), only=st.booleans())
def test_four_screens_say_the_same_of_what_they_show(
    drawn: dict[str, Any], metric: str, only: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = written(drawn, tmp_path_factory.mktemp("trials") / "trial")
    trial = read_trial(path)
    asked = {"benchmarks": [trial.manifest.benchmarks[0]]} if only else {}
    try:
        verdict = judge(trial, metric=metric, **asked)
    except FairtrialError:  # nothing that counts: no screen
        return
    told = shown_cautions(verdict)
    texts = [one.text for one in told.cautions]
    assert len(texts) <= 3
    for text in texts:
        assert 0 < len(text) <= LONGEST, text
        assert "\n" not in text
    shown = names_shown(verdict)
    everything = {*trial.manifest.benchmarks, *trial.manifest.variants}
    for one in told.cautions:
        assert one.short is not None
        assert set().union(*one.short.slots) <= shown | {metric}
        for name in everything - shown:
            assert not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", one.text)
    assert notes_of(page_of(verdict)) == texts
    if any(one.multilevel for one in verdict.candidates):
        gated = gate_verdict(verdict, "worse>2%")
        own = [str(one.short) for one in gated.cautions if one.code == "gate-without"]
        assert notes_of(page_of(gated)) == own + texts
    if not asked:
        codes = [one.code for one in told.cautions]
        assert reported(path, metric) == codes
