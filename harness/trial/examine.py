"""What a run wrote, held against what the campaign expects of it: outcome and parsed metrics."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL, Signals

from analysis.record import Outcome

from ..campaign import Cell, JsonPathError, MetricRule, find
from ..launch import Execution
from .matching import Matching, NotMatched

_DETAIL = 240  # characters of a reason; a program may print megabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The outcome of one run and the values that it printed; `detail` says why it is not ok."""

    outcome: Outcome
    detail: str | None = None
    metrics: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    stdout_bytes: int | None = None
    stdout_sha256: str | None = None


def _short(text: str) -> str:
    return text if len(text) <= _DETAIL else f"{text[:_DETAIL]}… ({len(text)} characters)"


def _quoted(value: object) -> str:
    return repr(value[:80] if isinstance(value, str) else value)[:90]


class _Unparsable(Exception):  # noqa: N818 - becomes an outcome, not an error
    """A metric cannot be read from what the run wrote."""


def examine(
    cell: Cell,
    execution: Execution,
    stdout: Path | None,
    stderr: Path | None,
    limit_bytes: int,
    *,
    kept: frozenset[Path] = frozenset(),
    conceal: Callable[[str], str] = str,
    matching: Matching | None = None,
    memory_limited: bool = False,
) -> Examined:
    """Judge one run.

    Parameters
    ----------
    cell : Cell
        What was executed and what is expected of it.
    execution : Execution
        What the launcher reports.
    stdout, stderr : Path or None
        Where the output was caught; ``None`` when it was discarded.
    limit_bytes : int
        More output than that in one of the two is the outcome "output-limit".
    kept : frozenset of Path
        What `metric_files.clear` could not remove before the run.
    conceal : callable
        Takes what may not be stored out of a text that the program wrote.
    matching : Matching, optional
        Matches the patterns of this run.
    memory_limited : bool
        Whether the campaign limits the memory of its processes together.

    Notes
    -----
    The first reason in this order decides: timeout, output limit, signal, exit code, output,
    metrics. A run that is not ok keeps its times; the judge leaves it out and counts it. A pattern
    that finds no end, the expected one too, makes a run "unparsable".
    """
    size, digest = _fingerprint(stdout, limit_bytes)
    outcome, detail = _ending(cell, execution, [stdout, stderr], limit_bytes)
    if execution.out_of_memory and outcome in {"exit", "signal"} and execution.killed is None:
        cause = "out of memory limit" if memory_limited else "out of memory"
        killed = execution.signal == SIGKILL
        detail = cause if killed else f"{detail}; the kernel killed a process of it: {cause}"
    if outcome in {"exit", "signal"} and (said := _last_words(stderr, conceal)):
        detail = f"{detail}; stderr: {said}"
    metrics: dict[str, tuple[float, ...]] = {}
    if outcome == "ok":
        matching = matching or Matching()
        try:
            mismatch = _mismatch(cell, stdout, digest, matching)
            if mismatch:
                outcome, detail = "output-mismatch", mismatch
            else:
                sources = {"stdout": stdout, "stderr": stderr}
                for rule in cell.metrics:
                    metrics[rule.name] = _values(rule, sources, kept, matching)
        except (_Unparsable, NotMatched) as error:
            outcome, detail, metrics = "unparsable", _short(str(error)), {}
    return Examined(
        outcome=outcome,
        detail=detail,
        metrics=metrics,
        stdout_bytes=size,
        stdout_sha256=digest,
    )


def _ending(
    cell: Cell, execution: Execution, outputs: list[Path | None], limit_bytes: int
) -> tuple[Outcome, str | None]:
    if execution.killed == "timeout":
        return "timeout", f"ended after its timeout of {cell.timeout_s:g} s"
    flooded = any(path is not None and path.stat().st_size > limit_bytes for path in outputs)
    if flooded or execution.killed == "output-limit":
        return "output-limit", f"wrote more than {limit_bytes} bytes (isolation.output_limit)"
    if execution.killed is not None:
        return "signal", f"killed by fairtrial: {execution.killed}"
    if execution.signal is not None:
        try:
            name = Signals(execution.signal).name
        except ValueError:
            name = str(execution.signal)
        return "signal", f"ended by signal {name}"
    if execution.exit_code not in cell.expect.exit_codes:
        wanted = " or ".join(map(str, cell.expect.exit_codes))
        return "exit", f"exit code {execution.exit_code}, expected {wanted}"
    return "ok", None


