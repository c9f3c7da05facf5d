"""What must hold of names taken out of documents whatever these are."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings, strategies as st

from analysis.artifact.redacted import decoded, encoded, json_text, plain_text, yaml_text
from analysis.artifact.redacted_names import Scrubber
from tests.examples import examples

NAMES = ("jdoe", "lab07.example.org", "jörgensen")
WORDS = st.sampled_from(
    [*NAMES, "lab07", "LAB07", "jdoes", "x_jdoe", "/home/jdoe/x", "sort-jdoe", "a", "\\", '"', "é"]
)
TEXTS = st.lists(WORDS | st.text(max_size=3), max_size=5).map(" ".join)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
DOCUMENTS = st.recursive(
    TEXTS | NUMBERS | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
SETTINGS = settings(max_examples=examples(150), deadline=None)


def scrubber() -> Scrubber:
    found = Scrubber(("user", "host", "paths"), ("sort-jdoe",))
    for name, kind in zip(NAMES, ("user", "host", "user"), strict=True):
        found.learn(kind, name)  # type: ignore[arg-type]
    return found


def shape(value: Any) -> Any:
    """Give a document with its strings taken out, and keys and numbers kept as they are."""
    if isinstance(value, str):
        return "..."
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return repr(value)


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [one for item in value.values() for one in strings(item)]
    return [one for item in value for one in strings(item)] if isinstance(value, list) else []


def left(text: str) -> bool:
    """Tell whether a name stands there as a whole word; a benchmark's name may hold one."""
    plain = re.sub(r"(?<!\w)sort-jdoe(?!\w)", "", text)
    exact = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", plain) for name in NAMES)
    return exact or re.search(r"(?i)(?<!\w)lab07(?!\w)", plain) is not None


@given(DOCUMENTS, st.booleans())
@SETTINGS
def test_json_keeps_keys_and_numbers_and_loses_names(document: Any, ascii_only: bool) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=1)
    one = scrubber()
    after = json_text(one, text)
    assert shape(json.loads(after)) == shape(document)
    assert not any(map(left, strings(json.loads(after))))
    assert json_text(one, after) == after
    if not any(one.touches(string) for string in strings(document)):
        assert after == text  # and no byte


@given(TEXTS)
@SETTINGS
def test_texts_lose_whole_words_and_nothing_else(text: str) -> None:
    one = scrubber()
    after = one.text(text)
    assert not left(after)
    assert one.text(after) == after
    unnamed = re.sub(r"/?redacted-[a-z]+-\d+", "", after)
    for word in re.findall(r"jdoes|x_jdoe|sort-jdoe", text):
        assert word in unnamed or left(word)


@given(st.dictionaries(st.sampled_from(["jdoe", "host", "a-b"]), TEXTS.filter(str.isprintable)))
@SETTINGS
def test_yaml_keeps_its_keys(document: dict[str, str]) -> None:
    import yaml

    text = yaml.safe_dump(document, allow_unicode=True) + "# by jdoe\n"
    found = yaml.safe_load(yaml_text(scrubber(), text))
    assert list(found or {}) == sorted(document)
    assert not any(map(left, strings(found)))


@given(st.binary(max_size=60) | TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")))
@SETTINGS
def test_bytes_without_names_come_back(data: bytes) -> None:
    text = decoded(data)
    if text is None:
        return
    assert encoded(text) == data
    one = scrubber()
    if not one.touches(text):
        assert encoded(plain_text(one, text)) == data
