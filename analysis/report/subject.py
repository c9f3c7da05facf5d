"""What a report is about: the sources as read, judged once, with the names and the numbers that the page uses."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import AnalysisError, UsageError
from ..importers.reader import Reading, is_file, open_trial, read_one, trial_and_variant
from ..methods.multilevel.result import HostLevel, Line, MoreSessions, Multilevel
from ..pages import number_format as figures
from ..pages.as_markup import escaped
from ..pages.model import Column, Section, Sentence, Table, Value, section, table_of, value_of
from ..pages.number_format import bound, outward, significant
from ..record.fleet import is_fleet
from ..record.manifest import judge_words
from ..verdict.fleet import (
    disagreeing_sentences,
    judge_fleet,
    refuse_of_fleet,
    standing_sentences,
)
from ..verdict.judging import judge, judge_alone, judge_sources
from ..verdict.result import CandidateVerdict, JudgedData, Verdict, heading
from ..verdict.sentence import advice, suite_lines, word
from ..verdict.sides import named_in, only
from ..words import Name, command_line, shortened, shown

# --- What a report says of several hosts: the fleet's own verdict, and how each host stands.


def level_of(verdict: Verdict) -> HostLevel | None:
    """Give what the hosts say of the first candidate that several of them judge; None without one."""
    return next((one.hosts for one in verdict.candidates if one.hosts is not None), None)


def hosts_of(verdict: Verdict) -> Mapping[str, str]:
    """Give the host that each session of the joined trial is; empty without several hosts."""
    judged = [one.host for one in verdict.hosts if one.judged]
    return {str(k): host for k, host in enumerate(judged, 1)} if len(judged) > 1 else {}


def ours_of(subject: Subject) -> list[Trial]:
    """Give the trials that fairtrial measured: no command measures those of another tool again."""
    return [trial for trial in subject.trials if trial.manifest.origin != "imported"]


def first_host(verdict: Verdict) -> Path | None:
    """Give the trial of the first host of a fleet that is judged; None where there is no fleet."""
    return next((Path(one.trial) for one in verdict.hosts if one.judged), None)


def standing_of(verdict: Verdict) -> Iterator[str]:
    """Say which hosts disagree with the rest, on what, and which are missing or not complete."""
    several = len(verdict.candidates) > 1
    for one in verdict.candidates:
        if one.hosts is not None:
            for sentence in disagreeing_sentences(verdict, one.hosts):
                yield f"{one.variant}: {sentence.text}" if several else sentence.text
    found: tuple[Sentence, ...] = standing_sentences(verdict.hosts, whole=True)
    yield from (sentence.text for sentence in found)


def _advised(one: CandidateVerdict) -> CandidateVerdict:
    """Put the advice on hosts into the lines, where that on sessions stands for a trial."""
    result, level = one.multilevel, one.hosts
    if result is None or level is None:
        return one
    same = ("low", "high", "chance", "target")
    more = {
        each.benchmark: MoreSessions(
            sessions=each.hosts, runs_suffice=None, **{key: getattr(each, key) for key in same}
        )
        for each in level.more_hosts
    }
    lines = (replace(line, more_sessions=more.get(line.name)) for line in result.benchmarks)
    these = result.these and replace(result.these, more_sessions=more.get(None))
    text: Multilevel = replace(result, benchmarks=tuple(lines), these=these)
    return replace(one, multilevel=text)


# --- How a name that is not ours is shown: nothing in it moves, hides or reorders what stands around it.


def abridging(names: Sequence[str], width: int = 24) -> Callable[[str], str]:
    """Give what shortens these names in a text, as `shortened` does."""
    short = {name: brief for name, brief in shortened(names, width).items() if brief != name}
    short |= {shown(name): brief for name, brief in short.items()}
    if not short:
        return str
    longest_first = sorted(short, key=len, reverse=True)
    known = re.compile("|".join(map(re.escape, longest_first)))
    return lambda text: known.sub(lambda found: short[found[0]], text)


def abridged(part: Any, brief: Callable[[str], str]) -> Any:  # noqa: ANN401 - a section, or what is in it
    """Shorten names in titles and tables: no cell needs more room than on the screen."""
    if isinstance(part, str):
        return brief(part)
    if isinstance(part, tuple):
        return tuple(abridged(one, brief) for one in part)
    if not isinstance(part, Section | Table | Column):
        return part
    inside = {one.name: abridged(getattr(part, one.name), brief) for one in fields(part)}
    return replace(part, **inside)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """One metric of the sources, judged; every estimate of the page stems from its verdict."""

    sources: tuple[str, ...]  # as they were given
    title: str  # the campaign, or the files
    trials: tuple[Trial, ...]  # of a fleet one, whose sessions are its hosts; none for files
    verdict: Verdict  # with the published methods' panel
    # the runs that count by variant, the baseline first; without variants that have none
    matrices: Mapping[str, PerformanceMatrix]
    order: tuple[str, ...]  # benchmarks: by the first candidate's speedup, those without one last
    prefix: str  # what ids of this metric begin with: "" for the first metric of the page
    options: Mapping[str, Any]  # the options with which it was judged, as `judge` takes them
    how: Reading = field(default_factory=Reading)

    @property
    def trial(self) -> Trial | None:
        """The trial, if there is exactly one."""
        return self.trials[0] if len(self.trials) == 1 else None

    @property
    def data(self) -> JudgedData:
        """What was judged."""
        return self.verdict.data

    @property
    def baseline(self) -> str:
        """The baseline's name."""
        return self.data.baseline

    @property
    def candidates(self) -> tuple[CandidateVerdict, ...]:
        """The candidates in the trial's order."""
        return self.verdict.candidates

    @property
    def results(self) -> tuple[Multilevel, ...]:
        """What the comparisons of the candidates say that were compared."""
        return self.verdict.compared

    def command(self, words: str, *more: str, of: Sequence[str] = ()) -> str:
        """Give a command on these sources, or on some `of` them, with this metric."""
        metric = () if self.verdict.question.usual else ("--metric", self.verdict.data.metric)
        asked = (*(of or self.sources), *metric, *judge_words(words.split(maxsplit=1)[0]), *more)
        return command_line(["fairtrial", *words.split(), *asked])

    def anchor(self, kind: str, name: str = "") -> str:
        """Give an id for this metric: the kind ("benchmark", "methods", ...), and a name's place.

        A benchmark's id holds a readable part of its name and its place in `order`, so that two
        names that look alike have different ids.
        """
        if not name:
            return f"{self.prefix}{kind}"
        readable = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:40]
        place = self.order.index(name) + 1 if name in self.order else 0
        return f"{self.prefix}{kind}-{place}-{readable}".rstrip("-")


