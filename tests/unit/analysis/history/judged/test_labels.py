"""How nights are named. Authority: what two labels have to tell apart, by hand."""

import pytest

from analysis.history.night_values import Night
from analysis.history.sentences import label_of, short_hashes, span_of


def labels(*starts: str | None) -> list[str]:
    values = [
        Night(trial=f"t{k}", path=f"runs/t{k}", started_at=start, log=0.0)
        for k, start in enumerate(starts)
    ]
    label = label_of(values)
    return [label(k) for k in range(len(values))]


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        (("2026-11-26T02:00:00Z", "2026-11-27T02:00:00Z"), ["2026-11-26", "2026-11-27"]),
        (("2026-11-27T07:09:01Z", "2026-11-27T07:10:01Z"), ["07:09", "07:10"]),
        (("2026-11-27T07:09:01Z", "2026-11-27T07:09:31Z"), ["07:09:01", "07:09:31"]),
        (
            ("2026-11-26T07:09:01Z", "2026-11-26T08:09:01Z", "2026-11-27T07:09:01Z"),
            ["2026-11-26 07:09", "2026-11-26 08:09", "2026-11-27 07:09"],
        ),
        (("2026-11-27T07:09:01Z", "2026-11-27T07:09:01Z"), ["t0", "t1"]),
        (("2026-11-27T07:09:01Z", None), ["t0", "t1"]),
        (("2026-11-27", "2026-11-28"), ["2026-11-27", "2026-11-28"]),
    ],
)
def test_labels_tell_nights_apart(starts, expected):
    assert labels(*starts) == expected


def test_a_span_of_one_day_has_its_times():
    assert span_of("2026-11-26T02:00:00Z", "2026-11-27T02:00:00Z") == "2026-11-26 .. 2026-11-27"
    assert span_of("2026-11-27T07:09:00Z", "2026-11-27T09:10:00Z") == "2026-11-27, 07:09 .. 09:10"
    assert span_of("2026-11-27", "2026-11-27") == "2026-11-27"


def test_hashes_in_sentences_have_seven_signs():
    text = f"the commit is {'ab' * 20}; it was {'c' * 64}, not {'d' * 12}"
    assert short_hashes(text) == "the commit is abababa; it was ccccccc, not dddddddddddd"
