"""Files of samples: exact, the same bytes each time, and no damage passes. Authority: docs/trial-format.md."""

from __future__ import annotations

import gzip
import struct

import pytest

from analysis.errors import StoreError
from analysis.record.shapes import StoredSamples, packed, position_in, read_samples, sample_file

VALUES = [0.1, 1e-300, 3.0, 2**53 + 1.0, *(k / 7 for k in range(5000))]


@pytest.fixture
def stored(tmp_path):
    data, about = packed(VALUES)
    path = tmp_path / "0042-t.f64.gz"
    path.write_bytes(data)
    return path, about


def test_others_read_them_with_gzip_alone(stored):
    path, about = stored
    assert struct.unpack(f"<{len(VALUES)}d", gzip.decompress(path.read_bytes())) == tuple(VALUES)
    assert read_samples(path, about) == gzip.decompress(path.read_bytes())
    assert packed(VALUES) == packed(VALUES)
    assert path.read_bytes()[4:8] == bytes(4)  # no time


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.write_bytes(path.read_bytes()[:-300]), "torn"),
        (lambda path: path.write_bytes(b""), "torn"),
        (lambda path: path.write_bytes(b"no gzip"), "cannot be read"),
        (lambda path: path.write_bytes(packed(VALUES[:-1])[0]), "not the 5004 values"),
        (lambda path: path.write_bytes(packed([*VALUES, 1.0])[0]), "not the 5004 values"),
        (lambda path: path.write_bytes(packed([*VALUES[:-1], 1.0])[0]), "not the 5004 values"),
        (lambda path: path.write_bytes(gzip.compress(bytes(10**7))), "not the 5004 values"),
    ],
)
def test_damage_is_an_error_that_names_the_file(stored, damage, said):
    path, about = stored
    damage(path)
    with pytest.raises(StoreError, match=said) as caught:
        read_samples(path, about)
    assert caught.value.where == str(path)
    assert caught.value.fix.startswith("restore the file")


def test_what_was_not_kept_says_so(tmp_path):
    with pytest.raises(
        StoreError, match=r"2000 values were not kept: the cap isolation.kept_outputs"
    ):
        read_samples(tmp_path / "0001-t.f64.gz", StoredSamples(count=2000))


@pytest.mark.parametrize(
    ("position", "warmup", "name"),
    [(7, False, "0007-t-1.f64.gz"), (12345, True, "12345-t-1.f64.gz"), (-2, True, "w2-t-1.f64.gz"),
     (-3, False, "r3-t-1.f64.gz")],
)  # fmt: skip
def test_a_file_is_named_after_its_run(position, warmup, name):
    assert sample_file(position, "t-1", warmup=warmup) == f"samples/{name}"
    assert position_in(name) == position
    assert position_in("current.f64.gz") is None
