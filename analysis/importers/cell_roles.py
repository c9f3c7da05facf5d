"""Which role a column has by its cells, where no heading says it, so that nothing is pooled in silence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.number_text import number_in
from .headings import (
    ORDER,
    ColumnRoles,
    direction_in,
    holds_units,
    is_commit,
    is_measured,
    is_role_word,
    is_setting,
    may_be_outcome,
)
from .parsing import SAY, all_numbers, is_failed, is_good, is_outcome, is_warmup, plain_heading

Whole = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
Truth = np.ndarray[Any, np.dtype[np.bool_]]
_WORDS = 12  # words of a column that says what became of a run; numbers of a setting
_HASH = re.compile(r"[0-9a-fA-F]{7,64}")
_DAY = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?")
_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?([T _]\d\d[:\-]?\d\d.*)?|\d\d:\d\d:\d\d(\.\d+)?")
_RATIO = re.compile(r" ?[x×%]$")  # behind a number, which 1.5x and 12 % are
_LONG = 40  # characters of a text that is no name where another one says the same
_MOST = 1_000_000  # groups that are looked up, not sorted


@dataclass(slots=True, eq=False)
class Coded:
    """A column of texts: the number of each row's text, and the texts by their numbers."""

    codes: Whole
    texts: Sequence[str]

    def of(self, rows: Truth) -> Coded:
        """Give some rows."""
        return self if rows.all() else Coded(self.codes[rows], self.texts)

    def among(self) -> list[str]:
        """Give the texts that stand there."""
        there = np.bincount(self.codes, minlength=len(self.texts))
        return [text for text, count in zip(self.texts, there.tolist(), strict=True) if count]


def settled(
    found: ColumnRoles, headings: list[str], columns: dict[int, Coded], there: Truth
) -> ColumnRoles:
    """Give the columns behind the known headings a role by their cells.

    `columns`: Those that may have one, by place; one of sessions may come behind them, with its heading. `there`: The rows
    that have a value. Outcomes are columns of such words, units one of units. Of the others those that tell rows apart are
    factors: texts, and whole numbers of a setting. What is no factor is the same within each benchmark and variant, or ignored.
    """
    found = _as_far_as_known(found, headings, columns)
    rest = [k for k in found.rest if k in columns and k not in found.stated]
    found = _by_words(found, headings, columns, rest)
    counts = there.copy()  # neither failed nor warm-ups: only these are separated
    for k in found.fates:
        good = [
            not is_warmup(text) if k == found.warmup else is_good(headings[k], text) is not False
            for text in columns[k].texts
        ]
        counts &= np.array(good, np.bool_)[columns[k].codes]
    rows = int(counts.sum())
    if not (rows and columns):
        return found
    some = {k: column.of(counts) for k, column in columns.items()}
    found = _of_occasions(found, headings, columns, some)
    groups = grouped([some[k] for k in found.benchmark], rows)
    several = bool(found.variant) and len(some[found.variant[0]].among()) > 1
    sure = "variant" in {plain_heading(headings[k]) for k in found.variant}
    if (
        found.benchmark
        and several
        and not (sure or found.stated & {*found.variant})
        and all(_follows(some[k].codes, *groups) for k in found.variant)
    ):  # each benchmark has one: nothing can be compared by it
        found = replace(found, variant=(), rest=(*found.rest, *found.variant))
        several = False
    own, numbered = (*found.variant, *found.benchmark), found.process is not None
    groups = grouped([some[k] for k in own], rows)
    keys = {k for k in (found.time, found.host) if k is not None}
    rest = [k for k in rest if k in found.rest]
    texts = {k: [_RATIO.sub("", text.strip()) for text in some[k].among()] for k in rest}
    hashes = {k: all(_HASH.fullmatch(text.strip()) for text in of) for k, of in texts.items()}
    numbers = {k: all_numbers(of) for k, of in texts.items()}
    long = {k: max(map(len, of), default=0) > _LONG for k, of in texts.items()}
    for k in sorted(texts, key=lambda k: (hashes[k], len(texts[k]), long[k], numbers[k])):
        codes, named = some[k].codes, k in keys and not numbers[k]
        if named or len(texts[k]) < 2 or _follows(codes, *groups):
            continue
        if not _tells(headings[k], texts[k], codes, groups, numbered=numbered):
            continue
        side = several and _follows(some[found.variant[0]].codes, *grouped([some[k]], rows))
        to = "of_variant" if side else "factors"
        found = _moved(found, k, **{to: (*getattr(found, to), k)})
        own = (*own, k)
        groups = grouped([some[k] for k in own], rows)
    return found


