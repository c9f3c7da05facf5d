"""The methods paragraph: what was measured and how it was judged, from manifest and verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.host_record import read_environments
from ...data.protocol import pinned_cpus, settings_of
from ...importers.trials import trial_and_variant
from ...pages import number_format as figures
from ...version import VERSION
from ..fleet import first_host, level_of
from ..spoken import Span
from .citations import METHODS, TOOL, methods_used
from .counts import amount_of, counted
from .hosts import machines_of, unfinished_of

if TYPE_CHECKING:
    from ...data.trial import Trial
    from ...methods.multilevel.result import Multilevel
    from ..subject import Subject

__all__ = ["paragraph_of"]

_PLACES = ("first", "second")
_RELEASE = re.compile(r"\d+(?:\.\d+)*")
_INTERVALS = ("kalibera2013", "ibragimov2010", "lai1976", "welch1947", "banerjee1960")
_METHODS = {
    "HPT": "HPT",
    "Speedup-Test": "the Speedup-Test",
    "randomization": "a randomization test",
    "bootstrap": "the bootstrap",
    "mixtures": "Gaussian mixtures",
}


def paragraph_of(subject: Subject, numbers: Mapping[str, int]) -> tuple[Span, ...]:
    """Give the paragraph; what the sources do not say is said to be unknown.

    Parameters
    ----------
    subject : Subject
        What was judged.
    numbers : mapping of str to int
        The works that can be cited, each under its key with its number in the list.
    """
    cite = _Cited(numbers)
    sentences: list[tuple[Span, ...]] = []
    for trial, which in zip(subject.trials, _PLACES, strict=False):
        begin = f"In the {which} of two trials we" if len(subject.trials) > 1 else "We"
        sentences += _measured(trial, subject, begin)
    files = len(subject.sources) - len(subject.trials)
    if not subject.trials or (files > 0 and len(subject.matrices) > len(subject.trials)):
        sentences.append(_from_files(subject))
    sentences += _judged(subject, cite)
    versions = (trial.manifest.tool_version for trial in subject.trials)
    measured = list(dict.fromkeys(filter(None, versions)))
    if measured == [VERSION]:
        sentences.append((Span(f"Measured and analysed with fairtrial {VERSION}{cite(TOOL)}."),))
    elif measured:
        told = " and ".join(measured)
        sentences.append(
            (
                Span("Measured with fairtrial "),
                Span(told, foreign=True),
                Span(f", analysed with {VERSION}{cite(TOOL)}."),
            )
        )
    else:
        sentences.append((Span(f"Analysed with fairtrial {VERSION}{cite(TOOL)}."),))
    return _joined(sentences)


class _Cited:
    """Cites works by their numbers; those without one are left out."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers

    def __call__(self, *keys: str) -> str:
        found = sorted({self._numbers[key] for key in keys if key in self._numbers})
        return f" [{', '.join(map(str, found))}]" if found else ""


def _joined(sentences: Sequence[tuple[Span, ...]]) -> tuple[Span, ...]:
    spans = [span for sentence in sentences for span in (Span(" "), *sentence)]
    return tuple(spans[1:])


def _chosen(trial: Trial, subject: Subject) -> tuple[list[str], list[str]]:
    """Name the variants and the benchmarks of a trial that were judged."""
    manifest = trial.manifest
    variants = [name for name in manifest.variants if name in subject.matrices]
    benchmarks = set(subject.order)
    if len(subject.trials) > 1:
        named = [trial_and_variant(source) for source in subject.sources]
        mine = [pair[1] for pair in named if pair is not None and pair[0] == trial.path]
        variants = [name for name in manifest.variants if name in mine]
        benchmarks = {
            line.name
            for one in subject.candidates
            if one.multilevel is not None
            for line in one.multilevel.benchmarks
            if line.speedup is not None
        }
    return variants, [name for name in manifest.benchmarks if name in benchmarks]


