"""The original Speedup-Test tool: its configuration, the sample files that it names, its judgement and four files.

A configuration is a CSV file of exactly five columns (Touati, Worms and Briais, *The Speedup Test*,
2010, section 6.2.1)::

    Name,Sample1,Sample2,ConfLevel,Coef
    "First benchmark","bench1.data.1","bench1.data.2",0.95,2
    "Second benchmark","bench2.data.1","bench2.data.2",NA,

Sample1 holds the times of the initial program, Sample2 those of the optimised one, one a line.

Section 6.2.5 of the report names the files and the columns of the results: ``PREFIX.out`` holds the
results, ``.warning`` the warnings, ``.report`` the report, ``.status`` how it ended. The warnings are
the original's, word by word, so that scripts that look for them keep working.
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...errors import AnalysisError, UsageError
from ...pages import as_text, number_format as figures
from ...pages.model import Block, Caution, Column, Page, Section, Sentence, Table
from ...words import command_line
from . import result
from .compare import Weights, speedup_test_suite
from .result import Decision, SpeedupSuite, SpeedupTest, Step

if TYPE_CHECKING:
    from ...stats.samples import Array

NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)


class BadSampleError(Exception):
    """A sample file cannot be used; the text says why. Its benchmark is left out for it."""


def locate_sample(file: str, folder: Path) -> tuple[Path, bool]:
    """Give the file's place, and whether the configuration's folder holds another one."""
    here, there = Path(file), folder / file
    try:
        if here.exists():
            return here, there.exists() and not here.samefile(there)
        return (there if there.exists() else here), False
    except OSError:  # such as a folder that must not be searched: reading it says so
        return here, False


def read_sample(path: Path, file: str) -> Array:
    """Read one sample: one positive finite number a line; blank lines are passed over."""
    try:
        if path.exists() and not path.is_file():
            kind = "a directory" if path.is_dir() else "not a regular file"
            raise BadSampleError(f"File '{file}' is not readable: it is {kind}")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadSampleError(f"File '{file}' is not readable: {error.strerror}") from None
    except UnicodeDecodeError as error:
        why = f"it is no UTF-8 text (byte {error.start})"
        raise BadSampleError(f"File '{file}' is not readable: {why}") from None
    lines = enumerate(text.split("\n"), 1)
    values = [_value(file, number, line) for number, line in lines if line.strip()]
    if not values:
        raise BadSampleError(f"File '{file}' holds no value")
    return np.array(values)


def _value(file: str, number: int, line: str) -> float:
    text = line.strip()
    if NUMBER.fullmatch(text) and 0 < (value := float(text)) < math.inf:
        return value
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    what = f"{shown!r} is not a positive finite number"
    if not NUMBER.fullmatch(text):
        what = f"{shown!r} is not a number"
        if text == "NA":
            what = "NA is not a time; remove the line if this run was never measured"
        elif all(NUMBER.fullmatch(part) for part in re.split(r"[\s,;]+", text) if part):
            what = f"{shown!r} is not one number; write one a line, with a point for decimals"
    raise BadSampleError(f"File '{file}', line {number}: {what}")


SHOWN = 20  # problems, or benchmarks, that one message lists

_HEADING = ("Name", "Sample1", "Sample2", "ConfLevel", "Coef")
_KEYS = tuple(word.lower() for word in _HEADING)
_MISSING = ("", "NA")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_FORM = ",".join(_HEADING)
_Problem = tuple[int, str, str | None]  # a line, what is wrong in it, and how to mend it


class ConfigEntry(NamedTuple):
    """One benchmark of a configuration; `doubt` says why its level counts as missing."""

    line: int
    name: str
    files: tuple[str, str]
    confidence: float | None
    coefficient: float | None
    doubt: str | None


class _QuotesError(Exception):
    """A record's quotes do not match: the line on which it begins, and why."""


