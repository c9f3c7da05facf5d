"""What is tried of a campaign and leaves nothing behind: the plan with its checks, one cell with its output, one block."""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TextIO

from analysis.announcing import about
from analysis.errors import FairtrialError, StoreError
from analysis.record.shapes import readable_rows
from analysis.record.trial_files import MEASUREMENTS, OUTPUTS, Finding, Manifest, PlannedRun
from analysis.words import WIDTH

from ..campaign.model import Campaign, Counting, shown as with_placeholders
from ..campaign.resolve import one_block, one_cell
from ..campaign.schema import identity_of
from ..errors import LaunchError, counted, duration, wrapped
from ..host.activity import Host
from ..host.checks import check_before
from ..host.placement import CpuPlan
from ..host.state import format_cpus
from ..launch.commands import base_environment, resolve_all
from ..launch.matching import opened_output
from ..trial.ending import Ending, rule_text
from ..trial.execution import Options, start
from ..trial.metering import look_at_counters
from ..trial.plan import PlannedSession, cpus_for, planned_runs, room_needed, situation_of
from ..trial.preparation import expected_seconds, has_energy, idle_seconds
from ..trial.progress import read_progress, trials_in
from ..trial.run_files import files_to_set_aside, kept_bytes
from .live_view import View, counts_of_checks, scale

if TYPE_CHECKING:
    from analysis.plan.sessions import Decidable


