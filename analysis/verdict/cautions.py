"""What a reader of a verdict should know, each thing said once, the gravest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.host_record import settings_of
from ..data.pair import OF_ONE_SIDE
from ..data.trial import Trial
from ..data.trial_cautions import given_up_cautions
from ..errors import AnalysisError, StoreError
from ..methods.multilevel.compare import multilevel
from ..methods.multilevel.failures import fisher
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence, plain
from ..record.manifest import SOURCE
from ..record.run_numbers import METRIC_NUMBERS, SERVICES
from ..record.shapes import readable_rows
from ..record.trial_files import (
    ENVIRONMENT,
    FINDINGS,
    is_of_builds,
    layouts_by_session,
    read_builds,
)
from .result import CandidateVerdict, VariantLayouts, Verdict
from .sentence import quantile_cautions, short_name
from .sides import VariantSide, VariantSummary, comparable, sides_of

# --- How many layouts the sessions of a trial had, where each session builds its own, and
# for what its intervals speak.


Layout = tuple[tuple[str, str], ...]
_NAMED = 3
_FEWEST = 2  # sessions, and layouts: of one nothing is known of others


def drawn_layouts(trial: Trial, variants: Iterable[str]) -> dict[str, tuple[Layout, ...]]:
    """Give for each of these variants that each session builds the layout of every judged session.

    Raises StoreError if the record of the builds is damaged.
    """
    judged = np.unique(trial.session[trial.measured]).tolist()
    builds = layouts_by_session(read_builds(trial.path))
    return {
        name: tuple(builds[name][session].layout for session in judged if session in builds[name])
        for name in variants
        if name in builds
    }


def counted_layouts(each: Iterable[Mapping[str, Sequence[Layout]]]) -> tuple[VariantLayouts, ...]:
    """Count the layouts of one trial, or of the hosts of a fleet together; of builds without a hashed file nobody can."""
    found: dict[str, list[Layout]] = {}
    for drawn in each:
        for name, layouts in drawn.items():
            found.setdefault(name, []).extend(layouts)
    return tuple(
        VariantLayouts(variant=name, layouts=len(set(layouts)), sessions=len(layouts))
        for name, layouts in found.items()
        if layouts and all(layouts)
    )


def layout_cautions(drawn: Mapping[str, Sequence[Layout]]) -> Iterator[Caution]:
    """Name the variants with the same bytes in two sessions, or unknown ones, though each builds its own."""
    for name, layouts in drawn.items():
        if not all(layouts):
            yield Caution(
                "layout-not-varied",
                f"whether sessions had layouts of their own of {name} is not known: none of the files that they "
                "built is hashed; name them under 'artifacts'",
                (name,),
                ShortSentence.of("whether the layouts of {} differ is not known", name),
            )
    for one in counted_layouts([drawn]):
        if one.layouts < one.sessions:
            count = f"{figures.counted(one.layouts, 'layout')} in {one.sessions} sessions"
            yield Caution(
                "layout-not-varied",
                f"{one.variant} has {count}, by the SHA-256 of what they built: "
                "{layout_seed} does not reach the linker, or the linker does not use it",
                (one.variant,),
                ShortSentence.of(f"{{}} has {count}, though each builds its own", one.variant),
            )


def layouts_sentences(found: Sequence[VariantLayouts], variants: Sequence[str]) -> tuple[str, ...]:
    """Say how many layouts the judged variants have, and for what their intervals speak; nothing where of one build."""
    varied = {one.variant: one.layouts for one in found if one.layouts >= _FEWEST}
    if not varied:
        return ()
    fixed = [name for name in variants if name not in varied]
    low, high = min(varied.values()), max(varied.values())
    count = f"{low}" if low == high else f"{low} to {high}"
    of = figures.listed([*map(short_name, varied)], _NAMED) if fixed else "each variant"
    one = figures.listed([*map(short_name, fixed)], _NAMED)
    but = f"but for one build of {one}" if fixed else "not for one build"
    return (
        f"{count} layouts of {of}:",
        f"the interval speaks for layouts that the linker may draw, {but}",
    )


# --- Whether a latency was judged of requests that the load generator sent as fast as they were answered.
#
# Such a generator is closed-loop: while one answer is late it sends nothing, so that of the
# requests that would have come meanwhile, and waited too, none is in the latencies (Tene's
# "coordinated omission"; Schroeder, Wierman and Harchol-Balter, "Open versus closed: a cautionary
# tale", NSDI 2006). At a constant rate both variants are sent equally much.


_TIMES = frozenset(("ns", "nsec", "us", "µs", "μs", "usec", "ms", "msec", "s", "sec", "min"))
_RATES = frozenset(("rps", "qps", "tps", "Hz"))
_OVER = ("/s", "/sec", "/second", "/min")
_MARGIN = 0.01  # a constant rate is kept more exactly


def latency_cautions(
    trial: Trial, variants: Collection[str], metric: str, benchmarks: Collection[str] | None
) -> Iterator[Caution]:
    """Say of a latency that the rate of a variant differs from the baseline's by more than 1 %, beyond chance.

    A latency is a time that a program printed, less is better; a rate is a number a second, more is better.
    Differences are those of `multilevel` at 95 %, corrected for the number of benchmarks.
    """
    metrics, base = trial.manifest.metrics, trial.manifest.baseline
    if base not in variants or not _is_printed(
        metrics.get(metric, {}), "lower", _TIMES.__contains__
    ):
        return
    for rate, about in metrics.items():
        printed = _is_printed(about, "higher", lambda one: one in _RATES or one.endswith(_OVER))
        if printed and (found := _differing(trial, variants, rate, benchmarks)):
            yield _closed_loop(found, base, rate, metric)
            return


def _is_printed(about: Mapping[str, str], better: str, kind: Callable[[str], bool]) -> bool:
    """Tell of what a manifest says of a metric whether programs print it, or it is a quantile of that."""
    known = about.get("source") in {None, SOURCE} and not is_of_builds(about)
    return known and about.get("better") == better and kind(about.get("unit", ""))


def _differing(
    trial: Trial, variants: Collection[str], rate: str, benchmarks: Collection[str] | None
) -> dict[tuple[str, str], float]:
    """Give by variant and benchmark how many times the baseline's a rate is, where it differs."""
    base, found = trial.manifest.baseline, {}
    asked = None if benchmarks is None else list(benchmarks)
    try:
        sides = sides_of(trial, rate, tuple(variants), asked)
        for variant, side in sides.items():
            both = None if variant == base else comparable(side, sides[base])
            for line in () if both is None else multilevel(*both, margin=_MARGIN).benchmarks:
                ratio = line.speedup
                differs = line.outcome in {"faster", "slower"}
                if ratio is not None and differs and abs(ratio - 1) > _MARGIN:
                    found[variant, line.name] = ratio
    except (AnalysisError, StoreError):  # nobody asked: what cannot be compared tells nothing
        return {}
    return found