def read_entries(path: Path) -> list[ConfigEntry]:
    """Read the benchmarks of a configuration."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"the configuration cannot be read: {error.strerror}", str(path)) from None
    except UnicodeDecodeError as error:
        what = f"the configuration is not UTF-8 text (byte {error.start})"
        words = ("iconv", "-f", "latin1", "-t", "utf-8", str(path))
        fix = f"save it as UTF-8, for example: {command_line(words)}"
        raise UsageError(what, str(path), fix) from None
    problems: list[_Problem] = []
    entries: list[ConfigEntry] = []
    order = _KEYS
    try:
        for number, (line, cells) in enumerate(_records(text)):
            if number == 0 and _is_heading(cells):  # the headings say which column is which
                order = tuple(cell.lower() for cell in cells)
                if sorted(order) != sorted(_KEYS):
                    order = _KEYS
                    what = "these headings are not the five known"
                    problems.append((line, what, f"write {_FORM}"))
                continue
            entry = _entry(line, cells, order, problems)
            if entry is not None:
                entries.append(entry)
    except _QuotesError as error:
        line, why = error.args
        fix = 'close each quoted field before its comma; write "" for a quote inside one'
        problems.append((line, f"the quotes do not match ({why})", fix))
    known: dict[str, int] = {}
    for entry in entries:
        if (first := known.setdefault(entry.name, entry.line)) != entry.line:
            what = f"benchmark {entry.name!r} stands here a second time, first on line {first}"
            problems.append((entry.line, what, "give each benchmark a name of its own"))
    if problems:
        raise _refusal(path, problems)
    if not entries:
        what, fix = "the configuration names no benchmark", f"write one line for each: {_FORM}"
        raise UsageError(what, str(path), fix)
    return entries


def _records(text: str) -> Iterator[tuple[int, list[str]]]:
    """Give each record that is not blank with the line on which it begins."""
    reader = csv.reader(io.StringIO(text), strict=True, skipinitialspace=True)
    begin = 1
    try:
        for raw in reader:
            cells = [cell.strip() for cell in raw]
            if cells not in ([], [""]):
                yield begin, cells
            begin = reader.line_num + 1
    except csv.Error as error:
        raise _QuotesError(begin, str(error)) from None


def _is_heading(cells: list[str]) -> bool:
    return sum(cell.lower() in _KEYS for cell in cells) >= 3


def _entry(
    line: int, cells: list[str], order: tuple[str, ...], problems: list[_Problem]
) -> ConfigEntry | None:
    if len(cells) != len(_HEADING):
        count = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
        fix = f"write exactly five, with all four commas: {_FORM}"
        if len(cells) == 1 and re.search(r"[;\t]", cells[0]):
            fix = f"separate the fields by commas: {_FORM}"
        problems.append((line, f"this line has {count}", fix))
        return None
    before = len(problems)
    field = dict(zip(order, cells, strict=True))
    for word, key in zip(_HEADING, _KEYS, strict=True):
        if _CONTROL.search(field[key]):
            problems.append((line, f"{word} holds a control character", None))
    if not field["name"]:
        problems.append((line, "Name is empty", "name the benchmark"))
    for word in ("Sample1", "Sample2"):
        if field[word.lower()] in _MISSING:
            problems.append((line, f"{word} is missing", "name the file with the times"))
    confidence, doubt = _level(line, field["conflevel"], problems)
    coefficient, text = None, field["coef"]
    if NUMBER.fullmatch(text) and 0 < float(text) < math.inf:
        coefficient = float(text)
    elif text not in _MISSING:
        fix = "write one, such as 1.5, or leave the field empty"
        problems.append((line, f"Coef {text!r} is not a positive number", fix))
    if len(problems) > before:
        return None
    files = (field["sample1"], field["sample2"])
    return ConfigEntry(line, field["name"], files, confidence, coefficient, doubt)


def _level(line: int, text: str, problems: list[_Problem]) -> tuple[float | None, str | None]:
    """Give the level, or None and perhaps why: a number out of range counts as missing (6.2.2)."""
    if text in _MISSING:
        return None, None
    if NUMBER.fullmatch(text) and 0 < float(text) < 1:
        return float(text), None
    percent = text.removesuffix("%").strip()
    fix = "write a number between 0 and 1, such as 0.95, or leave the field empty"
    if NUMBER.fullmatch(percent) and 1 < float(percent) < 100:
        fix = f"write {float(percent) / 100:g} for {float(percent):g} %"
    what = f"ConfLevel {text!r} is not a number between 0 and 1"
    if NUMBER.fullmatch(text):
        return None, f"line {line}: {what}, and counts as missing as in the original: {fix}"
    problems.append((line, what, fix))
    return None, None


def _refusal(path: Path, problems: list[_Problem]) -> UsageError:
    problems.sort(key=lambda problem: problem[0])
    if len(problems) == 1:
        ((line, what, fix),) = problems
        return UsageError(what, f"{path}:{line}", fix)
    lines = [f"the configuration has {len(problems)} problems"]
    for line, what, fix in problems[:SHOWN]:
        lines.append(f"  {path}:{line}: {what}")
        if fix:
            lines.append(f"    fix: {fix}")
    if len(problems) > SHOWN:
        lines.append(f"  and {len(problems) - SHOWN} more")
    return UsageError("\n".join(lines), str(path))


class LeftOut(NamedTuple):
    """A benchmark that cannot be judged, the configuration's line that names it, and why."""

    name: str
    line: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpeedupConfig:
    """What a configuration and its sample files hold.

    `path` is the configuration, as it was named. `baseline` and `candidate` hold the times of Sample1
    (the initial program) and Sample2 (the optimised one), in s, lower is better, of the benchmarks that
    can be judged, in the configuration's order. `confidences` and `coefficients` give each benchmark's
    ConfLevel and Coef, None where that is empty or NA. `left_out` are the benchmarks with a sample that
    cannot be read or holds a bad value.
    """

    path: str
    baseline: PerformanceMatrix
    candidate: PerformanceMatrix
    confidences: Mapping[str, float | None]
    coefficients: Mapping[str, float | None]
    left_out: tuple[LeftOut, ...] = ()
    cautions: tuple[Caution, ...] = ()


