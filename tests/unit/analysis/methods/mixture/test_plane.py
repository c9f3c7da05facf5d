import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from analysis import MixtureOfMetrics, fit_mixture_of_metrics
from analysis.data.trial import Trial, read_trial
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.mixture import metrics_em_kernel as em_kernel
from analysis.methods.mixture.covariance_kernel import state_of
from analysis.methods.mixture.metrics_fit import MODELS, SIMPLEST
from analysis.methods.mixture.metrics_page import ellipse, meaning, pairs_of_runs, plane_picture
from analysis.methods.mixture.model import Mixture
from analysis.plots.chart import write_picture

Build = Callable[..., Any]


def two_clusters(n: int = 60, *, r: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(5)
    of = np.arange(n) % 2
    u, v = rng.standard_normal((2, n))
    return np.column_stack([2 + of + 0.1 * u, 70 + 9 * of + (r * u + np.sqrt(1 - r * r) * v)])


MIXTURE = MixtureOfMetrics(
    weights=np.array([0.25, 0.75]),
    means=np.array([[1.0, 10.0], [2.0, 30.0]]),
    covariances=np.array([[[0.04, 0.0], [0.0, 1.0]], [[0.09, 0.3], [0.3, 4.0]]]),
    model="VVV",
    names=("wall", "energy"),
)


class TestFit:
    def test_uncorrelated_clusters_make_a_correlation_over_all(self) -> None:
        fit = fit_mixture_of_metrics(two_clusters())
        assert (fit.components, fit.correlated, fit.n) == (2, False, 60)
        assert fit.overall_correlation is not None
        assert fit.overall_correlation > 0.9
        assert fit.correlations.tolist() == [0, 0]
        text = str(fit)
        assert text.startswith("two clusters describe these 60 runs of wall and energy best")
        assert "wall and energy are uncorrelated" in text
        assert f"over all clusters r = {fit.overall_correlation:.3f}" in " ".join(text.split())

    def test_correlation_within(self) -> None:
        fit = fit_mixture_of_metrics(two_clusters(r=0.9))
        assert fit.components == 2
        assert fit.correlated
        assert fit.correlations == pytest.approx([0.9, 0.9], abs=0.08)
        assert fit.within_correlation() == pytest.approx(0.9, abs=0.08)
        assert "wall and energy are correlated: r = 0." in str(fit)

    def test_one_cluster(self) -> None:
        fit = fit_mixture_of_metrics(two_clusters()[::2])
        assert (fit.components, fit.model, fit.iterations) == (1, "EEI", None)
        pairs = two_clusters()[::2]
        assert fit.means[0] == pytest.approx(pairs.mean(axis=0), rel=1e-14)
        assert np.sqrt(np.diag(fit.covariances[0])) == pytest.approx(pairs.std(axis=0), rel=1e-13)
        assert "one cluster describes" in str(fit)

    def test_few_and_many(self) -> None:
        pairs = two_clusters()
        assert fit_mixture_of_metrics(pairs[:3]).n == 3
        assert fit_mixture_of_metrics(pairs, max_components=1).components == 1
        for n in (2, 1, 0):
            with pytest.raises(InsufficientDataError, match="at least 3 runs"):
                fit_mixture_of_metrics(pairs[:n])

    def test_above_the_limit_of_the_start(self) -> None:
        fit = fit_mixture_of_metrics(two_clusters(2300), max_components=3, models=["EEI", "VVV"])
        assert fit.components == 2
        assert "2000 of 2300 runs" in fit.cautions[-1]

    def test_models_are_a_choice(self) -> None:
        fit = fit_mixture_of_metrics(two_clusters(), models=["VVV", "EII"], max_components=4)
        assert fit.bic_table is not None
        assert list(fit.bic_table) == ["EII", "VVV"]
        assert all(len(row) == 4 for row in fit.bic_table.values())
        whole = fit_mixture_of_metrics(two_clusters(), max_components=4).bic_table
        assert whole is not None
        assert list(whole) == list(MODELS)
        assert whole["VVV"] == fit.bic_table["VVV"]

    def test_models_contain_each_other(self) -> None:
        # at K = 1 models of a kind are the same fit, and a freer kind has the larger likelihood
        fit = fit_mixture_of_metrics(two_clusters(r=0.5), max_components=1)
        assert fit.bic_table is not None
        assert len({fit.bic_table[m][0] for m in MODELS if m[1] == "I"}) == 1
        assert len({fit.bic_table[m][0] for m in MODELS if m[2] == "I" != m[1]}) == 1
        assert len({fit.bic_table[m][0] for m in MODELS if m[2] != "I"}) == 1

    def test_the_likelihood_is_that_of_the_state_before(self) -> None:
        pairs = two_clusters(r=0.6)
        fit = fit_mixture_of_metrics(pairs)
        assert np.log(before(fit).pdf(pairs)).sum() == pytest.approx(fit.log_likelihood, rel=1e-12)
        assert fit.bic is not None
        assert fit.bic_table is not None
        assert fit.bic == fit.bic_table[fit.model][fit.components - 1]

    def test_an_iteration_that_changes_nothing_is_the_last(self) -> None:
        # clusters so far apart keep their points: the second iteration sees that
        far = two_clusters() + np.outer(np.arange(60) % 2, [1e3, 1e3])
        assert fit_mixture_of_metrics(far, max_components=2, models=["VVV"]).iterations == 2


class TestModels:
    """Covariances of classes that are far apart: EM then keeps the classes."""

    def covariances(self, model: str, *classes: Any) -> list[np.ndarray] | None:
        points = np.concatenate(classes).astype(float)
        of = np.repeat(np.arange(len(classes)), [len(one) for one in classes])
        z = (of == np.arange(len(classes))[:, None]).astype(float)
        (k, _), d = z.shape, points.shape[1]
        weights, means, cov = np.empty(k), np.empty((k, d)), np.empty((k, d, d))
        state, room = state_of(d, k), np.empty((2 + d, len(points)))
        x = np.ascontiguousarray(points.T)
        found = em_kernel.fit(MODELS.index(model), x, z, weights, means, cov, state, room)
        if np.isnan(found[0]):
            return None  # discarded
        slopes = [np.triu(factor, 1) + np.eye(d) for factor in cov]
        return [s.T @ np.diag(np.diag(c)) @ s for c, s in zip(cov, slopes, strict=True)]

    def cross(self, a: float, b: float) -> list[tuple[float, float]]:
        return [(a, 0), (-a, 0), (0, b), (0, -b)]

    @pytest.mark.parametrize("model", MODELS)
    def test_of_one_round_class_all_are_the_circle(self, model: str) -> None:
        found = self.covariances(model, self.cross(2, 2))
        assert found is not None
        assert found[0] == pytest.approx(np.diag([2.0, 2.0]), rel=1e-12)

    @pytest.mark.parametrize("model", [name for name in MODELS if name[1] != "I"])
    def test_of_one_class_a_free_shape_is_its_own(self, model: str) -> None:
        found = self.covariances(model, self.cross(4, 2))
        assert found is not None
        assert found[0] == pytest.approx(np.diag([8.0, 2.0]), rel=1e-7)

    def test_evv_shares_the_mean_area(self) -> None:
        """Celeux and Govaert: each class has its own shape, and the root of each determinant is equal."""
        rng = np.random.default_rng(3)
        classes = [rng.normal(size=(5, 2)), rng.normal(size=(4, 2)) @ [[2, 1], [0, 1]] + 1e4]
        scatters = [np.cov(one.T, bias=True) * len(one) for one in classes]
        roots = [np.sqrt(np.linalg.det(one)) for one in scatters]
        found = self.covariances("EVV", *classes)
        assert found is not None
        for cov, scatter, root in zip(found, scatters, roots, strict=True):
            assert cov == pytest.approx(scatter / root * (sum(roots) / 9), rel=1e-6)

    def test_eei_bears_a_thin_shape_and_eev_no_thin_class(self) -> None:
        # the one's limit is on the shape, the other's on the smaller sd
        found = self.covariances("EEI", self.cross(1, 1e-9))
        assert found is not None
        assert np.diag(found[0]) == pytest.approx([0.5, 0.5e-18])
        assert self.covariances("EEV", self.cross(1, 1e-9)) is None
        assert self.covariances("EEV", self.cross(1, 1e-6)) is not None


def before(fit: MixtureOfMetrics) -> MixtureOfMetrics:
    assert fit.em is not None
    return replace(fit, weights=fit.em.weights, means=fit.em.means, covariances=fit.em.covariances)


class TestUnits:
    def test_spread_undoes_the_units(self) -> None:
        pairs = two_clusters(r=0.7)
        first = fit_mixture_of_metrics(pairs, units="spread")
        for p in (pairs * [1e-9, 1e9], pairs * [1e9, 1e-6]):
            fit = fit_mixture_of_metrics(p, units="spread")
            assert fit.model == first.model
            assert fit.correlations == pytest.approx(first.correlations, rel=1e-9)
            assert fit.classify(p).tolist() == first.classify(pairs).tolist()
            assert np.log(before(fit).pdf(p)).sum() == pytest.approx(fit.log_likelihood, rel=1e-11)

    def test_unlike_units_are_said(self) -> None:
        pairs = two_clusters(r=0.7) * [1e-3, 1e6]
        given = fit_mixture_of_metrics(pairs).cautions
        spread = fit_mixture_of_metrics(pairs, units="spread").cautions
        assert any('units="spread"' in caution for caution in given)
        assert not any('units="spread"' in caution for caution in spread)


class TestHardData:
    def test_constant(self) -> None:
        with pytest.raises(AnalysisError, match="all 20 values of energy are equal"):
            fit_mixture_of_metrics(np.column_stack([np.arange(20.0), np.full(20, 3.0)]))

    @pytest.mark.parametrize("slope", [3.0, -1e-3, 1e9])
    def test_line(self, slope: float) -> None:
        x = np.linspace(1, 2, 25) ** 2
        with pytest.raises(AnalysisError, match="lie on one line"):
            fit_mixture_of_metrics(np.column_stack([x, 5 + slope * x]))

    def test_ties(self) -> None:
        fit = fit_mixture_of_metrics(np.round(two_clusters(80) * [10, 0.2]))
        assert any("repeat others" in caution for caution in fit.cautions)
        assert any("steps of a clock" in caution for caution in fit.cautions)

    def test_three_places(self) -> None:
        places = np.array([[1.0, 2.0], [3.0, 7.0], [5.0, 1.0]])[np.arange(30) % 3]
        fit = fit_mixture_of_metrics(places)  # with three classes every cluster vanishes
        assert fit.components < 3
        assert any("discarded" in caution for caution in fit.cautions)

    def test_far_from_zero(self) -> None:
        near = two_clusters(r=0.5)
        far = near + np.array([1e6, 1e8])
        a, b = fit_mixture_of_metrics(near), fit_mixture_of_metrics(far)
        assert a.model == b.model
        assert b.covariances == pytest.approx(a.covariances, rel=1e-4)

    def test_what_is_refused(self) -> None:
        pairs = two_clusters(10)
        refused: list[tuple[Any, type[Exception], str]] = [
            (pairs[:, 0], UsageError, "two columns"),
            ([["a", "b"]] * 4, UsageError, "are not numbers"),
            ([[1.0], [2.0, 3.0]], UsageError, "are not numbers"),
            (np.where(pairs > 70, np.nan, pairs), AnalysisError, "not finite"),
            (pairs * 1e200, AnalysisError, "exceeds"),
            (pairs * 1e-200, AnalysisError, "spread is below"),
        ]
        for values, error, words in refused:
            with pytest.raises(error, match=words):
                fit_mixture_of_metrics(values)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"max_components": 0}, "between 1 and 64"),
            ({"max_components": 2.0}, "whole number"),
            ({"max_components": True}, "whole number"),
            ({"models": "VVV"}, "fourteen"),
            ({"models": ["VVV", "VVV"]}, "fourteen"),
            ({"models": []}, "fourteen"),
            ({"models": ["VVX"]}, "fourteen"),
            ({"units": "ms"}, "units must be"),
            ({"names": ("a", "a")}, "different names"),
            ({"names": ("a", "b", "c")}, "2 columns of values and 3 names: a, b, c"),
            ({"names": "ab"}, "names must be"),
            ({"names": (1, 2)}, "texts"),
        ],
    )
    def test_options(self, options: dict[str, Any], words: str) -> None:
        with pytest.raises(UsageError, match=words):
            fit_mixture_of_metrics(two_clusters(10), **options)