_SHOWN = 12
_VALUES_SHOWN = 5  # of one metric of a run


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A campaign as it would be executed here. `seconds` is ``None`` when nothing is known.

    `executed` says what was, to know them; `decides` is what a verdict of it can decide, None of one variant;
    `resumed` where a trial goes on, None of a new one.
    """

    campaign: Campaign
    sessions: int
    plan: CpuPlan
    findings: tuple[Finding, ...]
    first: tuple[PlannedRun, ...]
    seconds: float | None
    at_most_s: float | None
    missing: str | None
    set_aside: tuple[Path, ...]
    executed: str | None = None
    decides: Decidable | None = None
    resumed: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the preview as JSON types."""
        rule = self.campaign.protocol.stop
        served = {label: list(cpus) for label, cpus in self.plan.services.items()}
        return {
            "campaign": self.campaign.name,
            "campaign_sha256": identity_of(self.campaign),
            "sessions": self.sessions,
            "planned": planned_runs(self.campaign, self.sessions),
            "repeats_at_most": self.repeats_at_most,
            "stop": None if rule is None else rule.to_dict(),
            "seconds": self.seconds,
            "at_most_seconds": self.at_most_s,
            "cpus": None if self.plan.targets is None else list(self.plan.targets),
            "housekeeping": list(self.plan.housekeeping),
            **({"services": served} if served else {}),
            "findings": [finding.to_dict() for finding in self.findings],
            "missing": self.missing,
            "set_aside": [str(path) for path in self.set_aside],
            "executed": self.executed,
            "resumed": self.resumed,
            "decides": None if self.decides is None else self.decides.to_dict(),
            "session_1": [run.to_dict() for run in self.first],
        }

    @property
    def repeats_at_most(self) -> int:
        """How many runs may be repeated, should all be disturbed."""
        protocol = self.campaign.protocol
        passes = protocol.passes_at_most(self.sessions) - protocol.passes(self.sessions)
        return len(self.campaign.cells) * passes

    def __str__(self) -> str:
        campaign = self.campaign
        lines = [scale(campaign, self.sessions, self.seconds)]
        lines += [f"resume  {self.resumed}"] * (self.resumed is not None)
        lines += [f"note    {note}" for note in campaign.notes]
        if campaign.protocol.stop is not None:
            lines.append(f"stop    {rule_text(campaign.protocol.stop)}")
        if campaign.protocol.repeating:
            lines.append(
                "repeat  a run that is disturbed, at most twice: "
                f"{counted(self.repeats_at_most, 'run')} more at most"
            )
        lines.append(f"time    {self._time()}")
        lines += [f"power   {self.decides}"] * (self.decides is not None)
        lines.append(f"cpus    {self.plan.text}")
        lines += [f"        {caution}" for caution in self.plan.cautions]
        lines.append(f"checks  {counts_of_checks(self.findings)}    'fairtrial doctor' says which")
        for finding in self.findings:
            if finding.status in {"warn", "fail"}:
                lines.append(f"        {finding.status} {finding.check}: {finding.what}")
        if campaign.counters is not None:
            lost = any(one.check == "counters" and one.status == "fail" for one in self.findings)
            some = "; those that cannot be had are left out, see the check counters" if lost else ""
            lines.append(f"counts  {_counting_text(campaign.counters)}{some}")
        for build in campaign.builds:
            steps = "; ".join(_typed(step.argv) for step in build.steps)
            when = ", before each session" if build.each == "session" else ""
            lines.append(f"build   {build.variant}{when}: {steps}")
        for service in campaign.services:
            when = "around each of its runs" if service.each == "run" else "during each session"
            where = format_cpus(self.plan.services.get(service.label, ()))
            command = _typed(service.command.argv)
            lines.append(f"service {service.label}, {when}, on CPU {where}: {command}")
        lines.append(f"plan    order {campaign.protocol.order}, seed {campaign.seed}; session 1:")
        for run in self.first[:_SHOWN]:
            kind = "warm-up" if run.warmup else f"block {run.block}"
            lines.append(f"        {run.position:>4}  {kind:<9} {run.benchmark} / {run.variant}")
        left = planned_runs(campaign, self.sessions) - len(self.first[:_SHOWN])
        if left > 0:
            lines.append(f"        and {left} more")
        if self.missing:
            lines += f"missing {self.missing}".splitlines()
        for path in self.set_aside:
            lines.append(f"aside   {path} is there, and a metric is read from it: it would be")
            lines.append(f"        renamed to {path.name}.before-TRIAL")
        lines.append(f"executed: {self.executed}" if self.executed else "nothing was executed.")
        return "\n".join(part for line in lines for part in _set(line))

    def _time(self) -> str:
        if self.seconds is not None:
            most = "" if self.campaign.protocol.stop is None else "at most "
            known = "the first block" if self.executed else "an earlier trial of this campaign"
            left_out = ["repeats"] * self.campaign.protocol.repeating
            left_out += ["the builds of each session"] * bool(self.campaign.built_each_session)
            besides = f" without {' and '.join(left_out)}" if left_out else ""
            return f"{most}{about(self.seconds)}{besides}, from {known}"
        if self.at_most_s is not None:
            return f"unknown before the first trial; its limits end it after {about(self.at_most_s)[6:]}"
        return "unknown before the first trial, and no timeout limits it"


def _set(line: str) -> list[str]:
    """Set a line in lines that fit a screen, the further ones below its text."""
    if len(line) <= WIDTH or line.startswith("  fix:"):
        return [line]
    begin = len(line) - len(line.lstrip())
    return wrapped(line.lstrip(), " " * begin, " " * max(8, begin + 2), WIDTH)


def _counting_text(counting: Counting) -> str:
    names = ", ".join(event.name for event in counting.events)
    if not counting.apart:
        return names
    return f"{names}, in one of {counting.every} blocks; times are those of the others"


