"""Which look at growing trials a comparison is, from their manifests alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.errors import UsageError
from analysis.methods.multilevel.law import Looks
from analysis.record.trial_files import Appended
from analysis.verdict.sides import looks_at, looks_at_hosts


def day(number: int) -> str:
    return f"2026-11-{number:02}T04:00:00Z"


@pytest.fixture
def manifest(synthetic, three):
    plain = synthetic(three(gzip_1=(1.0, 1.0, 1.0)), sessions=4).manifest

    def make(started: int, first: int, *appends: tuple[int, int]):
        """A trial begun on a day with so many sessions; each append is (day, sessions then)."""
        have, grown = first, []
        for when, then in appends:
            grown.append(Appended(at=day(when), first=have + 1, last=then))
            have = then
        return replace(plain, started=day(started), sessions=have, appended=tuple(grown))

    return make


def test_of_one_trial_each_append_is_a_look(manifest):
    assert looks_at([manifest(1, 2)], None, always_valid=False) == Looks.growing([2])
    grown = manifest(1, 1, (2, 2), (3, 4))
    assert looks_at([grown], None, always_valid=False) == Looks.growing([1, 2, 4])


def test_a_clock_that_was_set_back_hides_no_look(manifest):
    grown = manifest(9, 2, (3, 3), (2, 4))
    assert looks_at([grown], None, always_valid=False) == Looks.growing([2, 3, 4])


def test_an_option_decides_whatever_grew(manifest):
    grown = manifest(1, 2, (2, 3), (3, 4))
    assert looks_at([grown], 2, always_valid=False) == Looks.planned(2)
    assert looks_at([grown], 1, always_valid=False) == Looks()
    assert looks_at([grown], None, always_valid=True).rule == "always-valid"
    with pytest.raises(UsageError, match="exclude each other"):
        looks_at([grown], 2, always_valid=True)


def test_files_have_been_looked_at_once():
    assert looks_at([], None, always_valid=False) == Looks()


def test_two_trials_can_be_looked_at_since_both_are_there(manifest):
    old = manifest(1, 2, (2, 3), (3, 4), (6, 8))
    new = manifest(5, 2, (7, 3))
    # on day 5: 4 sessions against 2; on day 6: 8 against 2; on day 7: 8 against 3
    for both in ((old, new), (new, old)):
        assert looks_at(both, None, always_valid=False) == Looks.growing([2, 2, 3])
    assert looks_at([old, manifest(5, 1)], None, always_valid=False) == Looks.growing([1, 1])
    assert looks_at([old, manifest(9, 6)], None, always_valid=False) == Looks.growing([6])


@pytest.mark.parametrize("unknown", ["", "some day"])
def test_a_time_that_nobody_can_read_makes_an_append_a_look(manifest, unknown):
    old, new = manifest(1, 2, (2, 3)), manifest(5, 2)
    grown = (replace(old.appended[0], at=unknown),)
    found = looks_at([replace(old, appended=grown), new], None, always_valid=False)
    assert found == Looks.growing([2, 2])
    found = looks_at([old, replace(new, started=unknown)], None, always_valid=False)
    assert found == Looks.growing([2, 2])


def test_a_fleet_grows_in_rounds(manifest):
    """Three hosts, one appended to twice: the third look, with three hosts from the first on."""
    hosts = [manifest(1, 1, (3, 2), (5, 3)), manifest(1, 1, (4, 2)), manifest(2, 1)]
    assert looks_at_hosts(hosts, None) == Looks.growing([3, 3, 3])
    assert looks_at_hosts(hosts[1:], None).division == 6
    assert looks_at_hosts(hosts[2:] * 2, None).rule == "single"
    assert looks_at_hosts(hosts, 2) == Looks.planned(2)
