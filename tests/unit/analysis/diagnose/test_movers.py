"""Who moves where the host's tests found something: the whole host only where all variants do.

Authority: a redis trial of 5 commands, 2 variants and 6 sessions. The four writes of one variant
jumped tenfold from block to block, its reads and all commands of the other variant never did; the words
"the whole host changed between two speeds" sent the reader to the wrong place.
"""

from dataclasses import replace

import numpy as np
import pytest

from analysis.diagnose.examine import _movers, diagnosed
from analysis.diagnose.host_tests import HostSpeeds, HostTest, Movers, Scored, SessionSpeed
from analysis.diagnose.result import cautions_of, speeds_text

NAMES = {"name": "t", "unit": "s", "better": "lower", "confidence": 0.95}
JUMP = np.log(10)


def jumping(table, moving, seed=1):
    """Let the chosen cells jump tenfold in about half of the blocks, all of them in the same ones."""
    blocks = table.session * (table.block.max() + 1) + table.block
    slow = np.random.default_rng(seed).random(blocks.max() + 1) < 0.55
    return JUMP * (slow[blocks] & moving(table))


def redis(simulated, moving, *, seed=7, variants=2, benchmarks=5, sessions=6, runs=20):
    return simulated(
        np.random.default_rng(seed),
        benchmarks=benchmarks,
        variants=variants,
        sessions=sessions,
        runs=runs,
        effect=lambda t: jumping(t, moving, seed),
    )


def the_caution(table):
    found = diagnosed(table, **NAMES)
    (one,) = [c for c in cautions_of(found) if c.code.endswith(("-speeds", "-changes"))]
    return found, one


def test_writes_of_one_variant_are_no_whole_host(simulated):
    """Where it is certain that cells agree, the variant is named, and those of its benchmarks that do."""
    told = beside = 0
    for seed in range(1, 13):
        table = redis(simulated, lambda t: (t.variant == 1) & (t.benchmark < 4), seed=seed)
        found = diagnosed(table, **NAMES)
        cautions = [c for c in cautions_of(found) if c.code.endswith(("-speeds", "-changes"))]
        if not cautions:
            continue
        (caution,) = cautions
        told += 1
        writes, reads = table.benchmarks[:4], table.benchmarks[4]
        assert caution.code == "variant-two-speeds"
        assert "whole host" not in str(found)
        assert caution.about[:5] == (table.variants[1], *writes)
        beside += reads in caution.about
        assert caution.text.startswith(f"programs of {table.variants[1]} ({', '.join(writes[:3])}")
        assert f"nothing shows it of {table.variants[0]}" in caution.text
        assert found.movers.variants == (table.variants[1],)
        assert found.speeds.two
        assert 7 < found.speeds.ratio < 14  # what was planted, not what is left beside the others
        assert found.to_dict()["movers"]["others"] == [table.variants[0]]
    assert told >= 3
    assert beside <= 1  # each at 1 %


@pytest.mark.parametrize(("seed", "variants"), [(1, 2), (2, 2), (3, 2), (7, 1)])
def test_all_that_move_are_the_whole_host(simulated, seed, variants):
    moved = redis(simulated, lambda t: t.variant >= 0, seed=seed, variants=variants)
    found, caution = the_caution(moved)
    assert caution.code == "host-two-speeds"
    assert caution.text.startswith("the whole host changed between two speeds")
    assert caution.about == ()
    assert found.movers is None


def test_two_of_three_variants_are_named(simulated):
    found, caution = the_caution(redis(simulated, lambda t: t.variant > 0, variants=3))
    assert caution.code == "variant-two-speeds"
    assert found.movers.variants == ("v1", "v2")
    assert found.movers.others == ("v0",)


def test_a_trend_of_one_variant_is_said_of_it(simulated):
    table = simulated(
        np.random.default_rng(3),
        sessions=4,
        runs=20,
        effect=lambda t: 0.02 * t.block * (t.variant == 1),
    )
    found, caution = the_caution(table)
    assert caution.code.startswith("variant-")
    assert found.movers.variants == (table.variants[1],)
    assert not any("all programs" in one.text for one in found.findings)