class NothingLeftError(AnalysisError):
    """No benchmark of a configuration can be judged; `left_out` says why for each."""

    def __init__(self, path: Path, left_out: tuple[LeftOut, ...]) -> None:
        count = len(left_out)
        what = "the only benchmark" if count == 1 else f"each of the {count} benchmarks"
        what += " was left out, so there is nothing to judge"
        for out in left_out[:SHOWN]:
            what += f"\n  {path}:{out.line}: {out.name!r}: {'; '.join(out.reasons)}"
        what += f"\n  and {count - SHOWN} more" * (count > SHOWN)
        fix = (
            "name sample files with one positive number a line; relative paths start at the "
            "current folder, then at the configuration's"
        )
        super().__init__(what, str(path), fix)
        self.left_out = left_out


def looks_like_speedup_config(path: Path) -> bool:
    """Tell whether a file begins as a configuration does: its heading, or five fields that fit.

    A file ``*.cfg`` always counts as one, so that what is wrong in it is reported.
    """
    if path.suffix.lower() == ".cfg":
        return True
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            try:
                _, first = next(_records(file.read(65536)))
            except (StopIteration, _QuotesError):
                return False
            names, numbers = first[:3], first[3:]
            return _is_heading(first) or (
                len(first) == len(_HEADING)
                and all(cell and not NUMBER.fullmatch(cell) for cell in names)
                and all(cell in _MISSING or NUMBER.fullmatch(cell) for cell in numbers)
            )
    except OSError:
        return False


def read_speedup_config(path: str | Path) -> SpeedupConfig:
    """Read a configuration and the samples that it names.

    Relative paths of samples start at the current folder, as in the original; where no such file
    is, at the configuration's folder. A benchmark with a sample that cannot be read, or that holds
    anything but positive finite numbers, one a line, is left out; `SpeedupConfig.left_out` says why.

    References
    ----------
    Touati, Worms and Briais, *The Speedup Test*, 2010, section 6.2.1.
    """
    path = Path(path)
    entries = read_entries(path)
    sides: tuple[dict[str, Array], ...] = ({}, {})
    left_out, doubtful = [], []
    for entry in entries:
        samples, reasons = [], []
        for file in entry.files:
            place, elsewhere = locate_sample(file, path.parent)
            if elsewhere:
                doubtful.append(file)
            try:
                samples.append(read_sample(place, file))
            except BadSampleError as error:
                reasons.append(str(error))
        if reasons:
            # Both sides may name one file: one reason is enough then.
            texts = tuple(dict.fromkeys(reasons))
            left_out.append(LeftOut(entry.name, entry.line, texts))
            continue
        for side, values in zip(sides, samples, strict=True):
            side[entry.name] = values
    if not sides[0]:
        raise NothingLeftError(path, tuple(left_out))
    baseline, candidate = (
        PerformanceMatrix.from_samples(name, side, better="lower")
        for name, side in zip(("initial", "optimised"), sides, strict=True)
    )
    kept = [entry for entry in entries if entry.name in sides[0]]
    cautions = [
        Caution("level-ignored", f"{path}: {entry.doubt}", (entry.name,))
        for entry in kept
        if entry.doubt is not None
    ]
    if files := tuple(dict.fromkeys(doubtful)):
        both = "the current folder and the configuration's folder both hold"
        text = f"{both} {figures.listed(files, 3)}: the current folder's was taken, as the original does"
        cautions.append(Caution("sample-in-two-folders", text, files))
    return SpeedupConfig(
        path=str(path),
        baseline=baseline,
        candidate=candidate,
        confidences=MappingProxyType({entry.name: entry.confidence for entry in kept}),
        coefficients=MappingProxyType({entry.name: entry.coefficient for entry in kept}),
        left_out=tuple(left_out),
        cautions=tuple(cautions),
    )


