"""Iterations of simulated processes: noise of the structures that two public measurements have, and known changes.

The noise of the logarithms is a cycle plus an autoregression plus slow outliers. Fitted to the last half of each process,
against its running median of 101 iterations (5, 50 and 95 % of the processes):

- binarytrees on V8 (20 processes of 2,000 iterations, Barrett et al.): sd .0016, .0020, .0024; a cycle of 2.717 iterations
  with two fifths to four fifths of the variance; outliers beyond five sd in 0, 0 and 2.7 % of iterations;
- Savina and Are-We-Fast-Yet (212 processes of 1,000 iterations, ReBenchDB): sd .0006, .042, .37; correlation of
  neighbours -.04, .31, .75; outliers in 0, 3 and 23 % of iterations, of mean size 5, 9 and 21 sd, nearly all slow.

Sizes of changes are 8 to 25 sd of the noise, and 3 % at least; the first iteration of a Savina warm-up takes 2 to 20 times
as long (there: 1.4 to 110).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
KINDS = ("flat", "warm-up", "slowdown", "no steady state", "fast cycle")
WORD = {"fast cycle": "flat"}  # a cycle that repeats fifty times or more is one level


def noise(rng: np.random.Generator, n: int, like: str) -> tuple[Floats, float]:
    """Give the noise of the logarithms, and its standard deviation without outliers."""
    if like == "v8":
        sd = float(rng.choice([0.0016, 0.002, 0.0024]))
        cycle, r = float(rng.choice([0.4, 0.8])), float(rng.choice([0.0, 0.2]))
        share, size = float(rng.choice([0.0, 0.0003, 0.02])), 3.0
    else:
        sd = float(rng.choice([0.0012, 0.0118, 0.0417, 0.0973]))
        cycle, r = 0.0, float(rng.choice([0.0, 0.15, 0.3, 0.55, 0.7]))
        share, size = ((0.002, 5.0), (0.03, 9.0), (0.11, 21.0))[int(rng.integers(3))]
        size = min(size, 0.8 / sd)
    fresh = rng.standard_normal(n + 50)
    near = fresh.copy()
    for k in range(1, n + 50):
        near[k] = r * near[k - 1] + fresh[k]
    near = near[50:] * np.sqrt(1 - r * r)
    turn = 2 * np.pi * (np.arange(n) / 2.7174 + rng.random())
    found = sd * (np.sqrt(2 * cycle) * np.sin(turn) + np.sqrt(1 - cycle) * near)
    return found + (rng.random(n) < share) * sd * size * rng.exponential(size=n), sd


def process(rng: np.random.Generator, n: int, kind: str, like: str) -> tuple[Floats, int]:
    """Give the iterations of a process, and how many of them are its beginning."""
    logs, sd = noise(rng, n, like)
    size, place, begin = max(0.03, rng.uniform(8, 25) * sd), np.arange(n), 0
    if kind in ("warm-up", "slowdown"):
        begin = int(np.exp(rng.uniform(0, np.log(min(500, n // 4) + 0.99))))
        if kind == "slowdown":
            logs = logs - size * (place < begin)
        else:
            falling = size * np.exp(-2 * place / begin) if rng.integers(2) else size
            extra = np.where(place < begin, falling, 0.0)
            first = rng.uniform(np.log(2), np.log(20)) if like == "savina" else max(0.03, 15 * sd)
            extra[0] = max(extra[0], first)
            logs = logs + extra
    elif kind == "no steady state":
        if rng.integers(2):  # a slow cycle
            period = rng.uniform(n / 6, n / 2)
            logs = logs + size * (np.sin(2 * np.pi * (place / period + rng.random())) > 0)
        else:  # shifts, the last one in the last quarter
            for low, high, there in ((0.1, 0.7, rng.integers(2)), (0.78, 0.97, 1)):
                logs = logs + there * rng.choice([-1, 1]) * size * (
                    place >= int(n * rng.uniform(low, high))
                )
    elif kind == "fast cycle":
        turn = min(n // 50, 100)  # a slow iteration in more than 100 is no part of the last 99 %
        logs = logs + size * (place % int(rng.integers(2, turn + 1)) == 0)
    return np.exp(logs), begin