def _closed_loop(
    found: Mapping[tuple[str, str], float], base: str, rate: str, metric: str
) -> Caution:
    texts = [f"{ratio:.3g}x for {variant} on {bench}" for (variant, bench), ratio in found.items()]
    slower = (base if ratio > 1 else variant for (variant, _), ratio in found.items())
    text = (
        f"closed-loop: {rate} differs from {base}'s ({figures.listed(texts, _NAMED)}), so the load generator waited for "
        f"answers, or did not keep its rate: what would have come meanwhile was not sent, and is not in {metric}, which is too good above all of "
        f"{figures.listed(list(dict.fromkeys(slower)), _NAMED)}; a constant rate below what each can serve, such as wrk2's -R, "
        "asks all alike"
    )
    short = ShortSentence.of(plain(f"{rate} differs too: a closed loop hides waits from {metric}"))
    names = dict.fromkeys(name for pair in found for name in pair)
    return Caution("closed-loop", text, tuple(names), short)


# --- Where the services of a trial ran, and what hooks left running, as far as it touches its answer.


def by_services(trial: Trial, metric: str) -> bool:
    """Tell whether services spent a part of a metric's time, in which no function of the runs can be found.

    The processor time of the runs is theirs alone.
    """
    if trial.manifest.metrics.get(metric, {}).get("source") == SERVICES:
        return True
    return bool(settings_of(trial.path).get("services")) and trial.kind(metric).waits


