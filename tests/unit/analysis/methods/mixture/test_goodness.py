"""The fit test's arguments, edges and text, its kernels, the clock's step, and the corpus."""

import json
import math
import signal
import threading
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.special import ndtr
from scipy.stats import kstest

from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.fit_kernel import distance, draw_sorted, fit_sorted, room_for
from analysis.methods.mixture.goodness import CorpusFit, FitTest, fit_corpus, jittered, ks_fit
from analysis.methods.mixture.model import Mixture
from analysis.stats.samples import clock_step


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def sample() -> np.ndarray:
    return np.concatenate([rng(3).normal(10, 0.5, 14), rng(4).normal(14, 0.5, 21)])


@pytest.fixture(scope="module")
def mixture(sample: np.ndarray) -> Mixture:
    return fit_mixture(sample)


def rows_of(mixture: Mixture) -> np.ndarray:
    return np.stack([mixture.weights, mixture.means, mixture.sds])


def coarse(n: int = 35, step: float = 0.5) -> np.ndarray:
    return np.round(rng(5).normal(10, 1, n) / step) * step


class TestArguments:
    @pytest.mark.parametrize(
        ("options", "word"),
        [
            *(
                ({name: count}, name)
                for name in ("resamples", "max_components", "workers", "starts")
                for count in (0, 1.5, 10**9)
            ),
            ({"ties": "split"}, "ties"),
            ({"resolution": 0.1}, "jitter"),
            *(({"ties": "jitter", "resolution": s}, "resolution") for s in (0.0, -1.0, math.nan)),
        ],
    )
    def test_options(
        self, sample: np.ndarray, mixture: Mixture, options: dict[str, Any], word: str
    ) -> None:
        with pytest.raises(UsageError, match=word):
            ks_fit(sample, mixture, rng=rng(), **options)

    @pytest.mark.parametrize(
        ("values", "kind", "word"),
        [
            ([], InsufficientDataError, "at least 2"),
            ([1.0], InsufficientDataError, "at least 2"),
            ([1, math.nan], AnalysisError, "finite"),
            ([2, 2, 2], AnalysisError, "equal"),
            ([1e200, 0], AnalysisError, "unit"),
        ],
    )
    def test_values(
        self, mixture: Mixture, values: list[float], kind: type[Exception], word: str
    ) -> None:
        with pytest.raises(kind, match=word):
            ks_fit(values, mixture, rng=rng())

    def test_the_log_scale_needs_positive_values(self) -> None:
        mixture = fit_mixture([1, 2, 4, 9], scale="log")
        with pytest.raises(AnalysisError, match="positive"):
            ks_fit([0, 1, 2, 4], mixture, rng=rng())

    @pytest.mark.parametrize("risk", [0, 1, -0.1, math.nan])
    def test_risk(self, sample: np.ndarray, mixture: Mixture, risk: float) -> None:
        with pytest.raises(UsageError, match="risk"):
            ks_fit(sample, mixture, resamples=9, rng=rng()).rejected(risk)