def _measured(trial: Trial, subject: Subject, begin: str) -> Iterator[tuple[Span, ...]]:
    """Say what was executed, in which order, on what, and what was left out."""
    manifest, level = trial.manifest, level_of(subject.verdict)
    settings = settings_of(
        trial.path if level is None else first_host(subject.verdict) or trial.path
    )
    protocol, isolation = _part(settings, "protocol"), _part(settings, "isolation")
    variants, benchmarks = _chosen(trial, subject)
    cells = f"{counted(len(variants), 'variant')} on {counted(len(benchmarks), 'benchmark')}"
    whole = (
        f"{counted(len(manifest.variants), 'variant')} on "
        f"{counted(len(manifest.benchmarks), 'benchmark')}"
    )
    if whole != cells and variants:
        cells = f"{whole}, of which {cells} {'was' if len(variants) == 1 else 'were'} judged,"
    else:
        cells = whole
    amount = amount_of(trial, subject.verdict)
    yield (Span(f"{begin} executed {cells} {amount}, {_order(protocol)}{_alone(isolation)}."),)
    if manifest.sequential and manifest.stop is not None:
        yield (
            Span(
                "A session ended when the 95 % interval of each suite's speedup was narrower than "
                f"{100 * manifest.stop.width:g} %, so the number of runs depends on the values."
            ),
        )
    yield _host(trial) if level is None else machines_of(trial, len(level.hosts))
    yield (Span(_warmups(trial, protocol)),)
    variants = variants or list(manifest.variants)
    failed = sum(not run.warmup and run.variant in variants for run in trial.failures())
    total = failed + int(
        (
            trial.measured & np.isin(trial.variant, [manifest.variants.index(v) for v in variants])
        ).sum()
    )
    if failed:
        said = f"{counted(failed, 'run').capitalize()} of {total:,} failed and "
        paired = any(
            one.multilevel is not None and one.multilevel.design in ("paired", "hosts")
            for one in subject.candidates
        )
        said += "was" if failed == 1 else "were"
        rest = ", with what the other side measured in the same blocks" if paired else ""
        yield (Span(f"{said} left out{rest}."),)
    if said := _disturbed(trial, variants):
        yield (Span(said),)
    if level is not None:
        yield from unfinished_of(subject.verdict)
    elif not trial.finished or manifest.status not in ("complete", "running"):
        yield (Span("The trial is not complete: what is there was judged."),)


def _disturbed(trial: Trial, variants: Sequence[str]) -> str:
    """Say how many runs waited for a CPU, and what was done about it; nothing where none is known to."""
    mine = ~trial.warmup & (trial.outcome == 0)
    mine &= np.isin(trial.variant, [trial.manifest.variants.index(name) for name in variants])
    first = mine & (trial.repeats < 0)
    known, waited = int((first & (trial.disturbed >= 0)).sum()), first & (trial.disturbed == 1)
    if not waited.any():
        return ""
    said = (
        f"{counted(int(waited.sum()), 'run').capitalize()} of {known:,} waited for a CPU for more than "
        "0.5 % of the time"
    )
    if not trial.manifest.repeating:
        return f"{said}; nothing was left out or corrected for it."
    left = int((mine & trial.chosen & (trial.disturbed == 1)).sum())
    return (
        f"{said}: such runs were executed again at the end of their block, at most twice, and the first "
        f"undisturbed run was taken; {left:,} remained."
    )


def _order(protocol: Mapping[str, Any]) -> str:
    told = {
        "shuffled": "in blocks that hold each variant and benchmark once, each block in a new random "
        "order",
        "interleaved": "in blocks that hold each variant and benchmark once, always in the same order",
        "sequential": "one variant and benchmark after the other",
    }
    return told.get(str(protocol.get("order")), "in an order that the trial does not say")


def _alone(isolation: Mapping[str, Any]) -> str:
    """Say how runs are kept apart: each has a process of its own whatever the campaign says."""
    parts = []
    if isolation.get("aslr") is True:
        parts.append("a new address layout")
    if isolation.get("padding") == "random":
        parts.append("an environment padded by a random length")
    more = f" with {' and '.join(parts)}" if parts else ""
    return f", every run in a process of its own{more}"