def config_cautions(config: SpeedupConfig, *, custom: bool) -> Iterator[Caution]:
    """Say which benchmarks are left out, what was doubtful, and which coefficients are missing."""
    if out := config.left_out:
        first, few = out[0], "1 benchmark of the configuration was left out: "
        many = f"{len(out)} benchmarks of the configuration were left out: the first is "
        text = f"{first.name!r} (line {first.line}): {'; '.join(first.reasons)}"
        text += ". The warnings file has all of them"
        text = f"{many if len(out) > 1 else few}{text}"
        yield Caution("benchmarks-left-out", text, tuple(one.name for one in out))
    yield from config.cautions
    missing = tuple(name for name, value in config.coefficients.items() if value is None)
    if custom and len(missing) == len(config.coefficients):
        text = "the configuration gives no Coef, so all benchmarks weigh the same"
        yield Caution("no-coefficients", text)
    elif custom and missing:
        text = f"without a Coef of its own, 1 was taken: {figures.listed(missing, 3)}"
        yield Caution("coefficient-missing", text, missing)


def speedup_test_config(
    config: SpeedupConfig,
    *,
    confidence: float | None = None,
    weighting: result.Weighting | None = None,
    precision: float = 0.05,
    compatible: bool = False,
) -> SpeedupSuite:
    """Test every benchmark of a configuration, and give the figures of the suite (section 6.2)."""
    known = config.coefficients
    given = any(value is not None for value in known.values())
    custom = weighting == "custom" or (weighting is None and given)
    weights: Weights = "equal" if custom else weighting or "equal"
    if custom and given:
        weights = {name: 1.0 if value is None else value for name, value in known.items()}
    suite = speedup_test_suite(
        baseline=config.baseline,
        candidate=config.candidate,
        confidence={
            name: confidence if own is None else own for name, own in config.confidences.items()
        },
        weights=weights,
        precision=precision,
        proportion_confidence=confidence,
        compatible=compatible,
    )
    texts = config_cautions(config, custom=custom)
    return replace(suite, cautions=(*texts, *suite.cautions))


_WIDTH = 96  # columns of these files; other programs may read them
COLUMNS = (
    *("Name", "SpeedupMin", "SpeedupMean", "IsMeanSignificant", "MeanConfLevel"),
    *("SpeedupMedian", "IsMedianSignificant", "MedianConfLevel"),
    *("CoefMin", "CoefMean", "CoefMedian"),
)


def results_text(suite: SpeedupSuite) -> str:
    """Give the text of ``.out``: a CSV table with one row for each benchmark that was judged."""
    truth = {True: "TRUE", False: "FALSE", None: "NA"}
    rows = [",".join(_quoted(column) for column in COLUMNS)]
    for test in suite.benchmarks:
        name = _name(test)
        cells = [_quoted(name), _speedup(test.speedup_min)]
        pairs = ((test.speedup_mean, test.mean), (test.speedup_median, test.median))
        for value, decision in pairs:
            level = "NA" if decision.confidence is None else str(decision.confidence)
            cells += [_speedup(value), truth[decision.significant], level]
        cells += [f"{suite.coefficients[centre][name]:.6g}" for centre in result.CENTRES]
        rows.append(",".join(cells))
    return "\n".join(rows) + "\n"


def printed_text(title: str, suite: SpeedupSuite) -> str:
    """Give what the original prints (section 6.3.2)."""
    lines = [f"Analysis report of {title}", ""]
    for centre in result.CENTRES:
        what = f"(ExecutionTime={centre})"
        lines.append(f"Overall gain {what} = {_decimal(suite.gain[centre])}")
        lines += [f"Overall speedup {what} = {_speedup(suite.speedup[centre])}", ""]
    for word, share in (("mean", suite.proportion_mean), ("median", suite.proportion_median)):
        lines += _proportion(word, share)
    return "\n".join(lines)