def service_cautions(trial: Trial) -> Iterator[Caution]:
    """Say which services shared a CPU with the measured programs or fairtrial, and what worked undeclared next to them."""
    found = [
        (row.get("session"), str(row.get("what")))
        for row in readable_rows(trial.path / FINDINGS)
        if row.get("check") == "hook-left-running"
    ]
    if found:  # and used processor time during runs
        session, what = found[0]
        more = f", and likewise in {len(found) - 1} more" if len(found) > 1 else ""
        text = f"{what} of session {session}{more}: nobody saw how long it waited for a CPU; declare it under 'services'"
        known = ShortSentence.of("what a hook left running worked during runs: nobody saw it wait")
        yield Caution("hook-left-running", text, short=known)
    if not settings_of(trial.path).get("services"):
        return
    shared: dict[str, dict[str, None]] = {"runs": {}, "fairtrial": {}}
    for row in readable_rows(trial.path / ENVIRONMENT):
        services = row.get("services")
        for label, about in services.items() if isinstance(services, dict) else ():
            fellow = about.get("beside") if isinstance(about, dict) else None
            if fellow in shared:
                shared[fellow][label] = None
    for fellow, labels in shared.items():
        if labels:
            whom = "the measured programs" if fellow == "runs" else "fairtrial itself"
            text = (
                f"services had no CPU of their own ({', '.join(labels)}): they shared CPUs with {whom}, and waited for each "
                "other; more usable CPUs, or services.*.cpus, keep them apart"
            )
            short = ShortSentence.of(f"services shared a CPU with {whom}")
            yield Caution("services-share-cpus", text, tuple(labels), short)


_RISK = 0.05
_SHOWN = 4  # variants that are named
_MANY = 0.05  # share of runs that waited above which a first screen tells of them


def waiting_cautions(
    trial: Trial,
    variants: Collection[str],
    metric: str,
    benchmarks: Collection[str] | None = None,
) -> Iterator[Caution]:
    """Say how many runs of these variants were disturbed, and whether more of one than of another.

    A screen that shows only these `benchmarks` gets only theirs.
    """
    if not trial.kind(metric).waits:
        return
    names = [name for name in trial.manifest.variants if name in variants]
    found = {name: _waits(trial, name) for name in names}
    there = {name: _waits(trial, name, benchmarks) for name in names}
    if any(one["disturbed"] for one in found.values()):
        total, short = sum(there.values(), Counter[str]()), None
        if total["waited"] > _MANY * total["judged"]:
            after = "repeats included" if trial.manifest.repeating else "and count all the same"
            short = ShortSentence.of(f"{_share(total)} of the runs waited for a CPU, {after}")
        yield Caution("waited-for-cpu", _repeats_text(trial, found), short=short)
    name = trial.manifest.baseline
    base = found.get(name, Counter())
    for variant, one in found.items():
        if variant == name or not _unequal(one, base):
            continue
        short = None
        if _unequal(there[variant], there[name]):
            shares = f"{_share(there[variant])} of {{}}'s runs, {_share(there[name])} of {{}}'s"
            short = ShortSentence.of(f"waiting may be part of it: {shares}", variant, name)
        yield Caution(
            "waited-unequally",
            f"{one['waited']} of {one['judged']} judged runs of {variant} waited for a CPU, and "
            f"{base['waited']} of {base['judged']} of {name}: that is part of their difference, "
            "unless one waits more only because it takes longer",
            (variant,),
            short,
        )


def _unequal(one: Counter[str], base: Counter[str]) -> bool:
    """Tell whether shares of runs that waited differ more than chance explains."""
    if not base["judged"] or not one["judged"]:
        return False
    return fisher(one["waited"], one["judged"], base["waited"], base["judged"]) < _RISK


def _share(one: Counter[str]) -> str:
    return f"{100 * one['waited'] / one['judged']:.0f} %"


def _waits(trial: Trial, variant: str, benchmarks: Collection[str] | None = None) -> Counter[str]:
    """Count a variant's measured runs: those known to have waited or not, and those that did wait.

    `judged` and `waited` are the same of the rows that are judged, which differ where runs were repeated.
    """
    mine = trial.of_variant(variant) & ~trial.warmup & (trial.outcome == 0)
    if benchmarks is not None:
        names = trial.manifest.benchmarks
        mine &= np.isin(trial.benchmark, [k for k, one in enumerate(names) if one in benchmarks])
    first = mine & (trial.repeats < 0)
    judged = mine & trial.chosen & (trial.disturbed >= 0)
    rows = {
        "known": first & (trial.disturbed >= 0),
        "disturbed": first & (trial.disturbed == 1),
        "unknown": first & (trial.disturbed < 0),
        "judged": judged,
        "waited": judged & (trial.disturbed == 1),
        "repeats": mine & (trial.repeats >= 0),
    }
    return Counter({name: int(those.sum()) for name, those in rows.items()})