def _host(trial: Trial) -> tuple[Span, ...]:
    """Say on what the runs were executed, as far as the trial recorded it."""
    records = read_environments(trial.path)
    sections = records[0].sections if records else {}
    cpu, kernel = sections.get("cpu", {}), sections.get("kernel", {})
    host = sections.get("host", {})
    model = cpu.get("model") or trial.manifest.cpu_model
    if not model and not kernel:
        return (Span("What host they were executed on is not recorded."),)
    virtual = host.get("virtual")
    kind = "a virtual machine" if virtual not in (None, "", "none", False) else "a machine"
    begin = f"The host was {kind}"
    cores = cpu.get("cores")
    if isinstance(cores, int):
        begin += f" with {cores} CPU{'s' * (cores != 1)}"
    spans = [Span(begin)]
    if model:
        spans += [Span(" ("), Span(str(model), foreign=True), Span(")")]
    system = [str(kernel[key]) for key in ("distribution",) if kernel.get(key)]
    release = _RELEASE.match(str(kernel.get("release") or ""))
    if release:
        system.append(f"Linux {release.group()}")
    if system:
        spans += [Span(" under "), Span(", ".join(system), foreign=True)]
    return (*spans, Span(f"; {_pinned(trial)}."))


def _pinned(trial: Trial) -> str:
    places = pinned_cpus(trial)
    if not places:
        return "whether runs were pinned to a CPU is not recorded"
    if places == (None,):
        return "runs were not pinned to a CPU"
    if None in places:
        return "runs were pinned to CPUs in some sessions only"
    sizes = {len(one) for one in places if one is not None}
    if sizes == {1}:
        return "each run was pinned to one CPU" + (
            "" if len(places) == 1 else ", not the same in all sessions"
        )
    return "runs were pinned to a set of CPUs"


def _warmups(trial: Trial, protocol: Mapping[str, Any]) -> str:
    count = trial.manifest.warmup
    if not count:
        return "There were no warm-up runs."
    where = {"all": "in every session", "first": "in the first session"}.get(
        str(protocol.get("warmup_sessions")), "in a session"
    )
    many = f"{counted(count, 'warm-up run').capitalize()} of each {where}"
    return f"{many} {'was' if count == 1 else 'were'} left out."


def _from_files(subject: Subject) -> tuple[Span, ...]:
    if not subject.trials:
        return (
            Span(
                "The values were read from files, which do not say how they were measured: sessions, "
                "order and host are unknown."
            ),
        )
    return (Span("The other side was read from a file, which does not say how it was measured."),)