def subject_of(sources: Sequence[str], how: Reading, **asked: object) -> Subject:
    """Read the sources and judge one metric of them, that of `how`; all else is as for `subjects_of`."""
    return subjects_of(sources, how, (), **asked)[0]


def subjects_of(
    sources: Sequence[str], how: Reading, metrics: Sequence[str] = (), **asked: object
) -> tuple[Subject, ...]:
    """Read the sources once and judge several metrics of them, the first metric first.

    Parameters
    ----------
    sources : sequence of str
        A trial or a fleet, a variant of one, two sides (each a variant of a trial, or a file), or one file,
        where nothing is compared.
    how : Reading
        How they are read.
    metrics : sequence of str
        Their names, each once; the metric of `how` where none is named.
    **asked
        ``confidence``, ``margin``, ``correction``, ``weights``, ``looks``, ``always_valid``,
        ``benchmarks``, and for one trial ``variants`` and ``certificate``: as `judge` takes them;
        ``explain`` (default: True): whether the published methods are asked, which takes longest.

    Raises
    ------
    FairtrialError
        If the sources cannot be read, or cannot be judged.
    """
    if len(sources) > 2:
        what = f"a report is on one trial or on two sides, not on {len(sources)} sources"
        fix = "name a trial; its variants are all compared with its baseline"
        raise UsageError(what, " ".join(sources), fix)
    hows = [replace(how, metric=metric) for metric in dict.fromkeys(metrics)] or [how]
    opened: dict[Path, Trial] = {}
    found = []
    for number, one in enumerate(hows, 1):
        if len(sources) == 2:
            read = _of_two(sources, one, asked)
        elif (first := trial_and_variant(sources[0])) is None and is_file(sources[0]):
            read = _of_one_file(sources[0], one, asked)
        else:
            read = _of_one_trial(*(first or (Path(sources[0]), None)), one, asked, opened)
        order = tuple(_order(read["verdict"], read["matrices"]))
        prefix = f"metric-{number}-" if number > 1 else ""
        found.append(Subject(sources=tuple(sources), order=order, prefix=prefix, how=one, **read))
    return tuple(found)