class TestResult:
    def test_both_ends_of_every_step(self, sample: np.ndarray, mixture: Mixture) -> None:
        found = ks_fit(sample, mixture, resamples=19, rng=rng())
        assert found.statistic == pytest.approx(kstest(sample, mixture.cdf).statistic, rel=1e-12)

    def test_the_pvalues_and_critical_distances(self, sample: np.ndarray, mixture: Mixture) -> None:
        found = ks_fit(sample, mixture, resamples=250, rng=rng())
        further = int((found.distances >= found.statistic).sum())
        assert found.pvalue == (further + 1) / 251
        assert found.pvalue_published == (found.distances > found.statistic).mean()
        assert (np.diff(found.distances) >= 0).all()
        places = {0.1: 225, 0.05: 237, 0.01: 247}  # [250 * 0.95] = [237.5], [250 * 0.99] = [247.5]
        assert found.critical == {risk: found.distances[k - 1] for risk, k in places.items()}

    @pytest.mark.parametrize(
        ("n", "places"), [(10, (9, 9, 9)), (20, (18, 19, 19)), (100, (90, 95, 99))]
    )
    def test_whole_places_survive_rounding(
        self, sample: np.ndarray, mixture: Mixture, n: int, places: tuple[int, ...]
    ) -> None:
        found = ks_fit(sample, mixture, resamples=n, rng=rng())
        assert list(found.critical.values()) == [found.distances[k - 1] for k in places]

    def test_the_smallest_pvalue_is_not_zero(self, mixture: Mixture) -> None:
        found = ks_fit([1.0, 1.1, 1.2], mixture, resamples=20, rng=rng())
        assert found.pvalue == 1 / 21
        assert found.pvalue_published == 0
        assert found.rejected()
        assert "no mixture of Gaussians fits" in str(found)
        assert "was fitted to 35 values and these are 3" in str(found)

    def test_one_resample(self, sample: np.ndarray, mixture: Mixture) -> None:
        found = ks_fit(sample, mixture, resamples=1, rng=rng())
        assert found.pvalue in (0.5, 1.0)
        assert found.to_dict()["critical"] == {"0.1": None, "0.05": None, "0.01": None}
        assert "p cannot be less than 1/2" in str(found)
        assert "nan" not in str(found)

    def test_threads_change_nothing(self, sample: np.ndarray, mixture: Mixture) -> None:
        tests = [
            ks_fit(sample, mixture, resamples=41, rng=rng(), workers=w) for w in (1, 2, 7, None)
        ]
        assert len({test.distances.tobytes() for test in tests}) == 1
        assert len({json.dumps(test.to_dict()) for test in tests}) == 1

    def test_another_generator_gives_others(self, sample: np.ndarray, mixture: Mixture) -> None:
        one, other = (ks_fit(sample, mixture, resamples=9, rng=rng(k)).distances for k in (1, 2))
        assert not set(one) & set(other)

    def test_order_does_not_matter(self, sample: np.ndarray, mixture: Mixture) -> None:
        frozen = sample[::-1].copy()
        frozen.flags.writeable = False
        one, other = (ks_fit(x, mixture, resamples=9, rng=rng()) for x in (sample, frozen))
        assert one.to_dict() == other.to_dict()

    @pytest.mark.parametrize("power", [-30, 30])
    def test_powers_of_two_change_nothing(
        self, sample: np.ndarray, mixture: Mixture, power: int
    ) -> None:
        # (2^-30 is 1e-9: variances stay far above mclust's limit only with a floor)
        unit = 2.0**power
        scaled = Mixture.from_parameters(
            weights=mixture.weights, means=mixture.means * unit, sds=mixture.sds * unit
        )
        low, high = (
            ks_fit(x, m, resamples=9, max_components=1, rng=rng())
            for x, m in ((sample, mixture), (sample * unit, scaled))
        )
        assert low.distances == pytest.approx(high.distances, rel=1e-12)
        assert low.statistic == pytest.approx(high.statistic, rel=1e-12)

    def test_the_log_scale_is_that_of_the_logarithms(self, sample: np.ndarray) -> None:
        logs = np.log(sample)
        one = ks_fit(sample, fit_mixture(sample, scale="log"), resamples=19, rng=rng())
        other = ks_fit(logs, fit_mixture(logs), resamples=19, rng=rng())
        assert one.distances.tolist() == other.distances.tolist()
        assert one.statistic == other.statistic

    def test_text(self, sample: np.ndarray, mixture: Mixture) -> None:
        text = str(ks_fit(sample, mixture, resamples=100, rng=rng()))
        assert text.startswith("these 35 values show no departure from a mixture of Gaussians (p =")
        assert "weak evidence" in text
        assert "few samples were drawn (100)" in text
        assert max(map(len, text.splitlines())) <= 96

    def test_progress_and_its_stop(self, sample: np.ndarray, mixture: Mixture) -> None:
        class EnoughError(Exception):
            pass

        def stop(_done: int, _total: int) -> None:
            raise EnoughError

        for workers in (1, 2):
            seen: list[tuple[int, int]] = []
            ks_fit(
                sample,
                mixture,
                resamples=30,
                rng=rng(),
                workers=workers,
                progress=lambda done, total: seen.append((done, total)),  # noqa: B023 - called at once
            )
            assert seen == sorted(seen)
            assert seen[-1] == (30, 30)
            with pytest.raises(EnoughError):
                ks_fit(sample, mixture, resamples=30, rng=rng(), workers=workers, progress=stop)