def _moved(found: ColumnRoles, place: int, **to: Any) -> ColumnRoles:  # noqa: ANN401 - places
    return replace(found, rest=tuple(k for k in found.rest if k != place), **to)


def _as_far_as_known(
    found: ColumnRoles, headings: Sequence[str], columns: Mapping[int, Coded]
) -> ColumnRoles:
    """Take numbers for no hosts but a setting, and words such as ``read`` for no direction of what is better."""
    host, better = (None if k in found.stated else k for k in (found.host, found.better))
    if host is not None and host in columns and all_numbers(columns[host].among()):
        found = replace(found, host=None)
    texts = [] if better is None else columns[better].among()
    if better is not None and not any(direction_in(headings, found, text) for text in texts):
        found = replace(found, better=None, rest=(*found.rest, better))
    return found


def _of_occasions(
    found: ColumnRoles, headings: list[str], columns: dict[int, Coded], some: Mapping[int, Coded]
) -> ColumnRoles:
    """Take hosts, days, and times that rows share, for sessions, and commits for variants where nothing else is one.

    Sessions that a column names are parted by them: each host, and each day, may count from 1.
    """
    own, places = found.session, []
    rows = len(next(iter(some.values())).codes)
    groups = grouped([] if own is None else [some[own]], rows)
    for k in (found.time, found.host):
        texts = some[k].among() if k is not None and k in some else []
        days = k == found.host or all(_DAY.fullmatch(text.strip()) for text in texts)
        if k is not None and len(texts) > 1 and (days or len(texts) * 2 <= rows):
            places += [k] * (own is None or not _follows(some[k].codes, *groups))
    if places and own not in found.stated:
        places += [] if own is None else [own]
        if len(places) > 1:
            parts = [columns[k] for k in places]
            codes, first = grouped(parts, len(parts[0].codes))
            texts = [" / ".join(one.texts[one.codes[k]].strip() for one in parts) for k in first]
            columns[len(headings)] = Coded(codes, texts)
            headings.append("+".join(headings[k].strip() for k in places))
            places = [len(headings) - 1]
        found = replace(found, session=places[0])
    commit = found.commit if found.commit in some and not found.variant else None
    if commit is not None and len(some[commit].among()) > 1:
        found = replace(found, variant=(commit,))
    taken = (found.session, *found.variant)
    return replace(found, rest=tuple(k for k in found.rest if k not in taken))


def _by_words(
    found: ColumnRoles, headings: Sequence[str], columns: Mapping[int, Coded], rest: list[int]
) -> ColumnRoles:
    """Take the columns whose words say that they are outcomes, or units."""
    for k in rest:
        texts = columns[k].among()
        words = {text.strip().lower() for text in texts} - {""}
        if not words or len(words) > _WORDS:
            continue
        named = may_be_outcome(headings[k], texts)
        known = [is_good(headings[k], text) is not None for text in words]
        some = all(known) or (any(known) and not all_numbers(words))
        without = found.unit is None and "unit" not in found.literal
        without = without and not all(unit for _, _, unit in found.values)
        clear = all(map(is_outcome, words)) and (len(words) == 1 or any(map(is_failed, words)))
        if (some if named else clear) and found.stated.isdisjoint(found.ok):
            found = _moved(found, k, ok=(*found.ok, k))
        elif words & {*SAY["warm"]} and None not in map(is_warmup, words) and found.warmup is None:
            found = _moved(found, k, warmup=k)
        elif without and holds_units(headings[k], texts):
            found = _moved(found, k, unit=k)
    return found


