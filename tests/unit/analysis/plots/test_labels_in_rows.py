"""Labels of a row: none touches another, and the more important one stays (the report's design)."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from analysis.plots.labels import InRow, RowLabel, in_rows, text_width

WIDTH = 200.0
labels = st.lists(
    st.builds(
        RowLabel,
        st.floats(0, 1),
        st.text("abMi% 1", min_size=1, max_size=12),
        dx=st.sampled_from([0.0, 8.0]),
        bold=st.booleans(),
    ),
    max_size=12,
)


def span(one: InRow, width: float) -> tuple[float, float]:
    size = text_width(one.label.text, bold=one.label.bold)
    x = one.label.at * width
    if one.anchor == "start":
        return x + one.label.dx, x + one.label.dx + size
    return x - one.label.dx - size, x - one.label.dx


@settings(deadline=None)
@given(labels, st.integers(1, 3))
def test_no_label_touches_another_or_leaves_its_room(given_labels, rows):
    found = in_rows(given_labels, WIDTH, rows=rows, left=20, right=30)
    spans = [(one.row, *span(one, WIDTH)) for one in found]
    assert all(a >= -20.001 and b <= WIDTH + 30.001 for _, a, b in spans)
    for k, (row, a, b) in enumerate(spans):
        assert 0 <= row < rows
        assert all(row != r or b < c or d < a for r, c, d in spans[:k])


@settings(deadline=None)
@given(labels)
def test_what_is_dropped_would_touch_what_matters_more(given_labels):
    found = in_rows(given_labels, WIDTH)
    kept = [one.label for one in found]
    taken = [span(one, WIDTH) for one in found]
    for one in given_labels:
        if one in kept:
            continue
        for anchor in ("start", "end"):
            a, b = span(InRow(one, anchor, 0), WIDTH)
            free = a >= 0 and b <= WIDTH
            assert not free or any(a - 8.001 < d and c < b + 8.001 for c, d in taken)


def test_the_first_label_has_the_first_choice():
    first, second = RowLabel(0.5, "one"), RowLabel(0.51, "other")
    assert [one.label for one in in_rows((first, second), 100.0)] == [first]
    assert [one.label for one in in_rows((second, first), 100.0)] == [second]
    both = in_rows((first, second), 100.0, rows=2)
    assert [(one.label, one.row) for one in both] == [(first, 0), (second, 1)]


def test_a_label_at_the_right_edge_stands_before_its_place():
    (one,) = in_rows([RowLabel(1.0, "exit 3", dx=8)], 100.0)
    assert one.anchor == "end"
    (one,) = in_rows([RowLabel(1.0, "exit 3", dx=8)], 100.0, right=60)
    assert one.anchor == "start"


def test_wide_letters_are_wider_and_bold_ones_too():
    assert text_width("mmm") > text_width("aaa") > text_width("iii")
    assert text_width("aaa", bold=True) > text_width("aaa")