def _repeats_text(trial: Trial, found: Mapping[str, Counter[str]]) -> str:
    """Say how many each variant has, and what was done about them."""
    total = sum(found.values(), Counter[str]())
    those = {name: one for name, one in found.items() if one["known"]}  # one may only fail
    worst = _worst({name: one["disturbed"] for name, one in those.items()}, " of {}", those)
    text = f"{total['disturbed']} of {total['known']} runs waited for a CPU"
    rest = f"; of {total['unknown']} more it is not known" if total["unknown"] else ""
    if not trial.manifest.repeating:
        return f"{text} and are judged like the others: {worst}{rest}"
    left = f"still {total['waited']}" if total["waited"] else "none"
    return f"{text} ({worst}), after {figures.counted(total['repeats'], 'repeat')} {left}{rest}"


def _worst(
    counts: Mapping[str, int], of: str = "", known: Mapping[str, Counter[str]] | None = None
) -> str:
    """Name the variants with most: ``old 3 of 12, new 1 of 12``."""
    listed = sorted(counts.items(), key=lambda pair: -pair[1])[:_SHOWN]
    texts = (f"{name} {n}{of.format(known[name]['known']) if known else ''}" for name, n in listed)
    return f"{', '.join(texts)}{', …' if len(counts) > _SHOWN else ''}"


def counted_cautions(trial: Trial, variants: Collection[str]) -> Iterator[Caution]:
    """Say how many runs of these variants left processes, and how many were discarded because something stood still."""

    def found_in(counts: NDArray[Any]) -> dict[str, int]:
        each = enumerate(trial.manifest.variants)
        found = {of: int(counts[trial.variant == k].sum()) for k, of in each if of in variants}
        return {name: count for name, count in found.items() if count}

    if found := found_in(trial.measured & (trial.numbers["orphans"] > 0)):
        yield Caution(
            "processes-left",
            f"{figures.counted(sum(found.values()), 'run')} ended and left processes running, which were ended: "
            f"what these did is in no time: {_worst(found)}",
            short=ShortSentence.of(
                "runs of {} left processes running: what these did is in no time", tuple(found)
            ),
        )
    if found := found_in(np.nan_to_num(trial.numbers["suspended"])):
        total = sum(found.values())
        yield Caution(
            "suspended-runs",
            f"{total} execution{'s were' if total > 1 else ' was'} discarded because the launcher, fairtrial or the "
            f"machine stood still, and made again: {_worst(found)}",
        )


# said of the whole trial, so not of each variant again
_OF_THE_TRIAL = {"warm-up-left-out", "failed-left-out", "sequential"}
_WORST = 3  # cells with failed runs that are named


def run_cautions(
    trial: Trial,
    sides: Collection[VariantSide],
    metric: str,
    *,
    asked: Collection[str] | None,
    rows: Collection[str],
    drawn: Mapping[str, Sequence[Layout]],
) -> Iterator[Caution]:
    """Say what holds for the trial's runs, whatever is computed from this metric of them.

    A first screen, whose `rows` are these benchmarks of those that were `asked` for, names these; `drawn` are the
    layouts of variants that sessions built.
    """
    variants = {one.name for one in sides}
    if len(trial.manifest.variants) == 1:
        yield Caution("one-variant", "one variant only: there is nothing to compare")
    for caution in trial.cautions:
        given_up = caution.code == "given-up"
        yield from given_up_cautions(trial.manifest, rows) if given_up else (caution,)
    yield from _failed(trial, variants, rows)
    yield from waiting_cautions(trial, variants, metric, rows)
    yield from counted_cautions(trial, variants)
    yield from service_cautions(trial)
    yield from quantile_cautions(trial, metric)
    yield from latency_cautions(trial, [one.name for one in sides], metric, asked)
    yield from layout_cautions(drawn)
    # which benchmarks were to have another metric than those of every run, nobody knows
    names = trial.manifest.benchmarks
    there = {*rows, *(names[k] for k in np.unique(trial.benchmark[trial.measured]).tolist())}
    awaited = () if metric not in METRIC_NUMBERS else asked or names
    gone = None
    if lost := [name for name in awaited if name not in there]:
        verb, them = ("is", "it") if len(lost) == 1 else ("are", "them")
        count = figures.counted(len(lost), "benchmark")
        gone = ShortSentence.of(f"{count} {verb} missing here: no run of {them} succeeded")
    for one in sides:
        for caution in one.cautions:
            if caution.code == "benchmark-missing":  # each side has it
                yield replace(caution, short=gone)
                gone = None
            elif caution.code not in _OF_THE_TRIAL:
                yield caution


