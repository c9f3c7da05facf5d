"""What the original Speedup-Test tool makes of a configuration: its judgement and four files.

Section 6.2.5 of the report names the files and the columns of the results: ``PREFIX.out`` holds the
results, ``.warning`` the warnings, ``.report`` the report, ``.status`` how it ended. The warnings are
the original's, word by word, so that scripts that look for them keep working.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import AnalysisError, UsageError
from ...pages import as_text, number_format as figures
from ...pages.model import Block, Caution, Column, Page, Section, Sentence, Table
from . import result
from .compare import Weights, speedup_test_suite
from .original_config import LeftOut, NothingLeftError, SpeedupConfig
from .result import Decision, SpeedupSuite, SpeedupTest, Step


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


def status_text(elapsed_s: float) -> str:
    """Give the text of ``.status`` after success: the elapsed time and nothing else."""
    return f"elapsed time: {elapsed_s:.3f} s\n"


def failure_text(message: str) -> str:
    """Give the text of ``.status`` after a failure."""
    return (
        f"error: {message}\n"
        "No results and no report were written; .out and .report, where there are any, are older.\n"
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
    runs: dict[result.Side, int] = {
        "baseline": test.runs_baseline,
        "candidate": test.runs_candidate,
    }
    found: list[str] = []
    for centre, decision, warnings in (
        ("mean", test.mean, _of_mean),
        ("median", test.median, _of_median),
    ):
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


_ENDINGS = (".out", ".report", ".status", ".warning")


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
        return tuple(self.prefix + ending for ending in _ENDINGS)

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
            ".status": status_text(elapsed_s),
        }
        self._put(texts)

    def write_failure(self, title: str, error: AnalysisError) -> None:
        """Write ``.warning`` and ``.status`` after an analysis that failed."""
        left_out = error.left_out if isinstance(error, NothingLeftError) else ()
        texts = {".warning": warning_text(title, left_out, {}), ".status": failure_text(str(error))}
        self._put(texts)

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