def _last_words(stderr: Path | None, conceal: Callable[[str], str]) -> str:
    """Give the last line of what the program complained, shortened."""
    if stderr is None:
        return ""
    with stderr.open("rb") as file:
        file.seek(max(0, stderr.stat().st_size - 4096))
        lines = file.read().decode("utf-8", "replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    last = conceal(said[-1]) if said else ""  # whole: of a part it would not know what it is
    return "".join(c if c.isprintable() else "?" for c in last)[:160]


def _fingerprint(stdout: Path | None, limit_bytes: int) -> tuple[int | None, str | None]:
    if stdout is None:
        return None, None
    size = stdout.stat().st_size
    if size > limit_bytes:
        return size, None
    return size, hashlib.sha256(stdout.read_bytes()).hexdigest()


def _mismatch(
    cell: Cell, stdout: Path | None, digest: str | None, matching: Matching
) -> str | None:
    expect = cell.expect
    if stdout is None:
        return None
    if expect.stdout_sha256 is not None and digest != expect.stdout_sha256.lower():
        return f"stdout has sha256 {digest}, expected {expect.stdout_sha256}"
    if expect.stdout_file is not None:
        try:
            wanted = _reference(expect.stdout_file, expect.stdout_file.stat().st_mtime_ns)
        except OSError as error:
            return f"{expect.stdout_file} cannot be read to compare: {error.strerror}"
        if digest != wanted:
            return f"stdout differs from {expect.stdout_file}"
    if expect.stdout_regex is not None:
        text = stdout.read_text(encoding="utf-8", errors="replace")
        if not matching.matches(expect.stdout_regex, text):
            return f"stdout does not match {expect.stdout_regex!r}"
    return None


@functools.lru_cache(maxsize=256)
def _reference(path: Path, _mtime_ns: int) -> str:
    """Hash a reference file, again only when it has changed."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _values(
    rule: MetricRule,
    sources: Mapping[str, Path | None],
    kept: frozenset[Path],
    matching: Matching,
) -> tuple[float, ...]:
    path = rule.source if isinstance(rule.source, Path) else sources[rule.source]
    assert path is not None, "the campaign loader refuses a metric from a discarded output"
    if path in kept:
        what = "could not be removed before the run, so what it says may be an earlier run's"
        raise _Unparsable(f"{rule.name}: {path} {what}")
    try:
        if isinstance(rule.source, Path) and not path.is_file():
            raise _Unparsable(f"{rule.name}: {path}: No such file: this run has not written it")
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise _Unparsable(f"{rule.name}: {path}: {error.strerror}") from error
    found = _found(rule, text, matching)
    if not found:
        raise _Unparsable(f"{rule.name}: nothing in {path.name} matches {rule.regex or rule.json}")
    return tuple(_number(rule, value) for value in found)


def _found(rule: MetricRule, text: str, matching: Matching) -> Sequence[object]:
    if rule.regex is not None:
        try:
            return matching.values(rule.regex, text)
        except NotMatched as error:
            raise _Unparsable(f"{rule.name}: {error}") from None
    assert rule.json is not None, "a metric has a regex or a JSON path"
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _Unparsable(f"{rule.name}: the output is no JSON: {error}") from error
    try:
        return list(find(document, rule.json))
    except JsonPathError as error:
        raise _Unparsable(f"{rule.name}: {error}") from error


def _number(rule: MetricRule, value: object) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise _Unparsable(f"{rule.name}: {_quoted(value)} is no finite number")
    return number