def report_text(title: str, suite: SpeedupSuite) -> str:
    """Give the text of ``.report``: what the original prints, the whole result, each decision's path."""
    lines = [printed_text(title, suite), f"Sample1: {suite.baseline}; Sample2: {suite.candidate}"]
    lines += ["", "Result", "", _set(suite.screen()), "", "Decision of each benchmark", ""]
    for test in suite.benchmarks:
        lines += [_name(test), _set(test.screen(named=False)), ""]
    return "\n".join(lines)


def _proportion(centre: str, found: result.Proportion) -> list[str]:
    a, b = found.accelerated, found.total
    lines = [
        f"The observed proportion of accelerated benchmarks (speedup of the {centre}) a/b = "
        f"{a}/{b} = {_decimal(found.share)}",
        f"The confidence level for computing proportion confidence interval is {found.confidence}.",
        f"Proportion confidence interval (speedup of the {centre}) = "
        f"[{_decimal(found.low)}; {_decimal(found.high)}]",
    ]
    if not found.accurate:
        lines.append(
            "Warning: this confidence interval of the proportion may not be accurate because the "
            "validity condition {a(1-a/b) > 5} is not satisfied."
        )
    if found.needed_benchmarks is not None:
        lines.append(
            "The minimal needed number of randomly selected benchmarks is "
            f"{found.needed_benchmarks} (in order to have a precision r={found.precision:g})."
        )
    lines.append(
        "Remark: The computed confidence interval of the proportion is invalid if b the experimented "
        "set of benchmarks is not randomly selected among a huge number of representative benchmarks."
    )
    return [*lines, ""]


def _set(page: Page) -> str:
    """Set a page as the report has always had it, whatever a terminal shows."""

    def indented(one: Block) -> Block:
        if not isinstance(one, Table):
            return one
        rows = tuple(("", *row) for row in one.rows)
        return replace(one, columns=(Column(""), *one.columns), rows=rows)

    def flat(section: Section) -> Section:
        if not section.title:
            return section
        return Section((Sentence(section.title), *map(indented, section.blocks)))

    body = replace(page, sections=tuple(map(flat, page.sections)), cautions=())
    cautions = replace(page, sections=(), following=())
    texts = (as_text.render(part, width=_WIDTH) for part in (body, cautions))
    return "\n".join(filter(None, texts))