_Read: TypeAlias = dict[str, Any]  # what a subject has of its sources


def _of_one_trial(
    folder: Path,
    variant: str | None,
    how: Reading,
    asked: Mapping[str, Any],
    opened: dict[Path, Trial],
) -> _Read:
    trial = opened.get(folder)
    if trial is None:
        trial = opened[folder] = open_trial(folder, how.level, how.better, decimal=how.decimal)
    better = trial.metric(how.metric or trial.default_metric).better
    if how.better not in {None, better}:
        what = f"in this trial {better} values are better"
        raise UsageError(what, str(folder), f"leave out --better {how.better}")
    options = dict(asked)
    explain = bool(options.pop("explain", True))
    if variant is not None and trial.manifest.variants != (variant,):
        options["variants"] = tuple(dict.fromkeys((variant, *(options.get("variants") or ()))))
    if is_fleet(folder):
        given = ["--always-valid"] * bool(options.get("always_valid"))
        given += ["--certificate"] * (options.get("certificate") is not None)
        refuse_of_fleet(folder, given, "report", level=how.level)
        of_any = {k: one for k, one in options.items() if k not in ("always_valid", "certificate")}
        verdict = judge_fleet(folder, metric=how.metric, explain=explain, **of_any)
        verdict = replace(verdict, candidates=tuple(map(_advised, verdict.candidates)))
        judged = [one.trial for one in verdict.hosts if one.judged]
        if len(judged) == 1:
            trial = opened[folder] = open_trial(judged[0], how.level)
    else:
        verdict = judge(trial, metric=how.metric, explain=explain, **options)
    matrices = dict(_matrices(trial, verdict, options.get("benchmarks")))
    title = trial.manifest.campaign_name
    return dict(title=title, trials=(trial,), verdict=verdict, matrices=matrices, options=options)


def _of_two(sources: Sequence[str], how: Reading, asked: Mapping[str, Any]) -> _Read:
    options = _without_trial(sources[0], asked)
    explain = bool(options.pop("explain", True))
    found = judge_sources(sources[0], sources[1], how, explain=explain, **options)
    sides = (found.sides.baseline, found.sides.candidate)
    matrices = {one.name: only(one, options.get("benchmarks")) for one in sides}
    return dict(
        title=f"{found.sides.candidate.name} and {found.sides.baseline.name}",
        trials=found.trials,
        verdict=found.verdict,
        matrices=matrices,
        options=options,
    )


def _of_one_file(source: str, how: Reading, asked: Mapping[str, Any]) -> _Read:
    options = _without_trial(source, asked)
    options.pop("explain", None)
    matrix = read_one(source, how)
    chosen = options.get("benchmarks")
    confidence = options.get("confidence", 0.95)
    verdict = judge_alone(
        matrix, metric=how.metric or "values", confidence=confidence, benchmarks=chosen
    )
    matrices = {matrix.name: only(matrix, chosen)}
    return dict(title=matrix.name, trials=(), verdict=verdict, matrices=matrices, options=options)


