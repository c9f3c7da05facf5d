"""Two variants are identical only where the trial shows it."""

import pytest

from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, UsageError
from analysis.plan.calibration import identical_pair, identical_variants


def test_one_program_under_two_names(planted):
    trial = read_trial(planted())
    assert identical_variants(trial) == (("one", "two"),)
    assert identical_pair(trial, None) == ("one", "two")


def test_the_baseline_stands_first(planted):
    trial = read_trial(planted(variants=("a", "b", "c"), baseline="b"))
    assert identical_variants(trial) == (("b", "a"), ("b", "c"), ("a", "c"))


def test_other_arguments_are_another_variant(planted):
    trial = read_trial(planted(argv=lambda variant: ["work", variant]))
    assert identical_variants(trial) == ()
    with pytest.raises(
        InsufficientDataError, match="no two variants of the trial are identical"
    ) as e:
        identical_pair(trial, None)
    assert "variants: {one: {}, two: {}}" in str(e.value)
    assert "--pair A,B" in str(e.value)


def test_another_program_is_another_variant_even_in_one_session(planted):
    def program(variant, session):
        return "0" * 64 if (variant, session) == ("two", 3) else "f" * 64

    assert identical_variants(read_trial(planted(program=program))) == ()


def test_what_each_session_builds_is_identical_where_it_is_in_every_session(planted):
    # authority: hashes are compared within a session only (docs/layouts.md)
    shared = planted("shared", program=lambda _variant, session: f"{session}" * 64)
    assert identical_variants(read_trial(shared)) == (("one", "two"),)
    own = planted("own", program=lambda variant, session: f"{variant}{session}")
    assert identical_variants(read_trial(own)) == ()


def test_an_unknown_program_is_no_proof(planted):
    assert identical_variants(read_trial(planted(program=lambda *_: None))) == ()


def test_a_trial_of_the_first_version_shows_nothing(planted, synthetic, tmp_path):
    values = [1.0, 1.1, 1.2, 1.3]
    path = synthetic({"a": {"x": values}, "b": {"x": values}}, sessions=2).write(tmp_path / "old")
    assert identical_variants(read_trial(path)) == ()
    assert identical_pair(read_trial(path), ("b", "a")) == ("b", "a")


@pytest.mark.parametrize(
    ("pair", "said"), [(("one", "three"), "no variant 'three'"), (("one", "one"), "on both sides")]
)
def test_a_wrong_pair_is_refused(planted, pair, said):
    with pytest.raises(UsageError, match=said):
        identical_pair(read_trial(planted()), pair)
