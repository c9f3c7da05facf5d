"""Hundreds of damaged files of each kind, and every one that ever broke a reader: the attacks on 0.1.0, B6-B8, E.

``make search`` damages more, and others; the long form is ``python tests/drills``.
"""

from __future__ import annotations

import dataclasses
import time
from random import Random

import fuzz
import mutants
import pytest

from tests.examples import drawn_seed, examples

FOUND = sorted(path for path in fuzz.FOUND.iterdir() if path.suffix != ".case")


@pytest.fixture(scope="module")
def drill():
    return fuzz


# each value of JSON of other tools is damaged in turn by the tests of their readers
MOST = dict.fromkeys(("campaign", "trial", "matrix", "config", "systems", "written"), 2000)
MOST |= {"foreign": 1200, "bisection": 800, "profile": 400, "manifest": 300, "compare": 300}
MOST |= {"nights": 200, "bundle": 150}


@pytest.mark.hypothesis  # `make search` executes it too
@pytest.mark.parametrize("kind", MOST)
def test_damaged_files_are_refused_in_our_own_words(drill, kind):
    count, seed = examples(MOST[kind]), drawn_seed()
    row = drill.fuzz(kind, count, seed)
    assert (row.crashes, row.hangs) == ({}, 0), seed
    assert row.accepted + row.refused == row.mutants == count
    # the damage reaches the readers; a damaged cache is passed over
    assert row.refused > count / 4 or kind == "nights"
    assert row.accepted > count / 100  # and does not end at their doors


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_once_broke_a_reader_does_no_more(drill, path):
    assert drill.replay(path) in {"", "refused"}


@pytest.mark.parametrize("text", [b"", b"{}", b'{"crc32":1}', b'{\n"a": [1]}', b"[2]\n"])
def test_the_smallest_files_can_be_damaged(text):
    assert {mutants.damaged(text, Random(seed)) for seed in range(500)} > {text}


def test_a_mutant_comes_again_of_its_seed(drill):
    first, again, other = (drill.fuzz("matrix", 40, seed) for seed in (3, 3, 4))
    assert (first.accepted, first.refused) == (again.accepted, again.refused)
    assert 40 in {other.accepted + other.refused, first.accepted + first.refused}


@pytest.mark.parametrize(("fault", "told"), [("crash", "KeyError"), ("hang", ""), ("waits", "")])
def test_a_reader_that_breaks_is_found_out_and_its_file_is_kept(
    drill, monkeypatch, tmp_path, fault, told
):
    def breaks(folder, name):
        while fault != "crash":
            time.sleep(9 * (fault == "waits"))
        raise KeyError(name)

    kind = dataclasses.replace(drill.KINDS["systems"], read=breaks)
    monkeypatch.setitem(drill.KINDS, "systems", kind)
    monkeypatch.setattr(drill, "HANG_S", 0.05)
    row = drill.fuzz("systems", 3, seed=1, keep=tmp_path)
    assert not row.clean
    assert (row.hangs, sum(row.crashes.values())) == ((0, 3) if fault == "crash" else (3, 0))
    assert all(told in place for place in row.crashes)
    assert len(list(tmp_path.iterdir())) == 1
