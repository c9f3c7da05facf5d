"""What changed between two records of an environment, in words."""

from __future__ import annotations

import pytest

from analysis.record.environment import describe_changes, diff

ONE = {
    "host": {"machine_id_sha256": "a" * 64, "boot_id": "x"},
    "cpu": {"model": "M 1"},
    "kernel": {"clocksource": "tsc"},
    "tools": {"compilers": {"gcc": "12"}},
    "hidden_variables": {"key": "k", "hashes": {"TOKEN": "1"}},
}


def other(**sections):
    return {name: {**about, **sections.get(name, {})} for name, about in ONE.items()}


def test_nothing_changed():
    assert diff(ONE, other()) == ()
    assert describe_changes(()) == "nothing changed"


def test_another_server_is_another_trial_and_that_of_a_sessions_build_is_not():
    def record(digest, **more):
        return {"services": {"s/a": {"port": 1, "path": "/opt/server", "sha256": digest, **more}}}

    assert diff(record("a" * 64), record("a" * 64, port=2)) == ()
    (change,) = diff(record("a" * 64), record("b" * 64))
    assert change.identity
    assert change.what == "the program of the service s/a is another one than before: /opt/server"
    (change,) = diff(record("a" * 64), record(None))
    assert change.what.endswith("cannot be read any more: /opt/server")
    built = {"built": "session"}
    assert diff(record("a" * 64, **built), record("b" * 64, **built)) == ()
    assert diff({}, record("a" * 64)) == ()  # a record of before there were services


def test_another_machine_is_another_trial_and_an_unknown_one_is_not():
    (change,) = diff(ONE, other(host={"machine_id_sha256": "b" * 64}))
    assert (change.identity, change.what) == (
        True,
        "this is another machine: its machine id differs",
    )
    for a, b in ((ONE, None), (None, ONE)):
        sides = [other(host={"machine_id_sha256": None}) if one is None else one for one in (a, b)]
        (change,) = diff(*sides)
        assert not change.identity
        assert change.what.startswith("the machine id could be read only once")


@pytest.mark.parametrize(
    ("kind", "about", "what"),
    [
        ("kernel", {"clocksource": "hpet"}, "kernel.clocksource changed from tsc to hpet"),
        ("kernel", {"clocksource": None}, "kernel.clocksource is unknown now; it was tsc"),
        ("tools", {"compilers": {"gcc": "13"}}, "tools.compilers.gcc changed from 12 to 13"),
        ("tools", {"compilers": {"gcc": "12", "cc": "9"}}, "tools.compilers.cc is now 9; it was unknown"),
        ("variable-key", {"key": "other"}, "whether values of variables changed that are not stored is open: another key"),
        ("variables", {"hashes": {"TOKEN": "2"}}, "the variable TOKEN changed (its value is not stored)"),
    ],
)  # fmt: skip
def test_a_change_is_a_sentence(kind, about, what):
    section = "hidden_variables" if kind.startswith("variable") else kind
    (change,) = diff(ONE, other(**{section: about}))
    assert (change.what, change.kind, change.identity) == (what, kind, False)
    assert describe_changes((change,)) == f"changed:\n  {what}"


def test_what_makes_it_another_trial_stands_first():
    changes = diff(ONE, other(kernel={"clocksource": "hpet"}, cpu={"model": "M 2"}))
    assert describe_changes(changes).splitlines() == [
        "this is no longer the same trial:",
        "  the processor changed from M 1 to M 2",
        "also changed:",
        "  kernel.clocksource changed from tsc to hpet",
    ]