class TestMixture:
    def test_density_is_that_of_scipy(self) -> None:
        at = np.array([[1.1, 11.0], [2.2, 28.0], [5.0, 0.0]])
        parts = zip(MIXTURE.weights, MIXTURE.means, MIXTURE.covariances, strict=True)
        theirs = sum(w * stats.multivariate_normal(m, c).pdf(at) for w, m, c in parts)
        assert MIXTURE.pdf(at) == pytest.approx(theirs, rel=1e-12)
        assert isinstance(MIXTURE.pdf(at[0]), float)
        assert MIXTURE.pdf([1e300, 0]) == 0
        assert MIXTURE.memberships(at).sum(axis=1) == pytest.approx([1, 1, 1])
        assert MIXTURE.classify(at).tolist() == [0, 1, 0]
        assert MIXTURE.classify([1e9, 1e9]) == 1

    def test_moments_and_sample(self) -> None:
        drawn = MIXTURE.sample(200_000, rng=np.random.default_rng(1))
        assert drawn.shape == (200_000, 2)
        assert drawn.mean(axis=0) == pytest.approx(MIXTURE.mean(), rel=2e-3)
        assert np.cov(drawn.T) == pytest.approx(MIXTURE.covariance(), rel=1e-2)
        assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(MIXTURE.correlation(), abs=2e-3)
        assert MIXTURE.sample(0, rng=np.random.default_rng(1)).shape == (0, 2)
        with pytest.raises(UsageError, match="n must lie between 0"):
            MIXTURE.sample(-1, rng=np.random.default_rng(1))

    def test_marginals_are_mixtures(self) -> None:
        wall, energy = MIXTURE.marginal("wall"), MIXTURE.marginal("energy")
        assert isinstance(wall, Mixture)
        assert wall.sds == pytest.approx([0.2, 0.3])
        assert energy.mean() == pytest.approx(MIXTURE.mean()[1])
        y = np.linspace(-20, 80, 20001)
        line = trapezoid(MIXTURE.pdf(np.column_stack([np.full(y.size, 1.3), y])), y)
        assert line == pytest.approx(wall.pdf(1.3), rel=1e-8)
        with pytest.raises(UsageError, match="wall and energy, not memory"):
            MIXTURE.marginal("memory")

    def test_it_is_frozen_json_and_text(self) -> None:
        fit = fit_mixture_of_metrics(two_clusters(12))
        told = json.loads(json.dumps(fit.to_dict(), allow_nan=False))
        assert told["model"] == fit.model
        assert None in told["bic_table"]["VVV"]
        assert json.dumps(MIXTURE.to_dict(), allow_nan=False)
        with pytest.raises(ValueError, match="read-only"):
            fit.means[0, 0] = 1
        for mixture in (fit, MIXTURE, replace(fit, names=("a" * 90, "b" * 90))):
            assert max(map(len, str(mixture).splitlines())) <= 96
        assert "a mixture of two clusters of wall and energy" in str(MIXTURE)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"weights": np.array([0.5, 0.6])}, "sum to 1"),
            ({"weights": np.array([1.0])}, "K means"),
            ({"means": np.array([[1, np.inf], [1, 2]])}, "finite"),
            ({"covariances": np.ones((2, 2, 2))}, "positive definite"),
            ({"names": ("wall", "wall")}, "two or more different"),
        ],
    )
    def test_what_is_no_mixture(self, change: dict[str, Any], words: str) -> None:
        with pytest.raises(UsageError, match=words):
            replace(MIXTURE, **change)

    def test_what_is_no_point(self) -> None:
        with pytest.raises(UsageError, match="two coordinates"):
            MIXTURE.pdf([1, 2, 3])
        with pytest.raises(AnalysisError, match="not finite"):
            MIXTURE.classify([np.nan, 1])