def preview(
    campaign: Campaign,
    options: Options,
    trial: Path | None = None,
    *,
    probed: ProbedBlock | None = None,
) -> Preview:
    """Look at what a campaign would do on this host; nothing is executed or written."""
    sessions = options.sessions or campaign.protocol.sessions
    programs, missing = _programs(campaign)
    aside = files_to_set_aside(campaign, programs, trial)
    with Host() as host:
        first = host.read()
        plan = cpus_for(campaign, first)
        measured = plan.targets or first.usable
        events = look_at_counters(campaign, host, first, plan.targets)
        energy = has_energy(campaign, host, first)
        kept = 0 if trial is None else kept_bytes(trial / OUTPUTS)
        needed = room_needed(campaign, sessions, kept_bytes=kept)
        situation = situation_of(
            campaign, host, measured, options.folder, events=events, needed_bytes=needed
        )
    return Preview(
        campaign=campaign,
        sessions=sessions,
        plan=plan,
        findings=check_before(situation),  # gaps are looked at in a session, as is said there
        first=tuple(islice(PlannedSession(campaign, campaign.seed, 1), 1000)),
        seconds=_known(campaign, options, sessions, energy=energy)
        if probed is None
        else expected_seconds(campaign, sessions, probed.seconds, energy=energy),
        at_most_s=_limit(campaign, sessions, energy=energy),
        missing=missing,
        set_aside=aside,
        executed=None if probed is None else str(probed),
        decides=_decides(campaign, options, sessions),
    )


def _decides(campaign: Campaign, options: Options, sessions: int) -> Decidable | None:
    """Tell what a verdict of the plan can decide; nothing is compared where there is one variant."""
    if len(campaign.variants) < 2:
        return None
    from analysis.plan.sessions import plan_decides

    return plan_decides(
        [path for path, manifest in _earlier(campaign, options) if manifest.origin == "measured"],
        sessions=sessions,
        runs=campaign.protocol.runs,
        benchmarks=campaign.benchmarks,
        variants=campaign.variants,
        metric=next(iter(campaign.judge), "wall"),
    )


def _earlier(campaign: Campaign, options: Options) -> tuple[tuple[Path, Manifest], ...]:
    """Look at the earlier trials, the newest first; ``fairtrial status`` reports those that cannot be read."""
    with contextlib.suppress(StoreError):  # whoever writes to a wrong folder reports it
        return trials_in(options.folder, campaign.name).found
    return ()


def how_long(campaign: Campaign, options: Options, sessions: int) -> float | None:
    """Tell the seconds that a new trial may take, None where no earlier one of the campaign tells it."""
    with Host() as host:
        energy = campaign.energy and has_energy(campaign, host, host.read())
    return _known(campaign, options, sessions, energy=energy)


def _known(campaign: Campaign, options: Options, sessions: int, *, energy: bool) -> float | None:
    """Look how long an earlier trial took."""
    for path, _ in _earlier(campaign, options):
        with contextlib.suppress(StoreError):
            known = read_progress(path).seconds
            seconds = expected_seconds(campaign, sessions, known, energy=energy)
            if seconds is not None:
                return seconds
    return None


def _limit(campaign: Campaign, sessions: int, *, energy: bool) -> float | None:
    protocol = campaign.protocol
    limits = [cell.timeout_s for cell in campaign.cells]
    known = [limit for limit in limits if limit is not None]
    total = None
    if len(known) == len(limits):
        block = sum(known)
        total = protocol.passes_at_most(sessions) * block
        if protocol.stop is not None and protocol.stop.max_time_s is not None:
            # it is looked at after whole blocks, and after the first one at the earliest
            last = block * (2 if protocol.repeating else 1)  # with its repeats
            late = max(protocol.stop.max_time_s, protocol.warmup * block) + last
            total = min(total, sessions * late)
        total += protocol.pause_s * (sessions - 1)
        total += idle_seconds(campaign, sessions, energy=energy)
    if protocol.max_time_s is not None:
        return protocol.max_time_s if total is None else min(total, protocol.max_time_s)
    return total


def _programs(campaign: Campaign) -> tuple[dict[tuple[str, str], Path], str | None]:
    """Find the programs, or say which are not there; what a build makes may be missing now."""
    try:
        return resolve_all(campaign, base_environment(campaign.isolation, os.environ)), None
    except LaunchError as error:
        return {}, None if campaign.builds else str(error)