def _without_trial(source: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    for name, option in (("variants", "--variant"), ("certificate", "--certificate")):
        if asked.get(name) is not None:
            raise UsageError(f"{option} is for one trial", source, f"leave out {option}")
    return {name: value for name, value in asked.items() if name not in {"variants", "certificate"}}


def _matrices(
    trial: Trial, verdict: Verdict, benchmarks: Sequence[str] | None
) -> Iterator[tuple[str, PerformanceMatrix]]:
    names = [one.variant for one in verdict.candidates]
    names += [one.variant for one in verdict.alone]
    for name in dict.fromkeys((verdict.data.baseline, *names)):
        try:
            matrix = trial.matrix(name, verdict.data.metric, carry_zeros=True)
        except AnalysisError:  # no run counts: the verdict says so
            continue
        matrix = only(matrix, benchmarks)
        if matrix.benchmarks:
            yield name, matrix


def _order(verdict: Verdict, matrices: Mapping[str, PerformanceMatrix]) -> list[str]:
    known = [line.name for found in verdict.compared for line in found.benchmarks]
    for matrix in matrices.values():
        known += named_in(matrix)
    first = verdict.candidates[0].multilevel if verdict.candidates else None
    lines = {} if first is None else {line.name: line.speedup for line in first.benchmarks}
    return sorted(dict.fromkeys(known), key=lambda bench: -(lines.get(bench) or 0.0))


# --- How a line's speedup and interval are written on the whole page: decimals by column, not by cell.


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
    return _written(line, _decimals_of(column))


def all_written(result: Multilevel) -> list[tuple[Line, Written]]:
    """Give all lines of a column, each with what is written of it."""
    column = column_of(result)
    usual = _decimals_of(column)
    return [(line, _written(line, usual)) for line in column]


def written_of(subject: Subject) -> Mapping[str, Mapping[str, Written]]:
    """Write all lines of a subject: candidate, then the line's name, "these" and "similar" among them.

    These are the strings of the page: whatever shows such a number takes them.
    """
    return {
        one.variant: {line.name: text for line, text in all_written(one.multilevel)}
        for one in subject.candidates
        if one.multilevel is not None
    }


def few_sessions(verdict: Verdict) -> bool:
    """Whether fewer than three sessions were recorded: half a width says nothing then, so no ± is shown.

    Intervals stand with both of their ends. Hosts of a fleet, and runs of a file, are no sessions.
    """
    recorded = verdict.counts.session_runs is not None and verdict.data.outermost != "host"
    return recorded and verdict.counts.sessions < 3


def _written(line: Line, usual: int) -> Written:
    digits = _decimals(line, usual)
    low, high = _value(line.low, digits, upper=False), _value(line.high, digits, upper=True)
    return Written(_value(line.speedup, digits), low, high)


def _decimals_of(column: Sequence[Line]) -> int:
    known = [one.speedup for one in column if one.speedup is not None and one.speedup > 0] or [1.0]
    return 2 if max(known) > _WIDE and max(known) / min(known) > _WIDE else 3


def _decimals(line: Line, usual: int) -> int:
    if line.speedup is not None and not _SMALL <= line.speedup < _LARGE:
        usual = max(0, 2 - math.floor(math.log10(line.speedup)))  # three significant ones
    low, high = line.low, line.high
    if low is None or high is None:
        return usual
    digits = min([usual, *(few for limit, few in _ROUGH if (high - low) / 2 > limit)])
    ends = [end for end in (low, high) if not math.isclose(end, 1.0, rel_tol=1e-12)]
    while digits < _MOST and any(float(outward(x, digits, upper=x is high)) == 1 for x in ends):
        digits += 1
    while digits < _APART and low != high and round(low, digits) == round(high, digits):
        digits += 1
    return digits


def _value(number: float | None, digits: int, *, upper: bool | None = None) -> Value:
    """Write a speedup, or the lower or the upper end of its interval, rounded away from what it claims."""
    if number is None:
        return Value("", None)
    few = 0 if _PLAIN[0] <= number < _PLAIN[1] else 3  # significant digits
    few = 1 if number > 0 and not few and round(number, digits) == 0 else few  # no speedup is 0
    if upper is None:
        return Value(significant(number, few) if few else f"{number:.{digits}f}", number)
    text = bound(number, few, upper=upper) if few else outward(number, digits, upper=upper)
    return Value(text, number)


# --- The answer as a table of one line a benchmark, in all forms; ``docs/json.md`` explains the keys of a brief.


_NONE = Value("", None)
_NO_SIDE = {"mean": _NONE, "half": _NONE}
Brief = Mapping[str, Any]


def level_text(verdict: Verdict) -> str:
    """Give the level of the printed intervals at this look, in percent."""
    return f"{100 * (1 - verdict.look.alpha):.4g}\N{NO-BREAK SPACE}%"


def brief_of(subject: Subject) -> Brief:
    """Give the compact table of one metric."""
    verdict, unit = subject.verdict, subject.data.unit
    level, few = 1 - verdict.look.alpha, few_sessions(verdict)
    halves: dict[tuple[str, str], float | None] = {}  # by variant and benchmark
    units = set()
    for name, matrix in () if few else subject.matrices.items():
        found = judge_alone(matrix, confidence=level)
        halves |= {(name, one.benchmark): _half(one.low, one.high) for one in found.alone}
        # a host where each host was taken as one session
        each = {one.unit for one in found.alone if one.low is not None}
        units |= {found.data.outermost if one == "session" else one for one in each}
    return {
        "heading": heading(verdict) if verdict.candidates or verdict.data.campaign else "",
        "metric": verdict.data.metric,
        "unit": unit,
        "baseline": verdict.data.baseline,
        "level": Value(level_text(verdict), level),
        "rests_on": f"{units.pop()}s" if len(units) == 1 else "",
        "candidates": [
            {"variant": one.variant, "rows": list(_rows(subject, one, halves))}
            for one in verdict.candidates
        ],
        "alone": [
            {
                "benchmark": one.benchmark,
                **_side(one.mean, None if few else _half(one.low, one.high), unit),
                **{
                    end: value_of(number, lambda value: figures.quantity(value, unit), "")
                    for end, number in (("low", one.low), ("high", one.high))
                },
                "runs": Value(f"{one.runs}", one.runs),
            }
            for one in verdict.alone
        ],
    }


def _half(low: float | None, high: float | None) -> float | None:
    """Give half the width of an interval that is symmetric in logs, as a share of its middle."""
    return None if low is None or high is None else math.sqrt(high / low) - 1


def _rows(
    subject: Subject, one: CandidateVerdict, halves: Mapping[tuple[str, str], float | None]
) -> Iterator[dict[str, Any]]:
    found, unit = one.multilevel, subject.data.unit
    if found is None:
        return
    known = {id(line): row for line, row in all_written(found)}
    lines = {line.name: line for line in found.benchmarks}
    listed: list[tuple[str, Line]] = [
        (name, lines[name]) for name in subject.order if name in lines
    ]
    for label, line in (*listed, *suite_lines(found)):
        row = known[id(line)]
        sides: dict[str, Any] = {"candidate": None, "baseline": None}
        if not line.of_suite:
            for side, name in (("candidate", one.variant), ("baseline", subject.baseline)):
                mean = getattr(line, f"mean_{side}")
                sides[side] = _side(mean, halves.get((name, line.name)), unit)
        yield {
            "name": line.name,
            "label": (str if line.of_suite else Name)(label),
            **sides,
            "speedup": row.speedup,
            "low": row.low,
            "high": row.high,
            "outcome": line.outcome,
            "word": word(line, unit),
            "advice": advice(line, found),
        }


def _side(mean: float | None, half: float | None, unit: str) -> dict[str, Value]:
    share = "" if half is None else f"{figures.significant(100 * half, 2)}\N{NO-BREAK SPACE}%"
    written = value_of(mean, lambda value: figures.quantity(value, unit), "")
    return {"mean": written, "half": Value(share, half)}


def brief_sections(brief: Brief) -> tuple[Section, ...]:
    """Give a table for each candidate, or of one side alone."""
    base, compared = Name(brief["baseline"]), brief["candidates"]
    found: list[Section] = []
    if not compared:
        found.append(section(_alone(brief)))
    for number, one in enumerate(compared, 1):
        name = Name(one["variant"])
        if one["rows"]:
            title = f"{name} against {base}" if len(compared) > 1 else ""
            found.append(section(_against(brief, one["rows"], (base, name), number), title=title))
        else:
            found.append(section(f"{name}: nothing could be compared with {base}"))
    if brief["rests_on"]:
        found.append(section(_half_width(brief)))
    return tuple(found)


def _half_width(brief: Brief) -> str:
    on, compared = brief["rests_on"], bool(brief["candidates"])
    each = "each side's" if compared else "its"
    text = f"±: half the width of {each} own {brief['level'].text} interval, over its {on}"
    if compared and on in ("sessions", "hosts"):
        text += f"; what {on} do to both sides alike is no part of the speedup's interval"
    return text


def _against(brief: Brief, rows: Sequence[Brief], names: tuple[str, str], number: int) -> Table:
    columns: list[Any] = [("<", itemgetter("label"))]
    for side, name in zip(("baseline", "candidate"), names, strict=True):
        columns += _side_columns(name, rows, side)
    headings = ("speedup", f"{brief['level'].text} from", "to", "<word")
    columns += zip(headings, map(itemgetter, ("speedup", "low", "high", "word")), strict=True)
    columns.append(("<to decide", itemgetter("advice")))
    return table_of(f"speedups-{number}", rows, *columns)


def _side_columns(
    name: str, rows: Sequence[Brief], of: str = ""
) -> Iterator[tuple[str, Callable[[Brief], Value]]]:
    def side(row: Brief) -> Brief:
        return (row[of] or _NO_SIDE) if of else row

    yield name, lambda row: side(row)["mean"]
    if any(side(row)["half"].text for row in rows):
        yield "±", lambda row: side(row)["half"]


def _alone(brief: Brief) -> Table:
    return table_of(
        "alone",
        brief["alone"],
        ("@", itemgetter("benchmark")),
        *_side_columns(Name(brief["baseline"]), brief["alone"]),
        (f"{brief['level'].text} from", itemgetter("low")),
        ("to", itemgetter("high")),
        ("runs", itemgetter("runs")),
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
            found = _free(f"ft{metric}{name}", taken)
            lines.append(f"\\newcommand{{\\{found}}}{{{text}}}% {shown(remark)}\n")
    return "".join(lines)


def _commands(brief: Brief) -> Iterator[tuple[str, str, str]]:
    yield "Metric", escaped(brief["metric"]), "what was judged"
    yield "Baseline", escaped(brief["baseline"]), "the side that all others are compared with"
    level = brief["level"].text.removesuffix("\N{NO-BREAK SPACE}%")
    yield "Level", level, "of each interval, in percent"
    for one in brief["alone"]:
        of, about = _letters(one["benchmark"]), one["benchmark"]
        yield from _quantity(f"Mean{of}", one["mean"], f"{about}: geometric mean")
        yield f"Runs{of}", one["runs"].text, f"{about}: runs that count"
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
    if value.text:
        number, _, unit = value.text.partition(" ")
        yield name, number, remark + (f", in {unit}" if unit else "")


def _letters(name: str) -> str:
    """Write a name in letters: words begin with a capital, digits are written out."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.findall("[A-Za-z]+|[0-9]", plain)
    text = "".join(_DIGITS[int(w)] if w.isdigit() else w[0].upper() + w[1:] for w in words)
    return text[:_LONGEST] or "Unnamed"


def _free(name: str, taken: set[str]) -> str:
    text, count = name, 1
    while text in taken:
        count += 1
        text = name + "No" + "".join(_DIGITS[int(digit)] for digit in str(count))
    taken.add(text)
    return text