def test_sessions_of_one_variant_are_said_of_it(simulated):
    """Friedman's test over sessions is led by four cells that agree, whatever the other four do."""
    level = np.random.default_rng(5).normal(0, 1, 12)
    table = simulated(
        np.random.default_rng(6),
        sessions=12,
        effect=lambda t: level[t.session] * (t.variant == 1),
    )
    found = diagnosed(table, **NAMES)
    (one,) = [f for f in found.findings if f.code == "host-sessions"]
    assert one.text.startswith(f"programs of {table.variants[1]}")
    same = simulated(np.random.default_rng(6), sessions=12, effect=lambda t: level[t.session])
    (one,) = [f for f in diagnosed(same, **NAMES).findings if f.code == "host-sessions"]
    assert one.text.startswith("all programs are slow in the same sessions")


def cautioned(simulated, effect, *, seeds=8, **design):
    """Give the movers and cautions of the trials in which it is certain that something moves."""
    found = []
    for seed in range(seeds):
        table = simulated(np.random.default_rng(seed), effect=effect, **design)
        one = diagnosed(table, **NAMES)
        told = [c for c in cautions_of(one) if c.code.endswith(("-speeds", "-changes"))]
        if told:
            found.append((one.movers, told[0]))
    return found


@pytest.mark.parametrize("design", [(4, 2), (1, 2), (4, 1)], ids=["of 8", "of 2", "of 4"])
def test_a_cell_that_drifts_alone_is_named(simulated, design):
    """It leads Page's sum over all cells, and no other cell rises: "the whole host" was said of it."""
    benchmarks, variants = design
    found = cautioned(
        simulated,
        lambda t: 0.03 * t.block * ((t.variant == variants - 1) & (t.benchmark == 0)),
        benchmarks=benchmarks,
        variants=variants,
        sessions=6,
        runs=20,
    )
    cell = ("b0", f"v{variants - 1}")
    alone = [told for movers, told in found if movers is not None and movers.cell == cell]
    whole = sum(movers is None for movers, _ in found)
    assert len(found) >= 5
    assert len(alone) >= 0.6 * len(found)
    assert whole <= 1  # by chance the others rise too, at 5 %
    assert {told.code for told in alone} <= {"variant-changes", "variant-two-speeds"}
    assert all(told.about == cell[::-1] for told in alone)
    assert all(told.text.startswith(f"the program b0 / {cell[1]}") for told in alone)
    assert str(alone[0].short) == f"b0 / {cell[1]} did not keep its speed"


@pytest.mark.parametrize("variants", [1, 2])
def test_a_drift_of_all_that_no_stretch_shows_is_the_hosts(simulated, variants):
    """The negative control: 4 % over a session, a tenth of what one cell above drifts, but in all of them."""
    found = cautioned(
        simulated, lambda t: 0.003 * t.block, benchmarks=6, variants=variants, sessions=6, runs=20
    )
    assert len(found) >= 6
    assert sum(movers is None for movers, _ in found) >= len(found) - 1
    assert sum(told.code.startswith("host-") for _, told in found) >= len(found) - 1


@pytest.mark.parametrize("variants", [1, 2])
def test_benchmarks_that_move_in_all_variants_are_named(simulated, variants):
    """Two of four write to a disk that has two speeds: what the others do is no matter of it."""
    found = cautioned(
        simulated,
        lambda t: jumping(t, lambda table: table.benchmark < 2, 3),
        benchmarks=4,
        variants=variants,
        sessions=8,
        runs=30,
        seeds=6,
    )
    named = [told for movers, told in found if movers is not None and movers.benchmarks]
    assert len(named) >= len(found) - 1 >= 4
    who = "all variants" if variants == 2 else "v0"
    assert all(told.text.startswith(f"programs of {who} (b0, b1") for told in named)
    assert all({"b0", "b1"} <= set(told.about) for told in named)


def test_one_benchmark_that_changes_in_one_session_is_named(simulated):
    def step(t):
        return 1.0 * ((t.session == 1) & (t.block > 30) & (t.variant == 1) & (t.benchmark == 0))

    found = cautioned(simulated, step, benchmarks=2, variants=2, sessions=3, runs=60)
    alone = [movers for movers, _ in found if movers is not None and movers.cell == ("b0", "v1")]
    assert len(alone) >= max(2, len(found) - 1)


