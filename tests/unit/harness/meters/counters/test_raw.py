"""Raw events as perf(1) writes them. Authority: perf-list(1), "PMU/term=value,.../"."""

import contextlib

import pytest
from hypothesis import given, strategies as st

from harness.host.counter_events import RawEventError, parse_raw

TERM = st.from_regex(r"[a-z_][a-z0-9_]{0,9}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "pmu", "terms"),
    [
        ("cpu/event=0x3c/", "cpu", (("event", 0x3C),)),
        ("cpu/event=0x3c,umask=0X1,edge/", "cpu", (("event", 0x3C), ("umask", 1), ("edge", None))),
        (" armv8_pmuv3_0/l1d_cache/ ", "armv8_pmuv3_0", (("l1d_cache", None),)),
        ("msr/config=18446744073709551615/", "msr", (("config", 2**64 - 1),)),
        ("cpu/mem-loads , ldlat = 30/", "cpu", (("mem-loads", None), ("ldlat", 30))),
    ],
)
def test_a_raw_event_is_read(text, pmu, terms):
    event = parse_raw(text)
    assert (event.pmu, event.terms) == (pmu, terms)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is not PMU"),
        ("cycles", "is not PMU"),
        ("r003c", "is not PMU"),
        ("cpu/event=0x3c", "is not PMU"),
        ("cpu/event=0x3c/u", "has 'u' behind its last slash"),
        ("/event=1/", "names no PMU"),
        ("../event=1/", "names no PMU"),
        ("cpu//", "which has no name"),
        ("cpu/event=/", "which is not a number"),
        ("cpu/event=0x/", "which is not a number"),
        ("cpu/event=1_0/", "which is not a number"),
        ("cpu/event=-1/", "which is not a number"),
        ("cpu/event=1,event=2/", "has the term 'event' twice"),
        ("cpu/event=18446744073709551616/", "of more than 64 bits"),
        ("cpu/a/b=1/", "which has no name"),
    ],
)
def test_what_is_none_is_told(text, what):
    with pytest.raises(RawEventError) as caught:
        parse_raw(text)
    assert what in caught.value.what
    assert caught.value.fix


@given(TERM, st.dictionaries(TERM, st.none() | st.integers(0, 2**64 - 1), min_size=1, max_size=5))
def test_what_is_written_is_what_is_read(pmu, terms):
    text = ",".join(
        name if value is None else f"{name}={value:#x}" for name, value in terms.items()
    )
    assert parse_raw(f"{pmu}/{text}/").terms == tuple(terms.items())


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(RawEventError):
        assert parse_raw(text).terms