def with_memory(trial: Trial, values: np.ndarray) -> Trial:
    return replace(trial, numbers={**trial.numbers, "max_rss_bytes": values})


class TestPairsOfATrial:
    TIMES: ClassVar[dict[str, dict[str, list[float]]]] = {
        "a": {"x": [1.0, 2.0, 3.0, 4.0], "y": [5.0, 6.0, 7.0, 8.0]}
    }

    def test_runs_match(self, synthetic: Build, tmp_path: Path) -> None:
        trial = read_trial(synthetic(self.TIMES, warmup=1).write(tmp_path))
        pairs = pairs_of_runs(trial, "a", "x", metrics=("wall", "max_rss"))
        assert pairs.values[:, 0].tolist() == self.TIMES["a"]["x"]
        rows = np.searchsorted(trial.position, pairs.positions)
        assert pairs.values[:, 1].tolist() == trial.numbers["max_rss_bytes"][rows].tolist()
        assert pairs.values[:, 0].tolist() == trial.values("wall")[rows].tolist()
        assert (pairs.names, pairs.units) == (("wall", "max_rss"), ("s", "B"))
        assert any("warm-up run" in caution for caution in pairs.cautions)

    def test_three_metrics(self, synthetic: Build, tmp_path: Path) -> None:
        trial = read_trial(synthetic(self.TIMES).write(tmp_path))
        three = ("wall", "max_rss", "user")
        runs = pairs_of_runs(trial, "a", "x", metrics=three)
        assert (runs.names, runs.values.shape, runs.units) == (three, (4, 3), ("s", "B", "s"))
        with pytest.raises(UsageError, match="different metrics"):
            pairs_of_runs(trial, "a", "x", metrics=("wall", "user", "wall"))

    def test_incomplete_runs_are_left_out(self, synthetic: Build, tmp_path: Path) -> None:
        trial = read_trial(synthetic(self.TIMES).write(tmp_path))
        memory = trial.numbers["max_rss_bytes"].copy()
        first = int(np.flatnonzero(trial.benchmark == 0)[0])
        memory[first] = np.nan
        found = pairs_of_runs(with_memory(trial, memory), "a", "x")
        assert len(found.values) == 3
        assert trial.position[first] not in found.positions
        assert "1 run without one of the values" in map(str, found.cautions)
        nothing = with_memory(trial, np.full(len(trial), np.nan))
        with pytest.raises(InsufficientDataError, match="has both wall and max_rss"):
            pairs_of_runs(nothing, "a", "x")

    def test_unmeasured_memory_is_said(self, synthetic: Build, tmp_path: Path) -> None:
        trial = read_trial(synthetic(self.TIMES).write(tmp_path))
        floored = with_memory(trial, trial.numbers["max_rss_floor_bytes"])
        assert "launcher's floor" in pairs_of_runs(floored, "a", "x").cautions[0]

    def test_unknown_names(self, synthetic: Build, tmp_path: Path) -> None:
        trial = read_trial(synthetic(self.TIMES).write(tmp_path))
        for arguments, metrics, words in (
            (("z", "x"), ("wall", "user"), "no variant 'z'"),
            (("a", "z"), ("wall", "user"), "no benchmark 'z'"),
            (("a", "x"), ("wall", "watts"), "no metric 'watts'"),
            (("a", "x"), ("wall", "wall"), "two different metrics"),
        ):
            with pytest.raises(UsageError, match=words):
                pairs_of_runs(trial, *arguments, metrics=metrics)