def _judged(subject: Subject, cite: _Cited) -> Iterator[tuple[Span, ...]]:
    """Say what is estimated, by which interval, what was corrected, and what counts as none."""
    verdict = subject.verdict
    results = [one.multilevel for one in subject.candidates if one.multilevel is not None]
    level = f"{100 * verdict.confidence:g} %"
    value = _value(verdict.metric)
    if not results:
        yield (
            Span("Given are geometric means of "),
            *value,
            Span(f"{_intervals_alone(subject, level)}; nothing was compared."),
        )
        return
    weighed = ", weighted over benchmarks" if subject.asked.get("weights") else ""
    ratios = "Speedups" if results[0].timed else "Ratios"
    yield (
        Span(f"{ratios} are ratios of geometric means of "),
        *value,
        Span(f"{weighed}, above 1 where a variant is better than "),
        Span(verdict.baseline, foreign=True),
        Span(f", {_interval(results, level)}{cite(*_INTERVALS)}."),
    )
    if all(one.design == "confounded" for one in results):
        return
    many = max(len(one.benchmarks) for one in results)
    rules = {"holm": "Holm's method", "bh": "Benjamini and Hochberg's method"}
    if many > 1 and verdict.correction in rules:
        yield (
            Span(
                f"The words of the benchmarks, not their intervals, are corrected by "
                f"{rules[verdict.correction]} over {counted(many, 'benchmark')}"
                f"{cite('holm1979', 'benjamini1995')}."
            ),
        )
    elif many > 1:
        yield (Span("The words of the benchmarks are not corrected for their number."),)
    risk = f"{figures.significant(100 * verdict.look_alpha, 3)} %"
    total = f"so that all looks together risk at most {100 * verdict.risk_total:.3g} %"
    if verdict.looks_rule == "planned":
        looks = counted(verdict.looks, "look")
        yield (Span(f"The data were to have {looks}, each at a risk of {risk}, {total}."),)
    elif verdict.looks_rule == "growing":
        yield (
            Span(
                f"The data grew without a plan of looks: this one, number {verdict.looks}, was judged at "
                f"a risk of {risk}, {total}."
            ),
        )
    if verdict.margin > 0:
        risk = figures.significant(50 * verdict.look_alpha, 2)
        yield (
            Span(
                f"Differences within ± {100 * verdict.margin:g} % count as equivalent (two one-sided "
                f"tests, {risk} % a side){cite('schuirmann1987')}."
            ),
        )
    published = [
        f"{_METHODS[name]}{cite(*METHODS[name])}"
        for name in methods_used(subject)
        if name in _METHODS
    ]
    if published:
        told = (
            published[0]
            if len(published) == 1
            else f"{', '.join(published[:-1])} and {published[-1]}"
        )
        yield (Span(f"For comparison the report also gives what {told} say of the same runs."),)


def _value(metric: str) -> tuple[Span, ...]:
    if metric == "wall":
        return (Span("wall time"),)
    if metric == "values":
        return (Span("the values"),)
    return (Span("the metric "), Span(metric, foreign=True))


def _intervals_alone(subject: Subject, level: str) -> str:
    units = list(dict.fromkeys(one.unit for one in subject.verdict.alone if one.low is not None))
    if not units:
        return ""
    of = {
        "session": f"the {subject.verdict.outermost} means",
        "block": "the means of blocks",
        "run": "the runs",
    }
    told = " or ".join(of.get(unit, unit) for unit in units)
    return f" with {level} intervals by Student's t on the logarithms of {told}"


def _interval(results: Sequence[Multilevel], level: str) -> str:
    designs = list(dict.fromkeys(one.design for one in results))
    if len(designs) > 1:
        return f"with {level} intervals by the design of each pair ({', '.join(designs)})"
    design = designs[0]
    if design == "confounded":
        return "without an interval and without a word: each side was measured on an occasion of its own"
    noun = results[0].outermost
    by = {
        "paired": f"the {noun}s' means of the paired log ratios",
        "hosts": "the hosts' log ratios, widened by the error that their own sessions give them, for "
        "hosts like these",
        "separate": f"the {noun} means of the logarithms of both sides ({_of_two_sides(results)})",
        "one session, blocks": f"the log ratios of the blocks of the only {noun}",
        "one session, runs": f"the logarithms of the runs of the only {noun} ({_of_two_sides(results)})",
    }[design]
    if results[0].always_valid:
        return f"with {level} confidence sequences from {by}, which hold however often one looks"
    return f"with {level} intervals by Student's t on {by}{_freedom(results)}"


def _of_two_sides(results: Sequence[Multilevel]) -> str:
    laws = {line.law for one in results for line in one.benchmarks}
    if "banerjee" not in laws:
        return "Welch"
    bound = "Banerjee's bound, for unequal numbers of them"
    return f"Welch; {bound}" if "welch" in laws else bound


def _freedom(results: Sequence[Multilevel]) -> str:
    lines = [one.these if one.these is not None else one.benchmarks[0] for one in results]
    known = {line.freedom for line in lines if line.freedom is not None}
    if len(known) != 1:
        return ""
    return f" ({figures.significant(known.pop(), 3).removesuffix('.00').removesuffix('.0')} degrees of freedom)"


def _part(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}