def _name(test: SpeedupTest) -> str:
    if test.name is None:  # only a pair that was judged alone has no name
        raise ValueError("a benchmark of a suite has a name")
    return test.name


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _decimal(value: float) -> str:
    """Write a number as the original does: three decimals, without zeros at the end."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _speedup(value: float) -> str:
    """Write a speedup; three decimals would say too little of one below 0.1."""
    return _decimal(value) if value >= 0.1 else f"{value:.4g}"


UNAVAILABLE = "Cannot process benchmark: samples unavailable."

_SAMPLES: dict[result.Side, str] = {"baseline": "Sample1", "candidate": "Sample2"}
_MORE = f"\nPlease do more than {result.LARGE} observations of the executions times."
_INACCURATE = (
    " The indicated confidence level for the speedup of the {} execution time may not be accurate."
)


def warning_text(
    title: str, left_out: Sequence[LeftOut], warnings: Mapping[str, Sequence[str]]
) -> str:
    """Give the text of ``.warning``: each warning on lines of its own, never broken elsewhere."""
    lines = [f"Warnings regarding analysis of {title}", ""]
    count = 0
    every = [(out.name, (*out.reasons, UNAVAILABLE)) for out in left_out]
    for name, texts in [*every, *warnings.items()]:
        lines += [f"{name} :", ""] if texts else []
        lines += [part for text in texts for part in (text, "")]
        count += len(texts)
    return "\n".join([*lines, f"{count} warning(s).\n"])


def warnings_of(test: SpeedupTest) -> tuple[str, ...]:
    """Give the warnings about one benchmark; Sample1 is the baseline, Sample2 the candidate."""
    counts = (test.runs_baseline, test.runs_candidate)
    runs: dict[result.Side, int] = dict(zip(_SAMPLES, counts, strict=True))
    both = (("mean", test.mean, _of_mean), ("median", test.median, _of_median))
    found: list[str] = []
    for centre, decision, warnings in both:
        found += warnings(decision, runs)
        if decision.searched and decision.confidence is None:
            found.append(
                "Unable to find a confidence level greater than 50% to guarantee the statistical "
                f"significance of {centre} speedup."
            )
    return tuple(found)


def _of_mean(decision: Decision, runs: dict[result.Side, int]) -> list[str]:
    found = []
    for step in decision.steps:
        if step.test != result.SHAPIRO or step.sample is None or step.outcome == "not rejected":
            continue
        sample = _SAMPLES[step.sample]
        text = f"{sample} too small for applying the Student's t-test (speedup of the mean).{_MORE}"
        if runs[step.sample] > result.LARGE:
            are = "are not" if step.outcome == "rejected" else "may not be"
            text = f"{sample} data {are} normally distributed.{_INACCURATE.format('average')}"
        found.append(text + _reason(step))
    return found


def _of_median(decision: Decision, runs: dict[result.Side, int]) -> list[str]:
    small = [side for side, count in runs.items() if count <= result.LARGE]
    found = []
    for step in decision.steps:
        if step.test != result.KOLMOGOROV or step.outcome == "not rejected":
            continue
        found += [
            f"{_SAMPLES[side]} too small for applying the Wilcoxon-Mann-Whitney's test (speedup of "
            f"the median).{_MORE}{_reason(step)}"
            for side in small
        ]
        if not small:
            found.append(
                "The two samples do not fit the location shift model."
                f"{_INACCURATE.format('median')}{_reason(step)}"
            )
    return found


def _reason(step: Step) -> str:
    return f"\n(not tested: {step.consequence})" if step.outcome == "not tested" else ""


@dataclass(frozen=True, slots=True)
class OriginalFiles:
    """The four files below one prefix."""

    prefix: str

    def __post_init__(self) -> None:
        what, fix = None, "name another prefix with -o"
        folder = Path(self.prefix).parent
        try:
            taken = [name for name in self.names if Path(name).is_dir()]
        except OSError as error:
            taken, what = [], f"the results cannot be written: {error.strerror}"
        if not self.prefix or self.prefix.endswith(os.sep):
            what, fix = "this is not a prefix of file names", "write -o FOLDER/NAME"
        elif not folder.is_dir():
            what = f"there is no folder {str(folder)!r}"
            fix = "make it, or name another prefix with -o"
        elif not os.access(folder, os.W_OK | os.X_OK):
            what = f"the results cannot be written: folder {str(folder)!r} is not writable"
        elif taken:
            what = f"the results cannot be written: {taken[0]!r} is a directory"
        if what is not None:
            raise UsageError(what, self.prefix or "-o", fix)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files, sorted."""
        return tuple(self.prefix + end for end in (".out", ".report", ".status", ".warning"))

    def write(
        self, title: str, suite: SpeedupSuite, left_out: Sequence[LeftOut], *, elapsed_s: float
    ) -> None:
        """Write all four."""
        warnings = {_name(test): warnings_of(test) for test in suite.benchmarks}
        texts = {
            ".out": results_text(suite),
            ".warning": warning_text(title, left_out, warnings),
            ".report": report_text(title, suite),
            # the last one put in place: it says how it ended
            ".status": f"elapsed time: {elapsed_s:.3f} s\n",
        }
        self._put(texts)

    def write_failure(self, title: str, error: AnalysisError) -> None:
        """Write ``.warning`` and ``.status`` after an analysis that failed."""
        left_out = error.left_out if isinstance(error, NothingLeftError) else ()
        what = "No results and no report were written"
        status = f"error: {error}\n{what}; .out and .report, where there are any, are older.\n"
        self._put({".warning": warning_text(title, left_out, {}), ".status": status})

    def _put(self, texts: Mapping[str, str]) -> None:
        """Write all files next to their places first, then put them there: each is whole or not there."""
        places = [Path(self.prefix + ending) for ending in texts]
        fresh = [Path(f"{place}.{os.getpid()}.part") for place in places]
        try:
            for path, text in zip(fresh, texts.values(), strict=True):
                with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
            for path, place in zip(fresh, places, strict=True):
                path.replace(place)
        except OSError as error:
            what = f"the results cannot be written: {error.strerror}"
            fix = "make room, or name another prefix with -o"
            raise UsageError(what, self.prefix, fix) from None
        finally:
            for path in fresh:
                with contextlib.suppress(OSError):  # most are gone, and rightly so
                    path.unlink()
