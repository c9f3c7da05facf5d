"""How a line's speedup and interval are written on the whole page: decimals by column, not by cell."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..pages import number_format as figures
from ..pages.as_markup import escaped
from ..pages.model import Cell, Column, Section, Sentence, Table, Value
from ..pages.number_format import significant
from ..verdict.judging import judge_alone
from ..verdict.one_candidate import advice, word
from ..verdict.sentence import heading
from ..words import shorten, shortened, shown

if TYPE_CHECKING:
    from ..methods.multilevel.result import Line, Multilevel
    from ..verdict.result import CandidateVerdict, Verdict
    from .subject import Subject

__all__ = [
    "Written",
    "all_written",
    "brief_of",
    "brief_sections",
    "column_of",
    "decimals_of",
    "few_sessions",
    "macros_of",
    "written",
    "written_of",
]

_WIDE = 1.5  # a column that spans more has two decimals
_ROUGH = ((4.0, 0), (0.4, 1))  # half-widths above which a line has fewer
_SMALL = 0.0995  # below it decimals would leave fewer than three significant digits
_LARGE = 9.995  # and from here on more
_PLAIN = (1e-4, 1e7)  # numbers that are written without an exponent
_MOST = 12  # decimals that are tried to keep an end off 1
_APART = 4  # decimals that are tried to keep the ends apart


@dataclass(frozen=True, slots=True)
class Written:
    """A line as it is written: without the sign of a ratio and without brackets.

    Each text is "" where the number is None, which is where nobody knows it.
    """

    speedup: Value
    low: Value
    high: Value

    @property
    def interval(self) -> str:
        """Both ends, such as ``[2.68, 2.75]``; "" where there are none."""
        return f"[{self.low.text}, {self.high.text}]" if self.low.text else ""


def column_of(result: Multilevel) -> tuple[Line, ...]:
    """Give the lines that stand in one column: the benchmarks and the suite's two lines."""
    suite = (line for line in (result.these, result.similar) if line is not None)
    return (*result.benchmarks, *suite)


def written(line: Line, column: Sequence[Line]) -> Written:
    """Write the numbers of a line that stands in a column, which `column_of` gives.

    Two decimals where the column's speedups span more than a factor of 1.5 and reach above it, three
    elsewhere: below 1 the third decimal is the third significant digit. A line whose interval's
    half-width is above 0.4 has one, above 4 none. No end rounds to 1 unless it is 1, and the two
    ends do not look equal unless they are, up to four decimals: the whole line has as many as that
    takes. From 10 on, and below 0.1, three significant digits decide instead of the column. What
    would round to 0 has one significant digit.
    """
    return _written(line, decimals_of(one.speedup for one in column))


def all_written(column: Sequence[Line]) -> list[Written]:
    """Write all lines of a column."""
    usual = decimals_of(line.speedup for line in column)
    return [_written(line, usual) for line in column]


def written_of(subject: Subject) -> Mapping[str, Mapping[str, Written]]:
    """Write all lines of a subject: candidate, then the line's name, "these" and "similar" among them.

    These are the strings of the page: whatever shows such a number takes them.
    """
    columns = {
        one.variant: column_of(one.multilevel)
        for one in subject.candidates
        if one.multilevel is not None
    }
    return {
        variant: {line.name: told for line, told in zip(column, all_written(column), strict=True)}
        for variant, column in columns.items()
    }


def few_sessions(verdict: Verdict) -> bool:
    """Whether fewer than three sessions were recorded: half a width says nothing then, so no ± is shown.

    Intervals stand with both of their ends. Hosts of a fleet, and runs of a file, are no sessions.
    """
    recorded = verdict.session_runs is not None and verdict.outermost != "host"
    return recorded and verdict.sessions < 3


def _written(line: Line, usual: int) -> Written:
    digits = _decimals(line, usual)
    return Written(*(_value(number, digits) for number in (line.speedup, line.low, line.high)))


def decimals_of(speedups: Iterable[float | None]) -> int:
    """Give the decimals of a column of speedups: two where it spans much, else three."""
    known = [value for value in speedups if value is not None and value > 0]
    if not known:
        return 3
    return 2 if max(known) > _WIDE and max(known) / min(known) > _WIDE else 3