class TestFits:
    def test_failed_fits_count_as_furthest(self) -> None:
        # numbers of this size are 2^-22 apart: most replicates have all values equal
        mixture = Mixture.from_parameters(weights=[1], means=[2.0**30], sds=[1e-8])
        found = ks_fit([2.0**30, 2.0**30 + 1], mixture, resamples=19, rng=rng())
        assert found.failed_fits == 19
        assert (found.distances == 1).all()
        assert found.pvalue == 1
        assert "19 of 19 replicates" in str(found)

    def test_replicates_are_fitted_as_the_values(self, sample: np.ndarray) -> None:
        mixture = fit_mixture(sample, max_components=1)
        one, more = (
            ks_fit(sample, mixture, resamples=49, max_components=k, rng=rng()) for k in (1, 4)
        )
        assert one.rejected()
        assert any("chosen from up to 1 components" in caution for caution in more.cautions)
        assert not any("chosen from" in caution for caution in one.cautions)

    def test_starts_and_floor_reach_the_replicates(
        self, sample: np.ndarray, mixture: Mixture
    ) -> None:
        plain, starts, floor = (
            ks_fit(sample, mixture, resamples=19, rng=rng(), **options).distances
            for options in ({}, {"starts": 3}, {"variance_floor": 9.0})
        )
        assert (plain != starts).any()
        assert (plain != floor).all()

    def test_a_constant_sample_with_a_floor(self) -> None:
        mixture = fit_mixture([3.0] * 8, variance_floor=1.0)
        found = ks_fit([3.0] * 8, mixture, resamples=9, rng=rng(), variance_floor=1.0)
        assert found.statistic == pytest.approx(0.5)
        assert found.largest_tie == 8