@pytest.mark.parametrize(
    ("moving", "level", "design", "who"),
    [
        (lambda t: t.variant == 1, [0, 2, 1], {"benchmarks": 10}, "some"),
        (lambda t: t.variant >= 0, [0, 2, 1], {"benchmarks": 10}, "some"),
        (lambda _: 1, [0, 4, 1, 2, 3], {"benchmarks": 1, "variants": 12, "sessions": 5}, "all"),
    ],
)
def test_from_five_sessions_on_they_tell_who_was_slow(simulated, moving, level, design, who):
    """Three sessions have six orders only; of five the one in the middle counts as the others do."""
    design["effect"] = lambda t: np.array(level)[t.session] * moving(t)
    found = diagnosed(simulated(np.random.default_rng(4), runs=10, **design), **NAMES)
    (one,) = [f for f in found.findings if f.code == "host-sessions"]
    assert one.text.startswith(f"{who} programs are slow in the same sessions")


def test_a_benchmark_that_fails_in_one_session_is_diagnosed_all_the_same(simulated):
    """Its cells have no ranks of sessions: a verdict ended in a traceback where the host moved."""
    for seed in (8, 11):
        rng = np.random.default_rng(seed)
        level = rng.normal(0, 0.5, (4, 7))
        table = simulated(
            rng, sessions=7, runs=3, effect=lambda t, level=level: level[t.benchmark, t.session]
        )
        kept = (table.benchmark > 0) | (table.session != 2)
        names = ("values", "benchmark", "variant", "session", "block", "start_s")
        some = replace(table, **{name: getattr(table, name)[kept] for name in names})
        assert diagnosed(some, **NAMES).benchmarks == table.benchmarks


@pytest.mark.parametrize(("stretches", "wanted"), [(4, (0.0, 0.0)), (5, (10.0, 25.0))])
def test_fewer_than_five_stretches_tell_nothing(stretches, wanted):
    # scores 0, 1, 2, ... of both groups: squares about the mean add up to 10 of five, 10 x 10 / 4
    scores = np.tile(np.arange(stretches, dtype=float), 2)
    group = np.repeat([0, 1], stretches)
    scored = Scored(
        scores=scores,
        stretch=np.tile(np.arange(stretches), 2),
        benchmark=group,
        variant=np.zeros_like(group),
    )
    assert scored.moments(group == 0, group == 1) == pytest.approx(wanted)


def made(variants, benchmarks, others=""):
    lists = (tuple(names.split()) for names in (variants, benchmarks, others))
    return Movers(**dict(zip(("variants", "benchmarks", "others"), lists, strict=True)))


@pytest.mark.parametrize(
    ("movers", "who", "whose", "rest"),
    [
        (None, "the whole host", "runs", ""),
        (Movers(), "some programs", "runs", ""),
        (made("a b", "x y"), "programs of all variants (x, y)", "their runs", ""),
        (made("a", "x y", "b"), "programs of a (x, y)", "their runs", "b"),
        (made("a", "x", "b"), "the program x / a", "its runs", "b"),
        (made("a", "", "b"), "programs of a", "their runs", "b"),
    ],
)
def test_who_moves_is_said(movers, who, whose, rest):
    speeds = HostSpeeds(
        two=True,
        ratio=1.3,
        lower=1.0,
        share=0.4,
        switches=3,
        window=1,
        sessions=tuple(SessionSpeed(session=k, share=0.4, level=1.0) for k in (1, 2)),
    )
    shown = f"; nothing shows it of {rest}" if rest else ""
    assert speeds_text(speeds, 2, movers) == (
        f"{who} changed between two speeds, 30 % apart, in both sessions: "
        f"40 % of {whose} have the higher values{shown}"
    )


def test_the_surest_test_tells_who_moves():
    """A p that is 0 to the last bit is the surest of all."""
    surest, other, nobody = made("a", "x"), made("b", "x"), Movers()
    tests = {p: HostTest(code="host-trend", pvalue=p) for p in (0.0, 1e-9, 1e-3)}
    for told in (surest, None):
        assert _movers({tests[1e-3]: other, tests[1e-9]: other, tests[0.0]: told}) == told
    assert _movers({tests[1e-3]: other, tests[0.0]: nobody, tests[1e-9]: surest}) == surest
    assert _movers({tests[1e-3]: nobody}) == nobody
    assert _movers({}) is None