def _decimals(line: Line, usual: int) -> int:
    """Give the decimals of a line: the column's, fewer where it is rough, more where 1 is near."""
    if line.speedup is None:
        return usual
    digits = usual
    if not _SMALL <= line.speedup < _LARGE:
        digits = max(0, _significant(line.speedup))
    low, high = line.low, line.high
    if low is None or high is None:
        return digits
    half = (high - low) / 2
    digits = min([digits, *(few for limit, few in _ROUGH if half > limit)])
    while digits < _MOST and any(_hides_one(end, digits) for end in (low, high)):
        digits += 1
    while digits < _APART and low != high and round(low, digits) == round(high, digits):
        digits += 1
    return digits


def _significant(number: float) -> int:
    """Give the decimals at which a number has three significant digits; negative for large ones."""
    return 2 - math.floor(math.log10(number))


def _hides_one(end: float, digits: int) -> bool:
    return round(end, digits) == 1.0 and not math.isclose(end, 1.0, rel_tol=1e-12)


def _value(number: float | None, digits: int) -> Value:
    if number is None:
        return Value("", None)
    if not _PLAIN[0] <= number < _PLAIN[1]:
        return Value(significant(number), number)
    if number > 0 and round(number, digits) == 0:  # no speedup is 0
        return Value(f"{number:.1g}", number)
    return Value(f"{number:.{digits}f}", number)


# --- The answer as a table of one line a benchmark: for a terminal, a pull request and a paper.
#
# Its strings are those of the page. A brief is a mapping as JSON has it; ``docs/json.md``
# explains its keys.


_NAME = 24
_ADVICE = 48
_NONE = Value("", None)
_NO_SIDE = {"mean": _NONE, "half": _NONE}
Brief = Mapping[str, Any]
Halves = Mapping[str, float | None]


def brief_of(subject: Subject) -> Brief:
    """Give the compact table of one metric."""
    verdict = subject.verdict
    level = 1 - verdict.look_alpha
    few = few_sessions(verdict)
    halves: dict[str, Halves] = {}
    units = set()
    for name, matrix in () if few else subject.matrices.items():
        found = judge_alone(matrix, confidence=level)
        halves[name] = {one.benchmark: _half(one.low, one.high) for one in found.alone}
        # a host where each host was taken as one session
        each = {one.unit for one in found.alone if one.low is not None}
        units |= {found.outermost if unit == "session" else unit for unit in each}
    return {
        "heading": shown(heading(verdict).text) if verdict.candidates or verdict.campaign else "",
        "metric": verdict.metric,
        "unit": verdict.unit,
        "baseline": verdict.baseline,
        "level": Value(f"{100 * level:.4g}\N{NO-BREAK SPACE}%", level),
        "rests_on": f"{units.pop()}s" if len(units) == 1 else "",
        "candidates": [
            {"variant": one.variant, "rows": _rows(subject, one, halves)}
            for one in verdict.candidates
        ],
        "alone": [
            (
                one.benchmark,
                _side(one.mean, None if few else _half(one.low, one.high), verdict.unit),
                Value(f"{one.runs}", one.runs),
            )
            for one in verdict.alone
        ],
    }


def _half(low: float | None, high: float | None) -> float | None:
    """Give half the width of an interval that is symmetric in logs, as a share of its middle."""
    return None if low is None or high is None else math.sqrt(high / low) - 1