class TestTies:
    def test_a_caution_when_ties_decide(self) -> None:
        x = coarse()
        found = ks_fit(x, fit_mixture(x), resamples=200, rng=rng())
        assert found.largest_tie == np.unique(x, return_counts=True)[1].max()
        assert found.distinct == np.unique(x).size
        (caution,) = found.cautions
        assert "values are equal, which alone makes a distance of" in caution
        assert found.statistic >= found.largest_tie / 70

    def test_few_ties_are_borne(self) -> None:
        x = coarse(step=0.05)
        assert np.unique(x).size < x.size
        assert not ks_fit(x, fit_mixture(x), resamples=200, rng=rng()).cautions

    def test_jitter_infers_the_step_and_fits_anew(self) -> None:
        x = coarse()
        given = fit_mixture(x)
        found = ks_fit(x, given, resamples=50, rng=rng(), ties="jitter")
        assert found.resolution == 0.5
        assert found.mixture is not given
        assert found.mixture.n == 35
        assert found.distinct < 35
        assert "another seed gives another p" in found.cautions[0]
        same = ks_fit(x, given, resamples=50, rng=rng(), ties="jitter", resolution=0.5)
        assert same.to_dict() == found.to_dict()

    def test_jitter_of_a_constant_sample_needs_the_step(self) -> None:
        mixture = fit_mixture([3.0] * 8, resolution=0.1)
        with pytest.raises(AnalysisError, match="common step"):
            ks_fit([3.0] * 8, mixture, rng=rng(), ties="jitter")
        found = ks_fit([3.0] * 8, mixture, resamples=9, rng=rng(), ties="jitter", resolution=0.1)
        assert found.resolution == 0.1

    def test_jitter_without_ties_moves_nothing(self, sample: np.ndarray, mixture: Mixture) -> None:
        found = ks_fit(sample, mixture, resamples=20, rng=rng(), ties="jitter")
        assert found.resolution is None
        assert found.statistic == ks_fit(sample, mixture, resamples=1, rng=rng()).statistic
        assert "nothing was moved" in found.cautions[0]

    @pytest.mark.parametrize(
        ("values", "step"),
        [
            ([92.41, 92.01, 92.22], 0.01),
            ([1.25, 1.5, 3], 0.25),
            ([5, 5, 9, 21], 4.0),
            ([-1.5, 2.5], 4.0),
            ([0, 0, 1], 1.0),
            ([3e9, 3e9 + 1000, 3e9 + 5000], 1000.0),
            ([1e300, 3e300], 2e300),
            ([7e-9, 1e-8, 9e-9], 1e-9),
            (100 + np.array([1, 3, 7]) * 1e-9, 2e-9),
            (np.array([3, 7, 9, 100]) / 3e9, 1 / 3e9),
            (np.round(np.linspace(0, 5, 30) / 0.37) * 0.37, 0.37),
            (np.array([1, 2, 5, 9]) * 2.0**-30, 2.0**-30),
        ],
    )
    def test_clock_step(self, values: Any, step: float) -> None:
        x = np.asarray(values, dtype=float)
        assert clock_step(x) == pytest.approx(step, rel=1e-6)
        assert clock_step(x[::-1]) == clock_step(x)

    def test_a_step_near_the_end_of_the_range_of_numbers(self) -> None:
        """Sums of counts times gaps overflowed, with a warning of numpy on the screen."""
        third = 1e306 / 3  # no decimal
        values = third * np.array([10.0, 11.0, 100.0])
        assert clock_step(values) == pytest.approx(third, rel=1e-12)

    @pytest.mark.parametrize(
        "values", [[3.0], [2.0, 2.0], [math.pi, math.e, 1.0, math.sqrt(2), math.sqrt(3)]]
    )
    def test_no_clock_step(self, values: list[float]) -> None:
        assert clock_step(np.array(values)) is None

    @pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
    def test_continuous_values_have_no_step(self, scale: float) -> None:
        for seed in range(20):
            assert clock_step(rng(seed).normal(100, 1, 20) * scale) is None

    def test_jitter_stays_within_half_a_step(self) -> None:
        x = coarse(500)
        moved, step = jittered(x, None, rng())
        assert step == 0.5
        assert 0.24 < np.abs(moved - x).max() <= 0.25
        assert np.unique(moved).size == 500


class TestKernels:
    def test_draws_come_from_the_mixture(self) -> None:
        mixture = Mixture.from_parameters(weights=[0.3, 0.5, 0.2], means=[0, 3, 9], sds=[1, 0.1, 2])
        x = np.empty(20_000)
        njit(draw_sorted.py_func)(np.array([7], np.uint64), rows_of(mixture), x)
        assert (np.diff(x) >= 0).all()
        assert kstest(x, mixture.cdf).pvalue > 0.01
        # negative control: another weight would be seen
        other = Mixture.from_parameters(weights=[0.32, 0.48, 0.2], means=[0, 3, 9], sds=[1, 0.1, 2])
        assert kstest(x, other.cdf).pvalue < 0.01

    def test_neighbouring_seeds_are_unrelated(self) -> None:
        one = np.array([[1.0], [0.0], [1.0]])
        sums = []
        x, draw = np.empty(5), njit(draw_sorted.py_func)
        for seed in range(1000):
            draw(np.array([seed], np.uint64), one, x)
            sums.append(x.sum() / math.sqrt(5))
        assert kstest(sums, "norm").pvalue > 0.01
        assert abs(np.corrcoef(sums[:-1], sums[1:])[0, 1]) < 0.1

    def test_distance_of_ties(self) -> None:
        x = np.array([0.0, 0.0, 0.0, 1.0])
        one = np.array([[1.0], [0.0], [1.0]])
        assert distance(x, one) == pytest.approx(0.5)
        assert distance(x[3:], one) == pytest.approx(ndtr(1))

    def test_a_replicate_depends_on_its_seed_only(self, mixture: Mixture) -> None:
        seeds = rng().integers(0, 2**64, 12, dtype=np.uint64)
        parameters = (rows_of(mixture), 0.0, room_for(20, 9))
        all_at_once, singly = np.empty(12), np.empty(12)
        fit_sorted(seeds, *parameters, all_at_once)
        for i in reversed(range(12)):
            fit_sorted(seeds[i : i + 1], *parameters, singly[i : i + 1])
        assert all_at_once.tolist() == singly.tolist()


