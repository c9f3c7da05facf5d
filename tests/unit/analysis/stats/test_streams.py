import numpy as np
import pytest

from analysis.errors import UsageError
from analysis.stats.arguments import stream


def test_the_same_seed_and_labels_give_the_same_stream():
    assert stream(7, "bootstrap", "gzip").random() == stream(7, "bootstrap", "gzip").random()


@pytest.mark.parametrize(
    "other", [(7, "bootstrap", "xz"), (7, "test", "gzip"), (8, "bootstrap", "gzip"), (7,)]
)
def test_another_seed_or_label_gives_another_stream(other):
    assert stream(7, "bootstrap", "gzip").random() != stream(*other).random()


def test_streams_of_neighbouring_labels_are_uncorrelated():
    rows = np.array([stream(1, f"benchmark {k}").standard_normal(4000) for k in range(20)])
    off = np.corrcoef(rows)[~np.eye(20, dtype=bool)]
    assert np.abs(off).max() < 5 / np.sqrt(4000)


def test_a_negative_seed_is_refused():
    with pytest.raises(UsageError, match="negative"):
        stream(-1)