_ROWS_SHOWN = 4000  # characters of each output


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedBlock:
    """What one block came to: its runs, those that failed, and seconds a run of "benchmark/variant"."""

    runs: int
    failed: int
    interrupted: bool
    seconds: Mapping[str, float]

    def __str__(self) -> str:
        failed = f" ({self.failed} failed)" if self.failed else ""
        return f"the first block, {counted(self.runs, 'run')}{failed}; nothing of it is kept"


def probe(campaign: Campaign, options: Options, view: View) -> ProbedBlock:
    """Execute the first block once in a temporary folder, to learn how long its runs take."""
    with _executed(one_block(campaign), options, view) as ending:
        return ProbedBlock(
            runs=ending.done,
            failed=ending.failed,
            interrupted=ending.status == "interrupted",
            seconds=read_progress(ending.trial).seconds,
        )


def execute_only(campaign: Campaign, named: str, options: Options, out: TextIO, view: View) -> int:
    """Execute one cell, a warm-up and a run, show what it wrote, and keep nothing."""
    with _executed(one_cell(campaign, named), options, view) as ending:
        for row in readable_rows(ending.trial / MEASUREMENTS):
            out.write(f"{_row_text(row)}\n")
            if not row["warmup"]:
                out.writelines(_outputs(ending.trial / OUTPUTS, row["position"]))
        out.write("this was a trial run: nothing is stored\n")
    return 130 if ending.status == "interrupted" else 1 if ending.failed else 0


@contextlib.contextmanager
def _executed(campaign: Campaign, options: Options, view: View) -> Iterator[Ending]:
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as place:
        here = replace(options, folder=Path(place), name=None, sessions=1, passing=True)
        try:
            yield start(campaign, here, view)
        except FairtrialError as error:
            if place in (error.fix or ""):  # that file is gone when this is read
                error.fix = None
            raise


def _row_text(row: Mapping[str, Any]) -> str:
    kind = "warm-up" if row["warmup"] else "run    "
    took = "" if row["wall_ns"] is None else f"  {duration(row['wall_ns'] / 1e9)}"
    why = f"  {row['detail']}" if row["detail"] else ""
    samples = row.get("samples", {})
    metrics = "".join(
        f"  {name} {_listed(values, samples.get(name))}" for name, values in row["metrics"].items()
    )
    return f"{kind} {row['benchmark']} / {row['variant']}: {row['outcome']}{took}{metrics}{why}"


def _listed(values: Sequence[float], about: Mapping[str, Any] | None) -> str:
    """Write the values of a metric; of many iterations the first ones, their number and mean."""
    if not values:
        return "unknown"
    if about is not None and about.get("form") is None:
        return f"({about['count']:,} values, mean {values[0]:g})"
    text = ", ".join(f"{value:g}" for value in values[:_VALUES_SHOWN])
    if len(values) <= _VALUES_SHOWN:
        return text
    return f"{text}, ... ({len(values):,} values, mean {fmean(values):g})"


def _typed(argv: Sequence[str]) -> str:
    """Write a command as a shell would read it, with the placeholders that a session fills in."""
    return " ".join(
        shlex.quote(word) if word.split() != [word] else word for word in with_placeholders(argv)
    )


def _outputs(folder: Path, position: int) -> Iterator[str]:
    for name in ("stdout", "stderr"):
        path = folder / f"{position:04d}.{name}"
        if not path.exists():
            yield f"{name} is discarded\n"
            continue
        with opened_output(path) as file:
            data = file.read()
        if b"\0" in data:
            yield f"{name}, {counted(len(data), 'byte')} that are no text\n"
            continue
        text = data.decode("utf-8", "replace")
        shown = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text[:_ROWS_SHOWN])
        yield f"{name}, {counted(len(data), 'byte')}" + (":\n" if shown else "\n")
        yield "".join(f"    {line}\n" for line in shown.splitlines())
        if len(text) > _ROWS_SHOWN:
            yield f"    … {len(text) - _ROWS_SHOWN:,} more characters\n"
