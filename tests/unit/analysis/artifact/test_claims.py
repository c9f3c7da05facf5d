"""Claims: how a value is found (RFC 6901), rounded and compared, and what a file of them may hold."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from analysis.artifact.claims import (
    Claim,
    StoredClaim,
    claims_text,
    pointed,
    read_claims,
    read_stored_claims,
    said_of,
    weigh_claim,
)
from analysis.errors import CampaignError, StoreError, UsageError

# the document and the pointers of RFC 6901, section 5
RFC = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", RFC),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ],
)
def test_pointers_are_those_of_the_standard(pointer, value):
    assert pointed(RFC, pointer) == value


@pytest.mark.parametrize(
    ("pointer", "what"),
    [
        ("foo", "begins with a slash"),
        ("/foo/2", "it is a list of 2"),
        ("/foo/01", "it is a list"),
        ("/foo/-", "it is a list"),
        ("/foo/\u0662", "it is a list"),
        ("/foo/" + "9" * 5000, "it is a list"),
        ("/bar", "it has foo"),
        ("/foo/0/x", "at /foo/0: it is a value"),
    ],
)
def test_a_pointer_to_nothing_says_how_far_it_leads(pointer, what):
    with pytest.raises(UsageError, match=what):
        pointed(RFC, pointer)


def claim(relation, expected, digits=None, value="/x"):
    return Claim(
        text="t",
        command=("verdict",),
        value=value,
        relation=relation,
        expected=expected,
        digits=digits,
    )


@pytest.mark.parametrize(
    ("relation", "expected", "digits", "found", "holds"),
    [
        ("at_least", 1.5, None, 1.5, True),
        ("at_least", 1.5, None, 1.4999999, False),
        ("at_least", 1.5, 2, 1.4951, True),
        ("at_most", 1.5, None, 1.5, True),
        ("at_most", 1.5, 1, 1.56, False),
        ("equals", 1.23, 2, 1.2345, True),
        ("equals", 1.23, 2, 1.2251, True),
        ("equals", 1.23, 2, 1.2249, False),
        ("equals", 1.1, None, 1.1, True),
        ("equals", 3, None, 3, True),
        ("equals", 3, None, 3.0, True),
        ("equals", 3, 0, 2.5, False),  # half to even: 2
        ("equals", 2, 0, 2.5, True),
        ("equals", "a", None, "a", True),
        ("equals", True, None, True, True),
        ("equals", True, None, 1, False),
        ("equals", 1, None, True, False),
        ("equals", None, None, None, True),
        ("equals", None, None, 0, False),
        ("word", "faster", None, "faster", True),
        ("word", "faster", None, "Faster", False),
        ("word", "faster", None, None, False),
        ("at_least", 1, None, None, False),
        ("at_least", 1, None, "2", False),
        ("at_least", 1, None, [2], False),
        ("at_least", 1e300, 15, 1.7e308, True),
    ],
)
def test_a_claim_holds_or_says_why_not(relation, expected, digits, found, holds):
    told = weigh_claim(claim(relation, expected, digits), {"x": found})
    assert told.holds is holds
    assert (told.why == "") is holds


def test_a_claim_that_fails_says_what_stands_there():
    told = weigh_claim(claim("at_least", 2, 2), {"x": 1.5})
    assert told.why == "/x is 1.5, not at least 2.00 (to 2 decimals)"
    assert "there is no 'y'" in weigh_claim(claim("word", "a", value="/y"), {"x": 1}).why
    assert said_of(claim("word", "faster")) == "the word 'faster'"


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 15))
def test_what_a_paper_rounds_equals_what_was_found(value, digits):
    # authority: Python's correctly rounded formatting, half to even on the exact double
    written = f"{value:.{digits}f}"
    found = weigh_claim(replace(claim("equals", float(written)), digits=digits), {"x": value})
    assert found.holds or abs(value) > 2**53 / 10**digits


@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, alphabet=st.characters(exclude_categories=["Cs"])),
            st.sampled_from(["at_least", "at_most", "equals"]),
            st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e9, 1e9)),
            st.one_of(st.none(), st.integers(0, 15)),
        )
    )
)
def test_stored_claims_are_read_back(rows):
    stored = [
        StoredClaim(
            claim=replace(claim(relation, expected, digits), text=text),
            result="analyses/01.json",
            found=1.5,
            holds=True,
        )
        for text, relation, expected, digits in rows
    ]
    assert list(read_stored_claims(claims_text(stored), "a.zip")) == stored


GOOD = {
    "text": "t",
    "command": ["verdict", "trials/x", "--json"],
    "value": "/x",
    "is": "equals",
    "expected": 1,
    "digits": None,
    "result": "analyses/1.json",
    "found": 1,
    "holds": True,
}


@pytest.mark.parametrize(
    "change",
    [
        {"text": 1},
        {"command": "verdict"},
        {"is": "more"},
        {"digits": 16},
        {"digits": True},
        {"holds": "yes"},
        {"expected": []},
        {"is": "at_least", "expected": "1"},
    ],
)
def test_stored_claims_that_are_none_are_refused(change):
    assert read_stored_claims(json.dumps({"schema": 1, "claims": [GOOD]}).encode(), "a")
    data = json.dumps({"schema": 1, "claims": [GOOD | change]}).encode()
    with pytest.raises(StoreError, match=r"claim 1 of claims\.json"):
        read_stored_claims(data, "a")


_NONE_CAN_BE = [
    "9" * 4000,
    "-" + "9" * 4000,
    "18446744073709551616",
    "1e999",
    "-1e999",
    "[1]",
    "[[[[[[[[1]]]]]]]]",
    '{"a": 1}',
]


@pytest.mark.parametrize("key", ["expected", "found", "digits"])
@pytest.mark.parametrize(
    ("written", "relation"),
    [(one, "equals") for one in (*_NONE_CAN_BE, "9" * 5000, "NaN", "Infinity")]
    + [(one, other) for one in (_NONE_CAN_BE[0], "1e999") for other in ("at_least", "word")],
)
def test_numbers_that_none_can_be_are_refused(key, written, relation):
    data = json.dumps({"schema": 1, "claims": [GOOD | {key: "HERE", "is": relation}]})
    with pytest.raises(StoreError, match=r"claim|digits|no JSON"):
        read_stored_claims(data.replace('"HERE"', written).encode(), "a")


@pytest.mark.parametrize("data", [b"", b"[]", b'{"schema": 2, "claims": []}', b'{"claims": []}'])
def test_another_file_is_no_claims(data):
    with pytest.raises(StoreError):
        read_stored_claims(data, "a")


# --- the file of an author ----------------------------------------------------------------------

FILE = b"""\
claims:
  - text: gzip-1 is at least twice as fast
      as gzip-6.
    command: fairtrial verdict runs/sample
    value: /candidates/0/multilevel/these/speedup
    is: at_least
    expected: 2
  - text: the word is the tool's
    command: [verdict, runs/sample, --json]
    value: /candidates/0/word
    is: word
    expected: faster
  - text: 2.77 times on text
    command: verdict runs/sample --explain
    value: /x
    is: equals
    expected: 2.770
  - text: 'yes'
    command: report runs/sample
    value: /x
    is: equals
    expected: true