def _rows(
    subject: Subject, one: CandidateVerdict, halves: Mapping[str, Halves]
) -> list[dict[str, Any]]:
    """Give a row for each benchmark as the report lists them, then the suite's lines."""
    found, unit = one.multilevel, subject.verdict.unit
    if found is None:
        return []
    column = column_of(found)
    lines = {line.name: line for line in found.benchmarks}
    listed = [(lines[name], name) for name in subject.order if name in lines]
    suite = (
        (found.these, f"these\N{NO-BREAK SPACE}{len(lines)}"),
        (found.similar, "others like them"),
    )
    listed += [(line, label) for line, label in suite if line is not None]  # type: ignore[misc]
    texts = {id(line): text for line, text in zip(column, all_written(column), strict=True)}
    rows = []
    for line, label in listed:
        told = texts[id(line)]
        ours: dict[str, Any] = {"candidate": None, "baseline": None}
        if label in lines and line is lines[label]:
            for side, name in (("candidate", one.variant), ("baseline", subject.baseline)):
                half = halves.get(name, {}).get(line.name)
                ours[side] = _side(getattr(line, f"mean_{side}"), half, unit)
        numbers: dict[str, Any] = {"speedup": told.speedup, "low": told.low, "high": told.high}
        said: dict[str, Any] = {
            "outcome": line.outcome,
            "word": word(line, unit),
            "advice": advice(line, found),
        }
        rows.append({"name": line.name, "label": shown(label)} | ours | numbers | said)
    return rows


def _side(mean: float | None, half: float | None, unit: str) -> dict[str, Value]:
    """Write one side on one benchmark: its geometric mean, and half of its own interval."""
    share = "" if half is None else f"{figures.significant(100 * half, 2)}\N{NO-BREAK SPACE}%"
    return {
        "mean": _NONE if mean is None else Value(figures.quantity(mean, unit), mean),
        "half": Value(share, half),
    }


# ---- in words and cells


def brief_sections(brief: Brief, *, whole: bool = False) -> tuple[Section, ...]:
    """Give the heading, and a table for each candidate, or of one side alone.

    Names are shortened as on the page, or `whole` for what takes tables as data.
    """
    head = (Sentence(brief["heading"]),) if brief["heading"] else ()
    base = brief["baseline"]
    if not brief["candidates"]:
        return (Section((*head, _alone(brief, whole=whole), *_half_said(brief))),)
    names = _names([base, *(one["variant"] for one in brief["candidates"])], whole=whole)
    tables: list[Section | Sentence] = []
    for number, one in enumerate(brief["candidates"], 1):
        name = names[one["variant"]]
        if one["rows"]:
            table = _against(brief, one["rows"], (names[base], name), number, whole=whole)
            tables.append(Section((table,), f"{name} against {names[base]}"))
        else:
            tables.append(Sentence(f"{name}: nothing could be compared with {names[base]}"))
    compared = any(one["rows"] for one in brief["candidates"])
    return (Section((*head, *tables, *(_half_said(brief) if compared else ()))),)


def _names(names: Sequence[str], *, whole: bool) -> Mapping[str, str]:
    return {name: shown(name) for name in names} if whole else shortened(names, _NAME)


def _half_said(brief: Brief) -> tuple[Sentence, ...]:
    """Say what a bare ± would leave open."""
    on = brief["rests_on"]
    if not on:
        return ()
    each = "each side's" if brief["candidates"] else "its"
    text = f"±: half the width of {each} own {brief['level'].text} interval, over its {on}"
    if brief["candidates"] and on in ("sessions", "hosts"):
        text += f"; what {on} do to both sides alike is no part of the speedup's interval"
    return (Sentence(text),)


def _against(
    brief: Brief, rows: Sequence[Brief], names: tuple[str, str], number: int, *, whole: bool
) -> Table:
    """Set a candidate's rows as a table; without any half-width it has no columns for them."""
    labels = _names([row["label"] for row in rows], whole=whole)
    sides = [[row[side] or _NO_SIDE for side in ("baseline", "candidate")] for row in rows]
    keys = ["mean", "half"] if any(one["half"].text for row in sides for one in row) else ["mean"]
    columns = [Column("", "left")]
    for name in names:
        columns += [Column(name), Column("±")][: len(keys)]
    columns += [Column("speedup"), Column(f"{brief['level'].text} from"), Column("to")]
    columns += [Column("word", "left"), Column("to decide", "left")]
    cells: list[tuple[Cell, ...]] = [
        (
            labels[row["label"]],
            *(one[key] for one in side for key in keys),
            *(row[key] for key in ("speedup", "low", "high", "word")),
            shorten(row["advice"], _ADVICE),
        )
        for row, side in zip(rows, sides, strict=True)
    ]
    return Table(name=f"speedups-{number}", columns=tuple(columns), rows=tuple(cells))


