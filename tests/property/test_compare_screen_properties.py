"""No line of a comparison's screen is wider than the terminal, whatever the commands are called."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.verdict.compare import NamedCommand, Standing, answer_of, screen_of
from tests.examples import examples
from tests.planted import filled, frame

NAMES = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="ab -'\"\\\n\t\x1b…%{}", max_size=60),
    st.sampled_from(["sort a", "./sort a", "gzip -6 -k -c data", "x" * 150, "a " * 70]),
)
# a command to paste is continued between words, and a word is never broken
PASTED = re.compile(r"^(next  | {6,})")


@st.composite
def screens(draw):
    count = draw(st.integers(1, 6))
    names = draw(st.lists(NAMES, min_size=count, max_size=count))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sessions, runs = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    trial = frame(rng, sessions=sessions, runs=runs, variants=count)
    factor = rng.choice([0.2, 0.99, 1.0, 1.01, 1.5, 30.0], count)
    scale = draw(st.sampled_from([1e-6, 1e-3, 0.1, 9.99, 61.0, 1e4]))
    logs = np.log(scale * factor[trial.variant]) + rng.normal(0, 0.05, len(trial))
    trial = filled(trial, logs, user_s=np.exp(logs), system_s=np.zeros(len(trial)))
    lost = rng.random(len(trial)) < draw(st.sampled_from([0, 0, 0.05, 0.4]))
    trial = replace(trial, outcome=np.where(lost, 1, 0))
    commands = [
        NamedCommand(command=name, variant=f"v{k}", name=draw(st.sampled_from([None, f"n{k}"])))
        for k, name in enumerate(names)
    ]
    beside = tuple(f"v{k}" for k in range(1, count) if draw(st.booleans()))
    return (
        trial,
        commands,
        {
            "seconds": draw(st.floats(0.01, 1e5)),
            "standing": Standing(leader="v0", beside=beside) if count > 2 else None,
        },
    )


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(screens(), st.integers(40, 120))
def test_no_line_is_wider_than_the_terminal(made, width):
    from analysis.errors import InsufficientDataError

    trial, commands, known = made
    try:
        answer = answer_of(trial, commands, **known)
    except InsufficientDataError:  # no run counts
        return
    for short in (False, True):
        lines = screen_of(answer, width, ("a note " * 30,), short=short).split("\n")
        for line in lines:
            assert len(line) <= width or PASTED.match(line), line
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", "\n".join(lines))