class TestPicture:
    def test_ellipses_hold_their_share(self) -> None:
        d = ellipse(MIXTURE, 1, 0.95) - MIXTURE.means[1]
        inverse = np.linalg.inv(MIXTURE.covariances[1])
        distance = np.einsum("ij,jk,ik->i", d, inverse, d)
        assert distance == pytest.approx(np.full(len(d), stats.chi2(2).ppf(0.95)), rel=1e-10)

    def test_it_is_drawn(self, tmp_path: Path) -> None:
        pairs = two_clusters(r=0.8)
        picture = plane_picture(fit_mixture_of_metrics(pairs), pairs, units=("s", "J"))
        for name in ("plane.svg", "plane.png"):
            write_picture(picture, tmp_path / name)
            assert (tmp_path / name).stat().st_size > 5000
        axes = picture.axes[0]
        assert axes.x_label == "wall"
        # the unit stands once, at the last tick
        texts = [tick.text for tick in axes.x_ticks]
        assert [text.endswith(" s") for text in texts] == [False] * (len(texts) - 1) + [True]
        with pytest.raises(UsageError, match="2 values of each run"):
            plane_picture(MIXTURE, [1.0, 2.0])


class TestPage:
    def test_every_model_has_words_of_its_own(self) -> None:
        assert len({meaning(model) for model in MODELS}) == len(MODELS) == 14
        assert meaning("EII") == "circles, equal size"
        assert meaning("VEV") == "ellipses, sizes of their own, equal shape, tilts of their own"
        assert meaning("EVI") == "ellipses, equal size, shapes of their own, no tilt"

    def test_one_gaussian_of_each_kind_has_words(self) -> None:
        one = {"weights": np.ones(1), "means": np.zeros((1, 2)), "covariances": [np.eye(2)]}
        words = ("a circle", "an ellipse, no tilt", *["an ellipse"] * 2)
        for model, said in zip((*SIMPLEST, "VVV"), words, strict=True):
            mixture = MixtureOfMetrics(**one, model=model, names=("x", "y"), n=9)
            assert f"(model {model}: {said})" in " ".join(str(mixture).split())

    def test_the_table_holds_the_numbers_behind_its_cells(self) -> None:
        (table,) = MIXTURE.screen().sections[0].blocks[2].blocks
        assert [[cell.value for cell in row] for row in table.rows] == [
            [0, 0.25, 1.0, pytest.approx(0.2), 10.0, 1.0, 0.0],
            [1, 0.75, 2.0, pytest.approx(0.3), 30.0, 2.0, pytest.approx(0.5)],
        ]

    def test_long_names_are_numbered(self) -> None:
        headings = [
            [column.heading for column in mixture.screen().sections[0].blocks[2].blocks[-1].columns]
            for mixture in (MIXTURE, replace(MIXTURE, names=("a" * 13, "b" * 12)))
        ]
        assert headings[0][2:4] == ["mean wall", "sd wall"]
        assert headings[1][2:4] == ["mean 1", "sd 1"]
        assert f"1: {'a' * 13}, 2: {'b' * 12}" in str(replace(MIXTURE, names=("a" * 13, "b" * 12)))

    def test_the_best_candidates_come_next(self) -> None:
        fit = fit_mixture_of_metrics(two_clusters(), max_components=3)
        assert fit.bic_table is not None
        ranked = sorted(
            (value for row in fit.bic_table.values() for value in row if value == value),
            reverse=True,
        )
        said = " ".join(str(fit).split()).partition("next: ")[2].split(", ")
        values = [float(candidate.split()[3]) for candidate in said[:3]]
        assert values == pytest.approx(ranked[1:4], rel=1e-5)

    def test_a_small_lead_is_next_to_nothing(self) -> None:
        fit = fit_mixture_of_metrics(two_clusters(r=0.9))
        assert fit.bic is not None
        assert fit.bic_table is not None
        assert "next to nothing" not in str(fit)
        for lead, said in ((2.0, False), (1.75, True)):
            table = {model: (-1e6,) for model in MODELS} | {"VVI": (128.0 - lead,)}
            close = replace(fit, bic=128.0, bic_table=table)
            assert f"BIC prefers this to no correlation by {lead:.2f}" in " ".join(
                str(close).split()
            )
            assert ("next to nothing" in str(close)) is said


