"""What depends on drawn numbers says with which chance it fails, and all of that together is next to nothing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST = 1e-6  # of one execution of `make test`
# what draws other numbers each time: no seed, or the machine's own
UNSEEDED = re.compile(
    r"default_rng\(\)|\bRandom\(\)|\bSystemRandom\b|\burandom\(|\bgetrandom\(|\btoken_(?:hex|bytes)\(|\buuid[14]\("
    # of the module itself, not of what has its name and a seed
    r"|^import random$(?:.|\n)*(?<![.\w])random\.(?:random|rand\w+|choices?|sample|shuffle|gauss|uniform)\(",
    re.MULTILINE,
)
# names, keys and seeds that only have to differ: `make search` draws its examples anew
ONLY_NAMES = {
    "tests/lab.py",
    "tests/unit/harness/conftest.py",
    "tests/examples.py",
    "tests/private_slurm.py",
}


def test_all_chances_of_the_suite_add_up_to_less_than_one_in_a_million(request):
    marks = [mark for item in request.session.items for mark in item.iter_markers("chance")]
    assert sum(mark.args[0] for mark in marks) < MOST


def test_numbers_are_drawn_with_a_seed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    places = project["tool"]["pytest"]["ini_options"]["testpaths"]
    files = [
        *(ROOT / "tests").glob("*.py"),
        *(p for name in places for p in (ROOT / name).rglob("*.py")),
    ]
    found = {
        str(path.relative_to(ROOT))
        for path in files
        if path != Path(__file__) and UNSEEDED.search(path.read_text(encoding="utf-8"))
    }
    assert found <= ONLY_NAMES | {"tests/virtual.py"}  # which takes the place of `token_hex`


@pytest.mark.parametrize(
    "text", ["rng = np.random.default_rng()", "import random\nx = random.choice(y)", "uuid.uuid4()"]
)
def test_what_is_drawn_without_a_seed_would_be_found(text):
    assert UNSEEDED.search(text)
    assert not UNSEEDED.search("rng = np.random.default_rng(7); random.Random(7).choice(y)")