"""


def test_a_file_of_claims_is_read():
    first, second, third, fourth = read_claims(FILE, "claims.yaml")
    assert first.text == "gzip-1 is at least twice as fast as gzip-6."
    assert first.command == ("verdict", "runs/sample", "--json")
    assert (first.relation, first.expected, first.digits, first.line) == ("at_least", 2, None, 2)
    assert second.expected == "faster"
    assert second.command == first.command
    # the decimals of a number that must be equal count as it is written
    assert (third.expected, third.digits) == (2.77, 3)
    assert fourth.command == ("report", "runs/sample", "--format", "json")
    assert fourth.expected is True


def test_all_mistakes_are_told_at_once_with_their_lines():
    wrong = b"""\
claims:
  - text: a
    command: fairtrial run campaign.yaml
    value: candidates/0
    is: atleast
    expected: 2
  - txt: b
    command: verdict runs/x
    value: /x
    is: at_least
    expected: many
  - text: c
    command: verdict runs/x
    value: /x
    is: at_least
    expected: many
    digits: 16
    is: word
"""
    with pytest.raises(CampaignError) as raised:
        read_claims(wrong, "claims.yaml")
    told = str(raised.value)
    for line in (
        "8 problems",
        "claims.yaml:3:14: 'command' cannot be one of a bundle: it is 'run'",
        "claims.yaml:4:12: 'value' must be a JSON pointer",
        "claims.yaml:5:9: 'is' must be one of at_least, at_most, equals, word, not 'atleast'",
        "claims.yaml:7:5: there is no key 'txt' here; did you mean text?",
        "claims.yaml:7:5: 'text' is missing",
        "claims.yaml:16:15: 'expected' must be a number",
        "claims.yaml:17:13: 'digits' must be a whole number from 0 to 15",
        "claims.yaml:18:5: 'is' is given twice (first on line 15)",
    ):
        assert line in told, line


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "holds nothing"),
        (b"\xff", "UTF-8"),
        (b"[1]", "must be a mapping"),
        (b"claims: []", "no claim"),
        (b"claims: 3", "must be a list"),
        (b"claims: [", "not valid YAML"),
        (b"a: &x [1]\nb: *x", "the anchor"),
        (b"claims: !!python/object:os.system []", "the tag"),
        (b"claims: []\n---\nclaims: []", "a second document"),
        (b"[" * 1000, "nested deeper"),
        (FILE.replace(b"expected: 2\n", b"expected: 1e999\n"), "must be a number"),
        (FILE.replace(b"expected: faster", b"expected: faster\n    digits: 2"), "for numbers"),
        (FILE.replace(b"fairtrial verdict", b"fairtrial verdict 'x"), "split into words"),
        (FILE.replace(b"fairtrial verdict", b"verdict --plots ."), "only read and print"),
    ],
)
def test_what_is_no_file_of_claims_is_refused(data, what):
    with pytest.raises(CampaignError, match=what):
        read_claims(data, "claims.yaml")


@given(
    st.binary(max_size=200)
    | st.builds(
        lambda start, junk, gone: FILE[:start] + junk + FILE[start + gone :],
        st.integers(0, len(FILE)),
        st.binary(max_size=1) | st.sampled_from([bytes([c]) for c in b"'\"[]{}:\n#&*!-9e\t\\"]),
        st.integers(0, 5),
    )
)
def test_any_bytes_are_claims_or_refused(data):
    said, found = "", ()
    try:
        found = read_claims(data, "claims.yaml")
    except CampaignError as error:
        said = str(error)
    assert found or "claims.yaml" in said
    stored = [StoredClaim(claim=one, result="a/1.json", found=1, holds=True) for one in found]
    again = read_stored_claims(claims_text(stored), "a.zip")
    assert [one.claim for one in again] == [replace(one, line=None) for one in found]


@given(st.decimals(-1000, 1000, places=3))
def test_numbers_are_read_as_they_are_written(number):
    (one, *_) = read_claims(FILE.replace(b"expected: 2\n", f"expected: {number}\n".encode()), "c")
    assert Decimal(str(one.expected)) == number
