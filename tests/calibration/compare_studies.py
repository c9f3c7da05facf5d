"""Simulated comparisons of commands: sessions of many kinds, looked at until the answer is certain.

A cell is a law of sessions and runs. Both commands obey the same law, so every "faster" or "slower" is
false. What a look decides is the product's own: `ErrorLaw` at the nominal risk, the word off the interval,
and `dependence_of` as the guard. The guard only withholds words, so it is left out where a bound is held.

Prints the table of docs/methods/multilevel.md (about five minutes of one core):

    python tests/calibration/compare_studies.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analysis.methods.multilevel.law import ErrorLaw
from analysis.methods.multilevel.values import LEAST, dependence_of
from analysis.record.trial_files import LOOKS
from analysis.stats.multiplicity import nominal_risk
from analysis.stats.samples import Array, Flags

MARGIN = float(np.log1p(0.01))
SESSION_SD = RUN_SD = 0.01
INDEPENDENT = (
    *("normal", "5 % of runs x 1.5", "two speeds", "exponential tail"),
    *("10 % of sessions 10 % slower for one command", "clock of 20 ticks a run"),
)
DEPENDENT = {"AR .3": 0.3, "AR .6": 0.6, "AR .9": 0.9}
FIXED = 6  # sessions of the design without looks


def session_means(
    kind: str, paths: int, sessions: int, runs: int, rng: np.random.Generator
) -> Array:
    """Give the means of logs of one command's sessions, shape (paths, sessions)."""
    shape = (paths, sessions, runs)
    effect = rng.standard_normal((paths, sessions))
    phi = DEPENDENT.get(kind, 0.0)
    for k in range(1, sessions if phi else 0):
        effect[:, k] = phi * effect[:, k - 1] + np.sqrt(1 - phi**2) * effect[:, k]
    effect *= SESSION_SD
    scatter = RUN_SD * rng.standard_normal(shape)
    if kind == "5 % of runs x 1.5":
        scatter += np.log(1.5) * (rng.random(shape) < 0.05)
    elif kind == "two speeds":
        scatter += np.log(1.2) * (rng.random(shape) < 0.25)
    elif kind == "exponential tail":
        scatter = 0.05 * rng.exponential(size=shape)
    elif kind == "10 % of sessions 10 % slower for one command":
        effect += np.log(1.1) * (rng.random((paths, sessions)) < 0.1)
    elif kind == "clock of 20 ticks a run":
        ticks = np.rint(20 * np.exp(scatter + effect[..., None]))
        return np.asarray(np.log(ticks / 20).mean(axis=-1))
    return np.asarray(scatter.mean(axis=-1) + effect)


def differences(
    kind: str, paths: int, runs: int, rng: np.random.Generator, *, sessions: int = LOOKS[-1]
) -> Array:
    """Give the session differences of two commands of one law."""
    ours, theirs = (session_means(kind, paths, sessions, runs, rng) for _ in range(2))
    return ours - theirs


def beside_a_neighbour(
    starts: Flags, period: float, runs: int, sd: float, rng: np.random.Generator
) -> Array:
    """Give the session differences of one program under two names beside a neighbour, shape (paths, sessions).

    The neighbour takes 5 % for half of each period, which counts in sessions. In a session where `starts` holds
    the first command begins, and the two begin by turns from run to run; `sd` is that of sessions and of runs.
    """
    paths, sessions = starts.shape
    at = (np.arange(2 * runs) + 0.5) / (2 * runs) + np.arange(sessions)[:, None]
    slow = (at + period * rng.random((paths, 1, 1))) % period < period / 2
    first = np.arange(2 * runs) // 2 % 2 == np.arange(2 * runs) % 2  # 1 0 0 1 1 0 ...
    sign = np.where(first == starts[..., None], 1, -1)
    logs = np.log(1.05) * slow + sd * rng.standard_normal(slow.shape)
    noise = np.sqrt(2) * sd * rng.standard_normal((paths, sessions))
    return np.asarray((sign * logs).sum(axis=-1) / runs + noise)


class Words(NamedTuple):
    """What was said of each path: its word, the look at which it was said, and whether it was withheld.

    `word` is 1, -1 for faster and slower, 2 for equivalent, 0 for none; `withheld` where the interval at the
    last look would decide and the guard fires.
    """

    word: Array
    at: Array
    withheld: Flags


def words_at(values: Array, risk: float, margin: float = MARGIN) -> Array:
    """Give the word of each path of session values at one look, by the interval at this risk."""
    n = values.shape[1]
    mean = values.mean(axis=1)
    law = ErrorLaw(alpha=risk)
    half = law.half(values.std(axis=1, ddof=1) / np.sqrt(n), np.full(len(values), n - 1.0))
    inside = (mean - half > -margin) & (mean + half < margin)
    return np.where(inside, 2, np.where(mean - half > 0, 1, np.where(mean + half < 0, -1, 0)))


def looked(
    values: Array,
    *,
    looks: Sequence[int] = LOOKS,
    risk: float | None = None,
    guarded: bool = False,
    margin: float = MARGIN,
) -> Words:
    """Look at each path until it is decided; `risk` is that of each look."""
    risk = nominal_risk(0.05) if risk is None else risk
    paths = len(values)
    word, at = np.zeros(paths, dtype=int), np.full(paths, looks[-1])
    withheld = np.zeros(paths, dtype=bool)
    going = np.arange(paths)
    for n in looks:
        said = words_at(values[going, :n], risk, margin)
        held = np.zeros(going.size, dtype=bool)
        if guarded and n >= LEAST:
            for k in np.flatnonzero(said):
                found = dependence_of(values[going[k], :n, None])
                held[k] = found is not None and found.warned
        ends = (said != 0) & ~held
        word[going[ends]], at[going[ends]] = said[ends], n
        if n == looks[-1]:
            withheld[going] = held
        going = going[~ends]
    return Words(word, at, withheld)


def false_words(words: Words) -> int:
    """Count the paths that are called faster or slower."""
    return int((abs(words.word) == 1).sum())


def false_at_fixed(values: Array) -> int:
    """Count the same with six sessions and one look at 5 %."""
    return int((abs(words_at(values[:, :FIXED], 0.05)) == 1).sum())


CAP = 64  # sessions: of a command of some 100 ms in 20 s
PATHS = 2000


def row(kind: str, runs: int, paths: int = PATHS) -> tuple[float, float, float, float]:
    """Give in per cent: false words without and with the guard, withheld words, false words of six sessions."""
    rng = np.random.default_rng([29, 3, len(kind), runs])
    values = differences(kind, paths, runs, rng, sessions=CAP)
    looks = [n for n in LOOKS if n <= CAP]
    free, guarded = (looked(values, looks=looks, guarded=guard) for guard in (False, True))
    counts = (false_words(free), false_words(guarded), guarded.withheld.sum())
    return tuple(100 * count / paths for count in (*counts, false_at_fixed(values)))


def main() -> None:
    """Print the table."""
    print(
        "| sessions | without the guard | with it | withheld at the cap | six sessions, one look |"
    )
    print("|---|---|---|---|---|")
    for kind in (*INDEPENDENT, *DEPENDENT):
        both = [row(kind, runs) for runs in (1, 2)]
        cells = " | ".join(f"{a:.1f}, {b:.1f}" for a, b in zip(*both, strict=True))
        print(f"| {kind} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