@pytest.fixture(scope="module")
def samples() -> dict[str, Any]:
    many: dict[str, Any] = {f"s{k}": rng(k).normal(size=12 + k) for k in range(6)}
    return many | {"constant": [1, 1, 1], "short": [3.0]}


class TestCorpus:
    def run(self, samples: dict[str, Any], **options: Any) -> dict[str, str]:
        rows = fit_corpus(samples, resamples=9, rng=rng(), **options)
        return {row.label: json.dumps(row.to_dict()) for row in rows}

    def test_order_and_threads_do_not_matter(self, samples: dict[str, Any]) -> None:
        whole = self.run(samples, workers=1)
        assert list(whole) == list(samples)
        assert self.run(samples, workers=3) == whole
        backwards = dict(reversed(samples.items()))
        assert self.run(backwards) == whole
        assert self.run({"s3": samples["s3"]})["s3"] == whole["s3"]
        # negative control: another label is another stream
        assert self.run({"t3": samples["s3"]})["t3"].replace("t3", "s3") != whole["s3"]

    def test_what_cannot_be_fitted_says_why(self, samples: dict[str, Any]) -> None:
        *_, constant, short = fit_corpus(samples, resamples=9, rng=rng())
        assert constant.mixture is None
        assert "equal" in str(constant)
        assert short.test is None
        assert json.loads(json.dumps(short.to_dict()))["why"].startswith("a mixture needs")

    def test_text(self, samples: dict[str, Any]) -> None:
        row = next(fit_corpus({"x" * 99: samples["s0"]}, resamples=9, rng=rng()))
        assert isinstance(row, CorpusFit)
        assert isinstance(row.test, FitTest)
        assert ": 1 Gaussian, distance 0." in str(row)
        assert len(str(row)) <= 96

    def test_progress(self, samples: dict[str, Any]) -> None:
        seen: list[tuple[int, int]] = []
        here: set[int] = set()

        def look(done: int, total: int) -> None:
            seen.append((done, total))
            here.add(threading.get_ident())

        list(fit_corpus(samples, resamples=9, rng=rng(), progress=look))
        assert seen == sorted(seen)
        assert seen[-1] == (8, 8)
        assert here == {threading.get_ident()}

    def test_nothing_at_all(self) -> None:
        assert list(fit_corpus({}, rng=rng(), progress=lambda done, total: None)) == []

    @pytest.mark.parametrize("name", ["workers", "resamples"])
    def test_arguments(self, name: str) -> None:
        options: dict[str, Any] = {name: 0}
        with pytest.raises(UsageError, match=name):
            fit_corpus({"a": [1, 2]}, rng=rng(), **options)
        with pytest.raises(UsageError, match="max_components"):
            list(fit_corpus({"a": [1, 2]}, rng=rng(), max_components=0))

    def test_options_reach_the_test(self) -> None:
        x = coarse()
        (row,) = fit_corpus({"a": x}, resamples=9, rng=rng(), ties="jitter", scale="log")
        assert row.mixture is not None
        assert row.mixture.scale == "log"
        assert row.test is not None
        assert row.test.resolution == 0.5

    def test_ctrl_c_stops_inside_a_test(self) -> None:
        # each sample would take a million resamples: only a stop inside the test ends within a day
        samples = {f"s{k}": rng(k).normal(size=20) for k in range(50)}
        ctrl_c = threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,))

        def interrupted() -> None:
            ctrl_c.start()
            next(fit_corpus(samples, resamples=1_000_000, rng=rng(), workers=2))

        with pytest.raises(KeyboardInterrupt):
            interrupted()