def _failed(trial: Trial, variants: Collection[str], rows: Collection[str]) -> Iterator[Caution]:
    failed = [
        run
        for run in trial.failed
        if not run.warmup and run.variant in variants
        # a comparison counts these with their limit, or says that they have no value
        if not (run.outcome == "timeout" and run.benchmark in rows and len(variants) > 1)
    ]
    if not failed:
        return
    kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(r.outcome for r in failed).items())
    cells = Counter((run.benchmark, run.variant) for run in failed)
    worst = ", ".join(f"{b} / {v} ({n})" for (b, v), n in cells.most_common(_WORST))
    more = f" and {len(cells) - _WORST} more cells" if len(cells) > _WORST else ""
    are = "are" if len(failed) > 1 else "is"
    yield Caution(
        "failed-left-out",
        f"{figures.counted(len(failed), 'run')} failed ({kinds}) and {are} left out: {worst}{more}",
        tuple(dict.fromkeys(bench for bench, _ in cells)),
        _left_out(trial, Counter({cell: n for cell, n in cells.items() if cell[0] in rows})),
    )


def _left_out(trial: Trial, cells: Counter[tuple[str, str]]) -> ShortSentence | None:
    """Say which cell failed, or of what runs did where several did."""
    if not cells:
        return None
    names, total = trial.manifest, cells.total()
    single = len(names.benchmarks) == 1
    if len(cells) > 1:
        whose = dict.fromkeys(variant if single else bench for bench, variant in cells)
        return ShortSentence.of(f"{total} runs of {{}} failed and are left out", tuple(whose))
    ((bench, variant),) = cells
    cell = (trial.benchmark == names.benchmarks.index(bench)) & trial.of_variant(variant)
    runs = int((cell & trial.candidates).sum())
    where = ("{}", variant) if single else ("{} / {}", bench, variant)
    verb = "failed and are left out" if total > 1 else "failed and is left out"
    return ShortSentence.of(f"{total} of {runs} runs of {where[0]} {verb}", *where[1:])


def method_cautions(candidates: Iterable[CandidateVerdict]) -> Iterator[Caution]:
    """Say what `multilevel` says, each thing once, with the candidates that it is about."""
    results = [one.multilevel for one in candidates if one.multilevel is not None]
    about: dict[tuple[Caution, str], list[str]] = {}
    for result in results:
        for caution in result.cautions:
            about.setdefault((caution, caution.text), []).append(result.candidate)
    for (caution, text), names in about.items():
        if len(names) == len(results):
            yield caution
        else:
            words = f"{', '.join(map(format, names))}: {text}"
            short = None if caution.short is None else caution.short.about(*names)
            yield Caution(caution.code, words, (*names, *caution.about), short)
    if (count := max((one.candidates for one in results), default=1)) > 1:
        risk = f"{100 * (1 - results[0].confidence):.3g} %"
        words = f"{count} candidates share the {risk}: --candidate NAME judges one alone"
        yield Caution("shared-risk", words)


# ---- what a first screen shows of them

