"""Compile the kernels before several workers need them: each would compile them for itself.

The machine code goes where the product keeps it (`analysis.stats.compiled`), and is found there the
next time: then this takes as long as its imports.

python tests/compile_kernels.py
"""

from __future__ import annotations

import numpy as np

import analysis


def main() -> None:
    rng = np.random.default_rng(1)
    pairs = np.concatenate([rng.normal(10, 1, (20, 2)), rng.normal(15, 1, (20, 2))])
    x, y = pairs.T
    analysis.fit_mixture(rng.normal(10, 1, 300), max_components=2)  # too many to do without
    mixture = analysis.fit_mixture(x, max_components=2)
    analysis.ks_fit(x, mixture, resamples=2, max_components=2, rng=rng)
    analysis.mode_evidence(x, mixture, resamples=2, rng=rng)
    analysis.fit_mixture_2d(pairs, max_components=2)  # its name in earlier trees, too
    ids = {"one": list(range(20)), "two": list(range(20))}
    sides = [
        analysis.PerformanceMatrix.from_samples(
            name,
            {"one": values[:20], "two": values[20:]},
            better="lower",
            blocks=ids if known else None,
        )
        for known in (False, True)
        for name, values in (("x", x), ("y", y))
    ]
    for pair in (sides[:2], sides[2:]):
        for centre in ("runs", "median"):
            analysis.randomization_test(*pair, centre=centre, resamples=9, rng=rng)
        for interval in ("percentile", "studentized"):
            analysis.bootstrap_speedup(
                *pair, mean="harmonic", interval=interval, resamples=50, rng=rng
            )
    analysis.empirical_distribution(sides[0], resamples=9, rng=rng)


if __name__ == "__main__":
    main()
