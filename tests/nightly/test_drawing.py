"""Which mutants are drawn: spread over the room, the same for a seed, a beginning of a longer draw."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.mutants.drawing import Mutant, drawn, paired, room_of, rooms


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path, lines in (("harness/a/one.py", 60), ("harness/a/two.py", 140), ("analysis/b.py", 5)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"    x = x + {k}\n" for k in range(2, lines + 2))
        (tmp_path / path).write_text(f"def f(x):\n{text}    return x\n")
    return tmp_path


def test_rooms():
    assert room_of("harness/launch/in_launcher/serving.py") == "harness/launch"
    assert room_of("analysis/methods/hpt/curve.py") == "analysis/methods/hpt"
    assert room_of("analysis/cli.py") == "analysis"


def test_a_draw_is_spread_over_the_lines(tree):
    mutants = rooms(tree)["harness/a"]
    for seed in range(6):
        found = drawn(tree, mutants, 20, seed)
        places = sorted(m.site.line + (62 if m.path.endswith("two.py") else 0) for m in found)
        gaps = [later - earlier for earlier, later in pairwise(places)]
        assert len(set(places)) == 20
        assert (
            max(gaps) <= 30
        )  # three times the mean: without a spread it would be missed by 9 in 10


def test_a_draw_depends_on_the_seed_and_begins_a_longer_one(tree):
    mutants = rooms(tree)["harness/a"]
    short, long = (drawn(tree, mutants, count, 1) for count in (15, 40))
    assert short == long[:15]
    assert short != drawn(tree, mutants, 15, 2)
    assert {one.site.operator for one in long} >= {"arithmetic", "constant"}
    assert len(drawn(tree, rooms(tree)["analysis"], 40, 1)) == 6  # as many as there are lines


def test_mutants_are_found_again_where_their_file_went(tree):
    before = [one for every in rooms(tree).values() for one in every]
    asked = [(one.name, one.site.key, one.path) for one in before]
    (tree / "harness" / "a").rename(tree / "harness" / "better")
    (tree / "analysis" / "b.py").rename(tree / "analysis" / "c.py")
    after = [one for every in rooms(tree).values() for one in every]
    found = paired(asked, after)
    files = {
        "harness/a/one.py": "harness/better/one.py",
        "harness/a/two.py": "harness/better/two.py",
    }
    for one in before:
        again = found[one.name]
        if one.path in files:
            assert again is not None
            assert (again.path, again.site.key) == (files[one.path], one.site.key)
        else:  # the same function stands in three files, and none is nearer
            assert again is None or again.path == "analysis/c.py"


def test_which_of_two_alike_is_not_guessed(tree):
    one = rooms(tree)["analysis"][0]
    other = [Mutant("harness/y", f"harness/y/{name}.py", one.site) for name in ("p", "q")]
    assert paired([("n", one.site.key, one.path)], other) == {"n": None}
    assert paired([("n", one.site.key, one.path)], other[:1]) == {"n": other[0]}
    assert paired([("n", "another", one.path)], other) == {"n": None}