# what changes the meaning of a shown number, the gravest first; all else stands in --explain and in JSON
_GRAVEST = (
    "totals",
    # runs that failed
    "fails-always fails-more cut-off failed-left-out given-up variant-left-out outcome-unknown "
    "fails-in-one-session failures-without-sessions benchmark-missing",
    # sides that cannot be compared
    "metric-not-asked benchmark-changed settings-differ several-hosts confounded two-binaries binary-differs input-changed "
    "outputs-differ one-variant-twice two-trials sessions-apart one-session one-build "
    "rows-reordered session-misstated iterations-pooled order-unknown order-of-file "
    "columns-unread read-as benchmarks-of-one-side floored not-positive below-resolution means-of-zeros without-ratio "
    "closed-loop layout-not-varied no-steady-state no-iteration-left no-iterations",
    # sides that are unlike
    "waited-unequally unequal-values processes-left modes",
    # drift
    "drift environment-changed host-two-speeds variant-two-speeds two-speeds host-changes "
    "variant-changes sessions-depend drift-within-sessions",
    # a busy host
    "host-busy host-throttled host-disturbed host-stolen cpu-lost disturbed-runs waited-for-cpu "
    "services-share-cpus hook-left-running",
    "runs-missing still-running ended-early iterations-left-out quantiles-of-runs",
)
_RANKS = {code: rank for rank, codes in enumerate(_GRAVEST) for code in codes.split()}
_MOST = 3


class ShownCautions(NamedTuple):
    """The cautions of a first screen, the gravest first, and how many more there are that might stand there."""

    cautions: tuple[Caution, ...]
    hidden: int

    @property
    def more(self) -> str:
        """Say how many more there are, and what shows them; "" where these are all."""
        return f"and {self.hidden} more: --explain" if self.hidden else ""


_HOSTS = (*("host-missing", "host-failed", "host-unfinished", "host-left-out", "hosts-disagree"),)


def host_cautions_in(cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """Give those about hosts without a word: a screen of a fleet says them with its answer."""
    return tuple(one for one in cautions if one.code in _HOSTS)


NOTHING_SHOWN = ShownCautions((), 0)


def shown_cautions(
    verdict: Verdict,
    *,
    called: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> ShownCautions:
    """Choose the cautions of a verdict that a first screen shows; verdict, gate, compare and report all show these.

    Shown is what changes the meaning of a number on the screen: failed runs first, then sides that are not
    comparable, that waited unequally, drift, a busy host, and the rest; among alike ones those first that touch
    more of the benchmarks. The `text` of each is then its whole sentence for a first screen.

    Parameters
    ----------
    verdict : Verdict
        What is on the screen.
    called : mapping of str to str, optional
        What the screen calls variants, or benchmarks, where that is not their name.
    without : collection of str
        The codes of what the screen says itself, in its own words.
    """
    data, candidates = verdict.data, (one.variant for one in verdict.candidates)
    rows = rows_of(verdict.candidates, verdict.alone)
    return chosen_cautions(
        (one for one in verdict.cautions if one.code not in without),
        rows or {name for one in verdict.cautions for name in one.about},  # which say why
        {data.metric, data.baseline, *candidates, *(one.host for one in verdict.hosts)},
        called=called,
    )


def rows_of(
    candidates: Iterable[CandidateVerdict], alone: Iterable[VariantSummary] = ()
) -> frozenset[str]:
    """Name the benchmarks that a verdict is about."""
    given = [one.multilevel for one in candidates if one.multilevel is not None]
    rows = {line.name for result in given for line in result.benchmarks}
    return frozenset(rows | {one.benchmark for one in alone})


def chosen_cautions(
    cautions: Iterable[Caution],
    rows: Collection[str],
    names: Collection[str],
    *,
    called: Mapping[str, str] | None = None,
    most: int = _MOST,
) -> ShownCautions:
    """Choose as `shown_cautions` does, for a screen with these benchmarks and other names on it."""
    there = {*rows, *names}
    found: list[tuple[tuple[int, int], Caution]] = []
    for one in cautions:
        known = None if one.short is None else one.short.on(there)
        if one.code == OF_ONE_SIDE and set(one.about) <= there:
            continue  # they have their rows, with what happened to them
        if one.code in _RANKS and known is not None:
            touched = len(set(rows).intersection(one.about)) or len(rows)
            caution = replace(one, text=known.fitted(called, among=names), short=known)
            found.append(((_RANKS[one.code], -touched), caution))
    found.sort(key=lambda pair: pair[0])
    each = tuple({one.text: one for _, one in found}.values())  # both sides may say the same
    return ShownCautions(each[:most], max(len(each) - most, 0))