def _alone(brief: Brief, *, whole: bool) -> Table:
    alone = brief["alone"]
    names = _names([brief["baseline"], *(name for name, _, _ in alone)], whole=whole)
    keys = ["mean", "half"] if any(side["half"].text for _, side, _ in alone) else ["mean"]
    headings = [names[brief["baseline"]], "±"][: len(keys)]
    return Table(
        name="alone",
        columns=(Column("", "left"), *map(Column, headings), Column("runs")),
        rows=tuple((names[name], *(side[key] for key in keys), runs) for name, side, runs in alone),
    )


# --- The numbers of the compact table as LaTeX commands, one for each, so that a paper cannot mistype them.


_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_LONGEST = 40  # letters of a name's part
_HEAD = """\
% One command for each number of the report; a word is the candidate's, over the baseline.
% Read by \\input{numbers}; inside of siunitx: \\num{\\ftSpeedup...}. A command that is defined already
% is an error: two reports that name the same variants are not to be mixed.
"""


def macros_of(briefs: Sequence[Brief]) -> str:
    """Give ``numbers.tex``: a line for each number, with a remark that says what it is.

    A command is called ``ft``, what it is, the candidate, ``On`` and the benchmark (nothing for these
    benchmarks together, ``OnSimilar`` for others like them), in letters only: digits are written out,
    other signs part words, and a number is put behind a name that is taken. Further metrics have their
    name behind ``ft``. The same report gives the same commands.
    """
    taken: set[str] = set()
    lines = [_HEAD]
    for k, brief in enumerate(briefs):
        metric = _letters(brief["metric"]) if k else ""
        for name, text, remark in _commands(brief):
            told = _free(f"ft{metric}{name}", taken)
            lines.append(f"\\newcommand{{\\{told}}}{{{text}}}% {shown(remark)}\n")
    return "".join(lines)


def _commands(brief: Brief) -> Iterator[tuple[str, str, str]]:
    """Give each number's name, its text, and what it is."""
    yield "Metric", escaped(brief["metric"]), "what was judged"
    yield "Baseline", escaped(brief["baseline"]), "the side that all others are compared with"
    level = brief["level"].text.removesuffix("\N{NO-BREAK SPACE}%")
    yield "Level", level, "of each interval, in percent"
    for name, side, runs in brief["alone"]:
        of = _letters(name)
        yield from _quantity(f"Mean{of}", side["mean"], f"{name}: geometric mean")
        yield f"Runs{of}", runs.text, f"{name}: runs that count"
    for one in brief["candidates"]:
        for row in one["rows"]:
            if row["candidate"] is not None:
                line = f"On{_letters(row['name'])}"
            else:
                line = "OnSimilar" if row["name"] == "similar" else ""
            of = _letters(one["variant"]) + line
            about = f"{one['variant']}, {row['label']}"
            for what in ("Speedup", "Low", "High"):
                if text := row[what.lower()].text:
                    yield f"{what}{of}", text, f"{about}: {what.lower()}"
            yield f"Word{of}", row["word"], f"{about}: the answer"
            if row["candidate"] is not None:
                yield from _quantity(f"Mean{of}", row["candidate"]["mean"], f"{about}: its mean")
                base = f"{about}: the baseline's mean"
                yield from _quantity(f"Base{of}", row["baseline"]["mean"], base)


def _quantity(name: str, value: Value, remark: str) -> Iterator[tuple[str, str, str]]:
    """Give a quantity's number and its unit apart, as siunitx wants them."""
    if not value.text:
        return
    number, _, unit = value.text.partition(" ")
    yield name, number, remark + (f", in {unit}" if unit else "")


def _letters(name: str) -> str:
    """Write a name in letters: words begin with a capital, digits are written out."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.findall("[A-Za-z]+|[0-9]", plain)
    told = "".join(_DIGITS[int(w)] if w.isdigit() else w[0].upper() + w[1:] for w in words)
    return told[:_LONGEST] or "Unnamed"


def _free(name: str, taken: set[str]) -> str:
    """Put a number behind a name that is taken."""
    told, count = name, 1
    while told in taken:
        count += 1
        told = name + "No" + "".join(_DIGITS[int(digit)] for digit in str(count))
    taken.add(told)
    return told