def three_metrics(n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(7)
    x = np.column_stack([two_clusters(n, r=0.8), rng.standard_normal(n)])
    x[:, 2] += x[:, 0]
    return x


NAMES = ("wall", "energy", "traffic")


class TestMoreMetrics:
    def test_density_sample_and_marginals(self) -> None:
        runs = three_metrics()
        fit = fit_mixture_of_metrics(runs, names=NAMES, units="spread")
        assert fit.components == 2
        state = before(fit)
        parts = zip(state.weights, state.means, state.covariances, strict=True)
        theirs = sum(w * stats.multivariate_normal(m, c).pdf(runs) for w, m, c in parts)
        assert state.pdf(runs) == pytest.approx(theirs, rel=1e-10)
        assert np.log(theirs).sum() == pytest.approx(fit.log_likelihood, rel=1e-12)
        drawn = fit.sample(200_000, rng=np.random.default_rng(1))
        assert np.cov(drawn.T) == pytest.approx(fit.covariance(), rel=0.02, abs=0.02)
        assert fit.marginal("traffic").mean() == pytest.approx(fit.mean()[2])
        assert fit.correlations.shape == (2, 3, 3)
        assert np.asarray(fit.overall_correlation) == pytest.approx(np.corrcoef(runs.T))
        told = json.loads(json.dumps(fit.to_dict(), allow_nan=False))
        assert np.shape(told["correlations"]) == (2, 3, 3)
        assert np.shape(told["within_correlation"]) == (3, 3)

    def test_page_and_picture(self, tmp_path: Path) -> None:
        runs = three_metrics()
        fit = fit_mixture_of_metrics(runs, names=NAMES, units="spread")
        said = " ".join(str(fit).split())
        assert "describe these 60 runs of wall, energy and traffic best" in said
        assert "wall, traffic" in said
        assert max(map(len, str(fit).splitlines())) <= 96
        picture = plane_picture(fit, runs, units=("s", "J", "B"))
        write_picture(picture, tmp_path / "three.svg")
        assert len(picture.axes) == 3
        five = fit_mixture_of_metrics(
            np.random.default_rng(1).normal(size=(40, 5)), max_components=1
        )
        with pytest.raises(UsageError, match="at most 4 metrics"):
            plane_picture(five, np.ones((2, 5)))

    def test_eight_are_the_most(self) -> None:
        runs = np.random.default_rng(2).normal(size=(40, 9))
        fit = fit_mixture_of_metrics(runs[:, :8], max_components=2)
        assert fit.n == 40
        assert max(map(len, str(fit).splitlines())) <= 96
        with pytest.raises(UsageError, match="at most 8 metrics, and there are 9"):
            fit_mixture_of_metrics(runs)
        with pytest.raises(InsufficientDataError, match="at least 9 runs, and there are 8"):
            fit_mixture_of_metrics(runs[:8, :8])

    def test_dependent_metrics(self) -> None:
        runs = three_metrics()
        for column, words in (
            (runs[:, 0] * 3 - 1, "wall and copy lie on one line"),
            (runs[:, 0] + 2 * runs[:, 1], "of wall, energy, copy each follows from the others"),
            (np.full(60, 4.0), "all 60 values of copy are equal"),
        ):
            with pytest.raises(AnalysisError, match=words):
                fit_mixture_of_metrics(
                    np.column_stack([runs[:, :2], column]), names=("wall", "energy", "copy")
                )
        # negative control: a copy with a little noise is a metric
        noisy = runs[:, 0] + 1e-4 * runs[:, 2]
        assert (
            fit_mixture_of_metrics(np.column_stack([runs[:, :2], noisy]), max_components=2).n == 60
        )


class TestEvidence:
    def test_ties_are_taken_for_each_metric(self) -> None:
        # pages of memory: no two runs are equal in both, and yet the steps make the clusters
        rng = np.random.default_rng(3)
        wall, pages = rng.normal(10, 1, 60), 4096.0 * rng.integers(500, 506, 60)
        fit = fit_mixture_of_metrics(np.c_[wall, pages], names=("wall", "max_rss"), units="spread")
        (said,) = [str(c) for c in fit.cautions if c.code == "metric-ties"]
        assert "only 6 of 60 values of max_rss are distinct" in said
        assert "no evidence: a metric has few distinct values" in " ".join(str(fit).split())
        assert not any(c.code == "many-ties" for c in fit.cautions)
        spread = fit_mixture_of_metrics(two_clusters())  # negative control
        assert not any(c.code == "metric-ties" for c in spread.cautions)
        assert "no evidence" not in str(spread)

    @pytest.mark.parametrize("sign", [1, -1])
    def test_no_correlation_is_a_negative_zero(self, sign: int) -> None:
        x = np.random.default_rng(4).normal(size=40)
        y = np.random.default_rng(5).normal(size=40)
        y -= np.polyval(np.polyfit(x, y, 1), x) - sign * 1e-5 * x
        fit = fit_mixture_of_metrics(np.column_stack([x, y]), models=["EEE"], max_components=1)
        assert 0 < sign * fit.body()["correlations"][0] < 1e-4
        assert "0.000" in str(fit)
        assert "-0.000" not in str(fit)

    def test_few_runs_tell_no_correlation(self) -> None:
        for few, told in ((4, False), (5, True)):  # the second is the negative control
            far = two_clusters(2 * few, r=0.5)[::2] + np.array([50.0, 900.0])
            pairs = np.vstack([two_clusters(80, r=0.7)[::2], far])
            fit = fit_mixture_of_metrics(pairs, models=["VVV"], max_components=2, units="spread")
            assert fit.sparse.tolist() == [False, not told]
            assert (fit.body()["correlations"][1] is not None) is told
            assert ("fewer than 5 runs tells no correlation" in str(fit)) is not told
            (table,) = fit.screen().sections[0].blocks[2].blocks[:1]
            assert (table.rows[1][-1] != "-") is told
        assert not MIXTURE.sparse.any()