def _tells(
    heading: str, texts: Sequence[str], codes: Whole, groups: tuple[Whole, Whole], *, numbered: bool
) -> bool:
    """Tell whether a column that does not follow from the names so far, which part `groups`, tells rows apart.

    Of as many texts as rows only a word of names does, where no column numbers the runs, and whole numbers of a setting;
    and few numbers that each name has, all as often, if they do not count its rows.
    """
    many, rows, names = len(texts), len(codes), len(groups[1])
    each, few = many > max(2, rows // 2), many <= max(20, rows // 4)
    if heading.endswith(".@"):  # the key of an object is a name
        return True
    if all(_DATE.fullmatch(one) or not one for one in texts):
        return False
    if is_commit(heading) or not all_numbers(texts):
        return few and (not each or (is_role_word(heading) and not numbered))
    if (last := plain_heading(heading).rpartition("_")[2]) in ORDER or is_measured(heading):
        return False
    values = sorted(value for one in texts if (value := number_in(one)) is not None)
    whole = all(value == int(value) for value in values)
    running = values[:1] != [] and values == [values[0] + k for k in range(many)]
    even = many <= _WORDS and (numbered or not running) and _crosses(codes, groups)
    if even or (is_role_word(heading) and not is_setting(heading)):
        return even
    if each:  # n may number the rows
        numbers = running and values[0] <= 1
        return few and is_setting(heading) and whole and not (numbers and last == "n")
    counts = np.bincount(codes)
    if many <= _WORDS and many * 2 <= rows / names and counts.max() <= 2 * counts[counts > 0].min():
        return True  # few values, each as often
    return is_setting(heading) and (whole or many <= _WORDS)


def _crosses(codes: Whole, groups: tuple[Whole, Whole]) -> bool:
    """Tell whether all groups, several or of several rows for each, have all of the codes as often."""
    names, levels = len(groups[1]), len(np.unique(codes))
    _, counts = np.unique(groups[0] * (int(codes.max()) + 1) + codes, return_counts=True)
    each = int(counts.min())
    return len(counts) == names * levels and each == counts.max() and max(names, each) > 1


def _follows(codes: Whole, groups: Whole, first: Whole) -> bool:
    return bool((codes[first][groups] == codes).all())


def grouped(columns: Sequence[Coded], rows: int) -> tuple[Whole, Whole]:
    """Give the group of each row, in the order of their first rows, and these rows."""
    codes, count = np.zeros(rows, np.int64), 1
    for column in columns:
        if len(column.texts) > 1 and count * len(column.texts) > max(_MOST, rows):
            codes, first = _in_order(codes, count)
            count = len(first)
        if len(column.texts) > 1:
            codes, count = codes * len(column.texts) + column.codes, count * len(column.texts)
    return _in_order(codes, count)


def _in_order(codes: Whole, count: int) -> tuple[Whole, Whole]:
    """Give codes below `count` new numbers, in the order of their first rows, and these rows."""
    rows = len(codes)
    if count > max(_MOST, rows):
        _, codes = np.unique(codes, return_inverse=True)
        count = int(codes.max(initial=-1)) + 1
    begins = np.full(count, rows)
    begins[codes[::-1]] = np.arange(rows)[::-1]  # of several writes the last one stays
    there = np.flatnonzero(begins < rows)
    there = there[np.argsort(begins[there])]
    number = np.empty(count, np.int32)
    number[there] = np.arange(len(there), dtype=np.int32)
    return number[codes], begins[there]
