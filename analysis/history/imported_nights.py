"""Nights from files of other tools: a file is a night, ordered by date or by commit.

There is no baseline in them: each variant has a series of its own, in which host and program cannot be
told apart. Values are made of what `fairtrial import` would store: the mean over sessions of the mean
log of processes.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from ..announcing import as_one, doing
from ..data.opening import open_foreign
from ..errors import AnalysisError, FairtrialError, UsageError
from ..importers.gathering import gather
from ..importers.headings import is_commit
from ..importers.importing import joined_processes
from ..importers.naming import NamedCell, ReadingChoices, Sitting, name_of
from ..importers.registry import BARE, UNKNOWN, read_foreign
from ..pages.number_format import listed
from .kept_nights import KeptTrial, VariantValues, imported_campaign
from .night_values import NightPlace, date_in, first_date, without_dates
from .nights import commits_in, places_of_commits, repository_of, without_commits
from .series import RawNight

if TYPE_CHECKING:
    from ..importers.parsing import ForeignCell, ForeignFile
    from ..record.run_numbers import Better


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A night of a file: `date` and `commit` are what the file says, None where it says nothing."""

    place: NightPlace
    date: str | None
    commit: str | None
    trial: KeptTrial
    environment: str | None

    @property
    def named_date(self) -> str | None:
        return date_in(self.place.path.stem) or date_in(self.place.name)


def read_imported(
    places: Sequence[NightPlace], given: Sequence[Path], chosen: ReadingChoices
) -> tuple[list[RawNight], list[tuple[str, FairtrialError]]]:
    """Read files of other tools in the order of their dates or commits; the others are named, with why.

    Raises UsageError where files cannot be ordered.
    """
    found: list[_Found] = []
    left_out: list[tuple[str, FairtrialError]] = []
    for k, place in enumerate(places):
        doing("reading", k, len(places), "files")
        try:
            with as_one():
                found += _nights(place, chosen)
        except FairtrialError as error:
            if UNKNOWN not in error.what:
                left_out.append((place.name, error))
    raws = [
        RawNight(
            name=one.trial.trial,
            path=str(one.place.path),
            started_at=date,
            parts={one.trial.host: one.trial},
            commit=one.commit,
        )
        for one, date in _ordered([*_apart(found)], given)
    ]
    return raws, left_out


def _nights(place: NightPlace, chosen: ReadingChoices) -> Iterator[_Found]:
    """Read a file; each commit in it, or each date of a table, is a night of its own."""
    file = read_foreign(open_foreign(str(place.path)))
    if file.format in BARE:
        raise AnalysisError(f"{UNKNOWN} file", str(place.path))
    parts: dict[str | None, list[ForeignCell]] = {}  # equal values of two commits are no copy
    whole = not file.read_as or date_in(
        place.path.stem
    )  # a file with a date in its name is a night
    for one in file.cells:
        day = None if whole else (date_in(one.session or "") or "")[:10] or None
        parts.setdefault(_commit(one) or file.facts.get("commit") or day, []).append(one)
    nights = {
        commit: gather([replace(file, cells=tuple(own))], replace(chosen, metric=None)).cells
        for commit, own in parts.items()
    }
    every = [one.cell for night in nights.values() for one in night]
    metric = chosen.metric or _asked(every, chosen)
    if metric not in (known := dict.fromkeys(one.metric for one in every)):
        fix = f"known here: {', '.join(known)}"
        raise UsageError(f"the files have no metric {metric!r}", str(place.path), fix)
    commits = {
        commit: own
        for commit, night in nights.items()
        if (own := [x for x in night if x.cell.metric == metric and (x.cell.values or x.cell.cut)])
    }
    if not commits:
        fix = "measure again: did every benchmark fail?"
        raise AnalysisError(f"no run has a value of {metric!r}", str(place.path), fix)
    said = (x.cell.better for own in commits.values() for x in own)
    better = next((one for one in said if one is not None), None)
    if better is None:
        raise AnalysisError(
            f"the file does not say which direction of {metric!r} is better",
            str(place.path),
            "add --better lower (times) or --better higher (scores, rates)",
        )
    for commit, own in commits.items():
        name = place.name if len(commits) == 1 else f"{place.name}:{commit}"
        yield _Found(
            place=place,
            date=(file.facts.get("date") and date_in(file.facts["date"]))
            or first_date(one.cell.session for one in own),
            commit=_commit(own[0].cell) or file.facts.get("commit"),
            trial=_trial(name, file, commit, own, better),
            environment=file.facts.get("environment"),
        )


def _asked(cells: Sequence[ForeignCell], chosen: ReadingChoices) -> str:
    """Give the metric that nobody named: the time, else the first whose direction is known, or is the one that was said."""
    said = (x for x in cells if x.better and x.better == (chosen.better or x.better))
    known = dict.fromkeys(cell.metric for cell in said)
    return "time" if "time" in known else next(iter(known), cells[0].metric)


def _apart(found: Sequence[_Found]) -> Iterator[_Found]:
    """Name series by environment and host where nights of asv are of several."""
    parts = [(one.environment, one.trial.host) for one in found if one.environment is not None]
    several = [len({*column}) > 1 for column in zip(*parts, strict=True)]
    for one in found:
        trial = one.trial
        if one.environment is not None and any(several):
            name = ", ".join(itertools.compress((one.environment, trial.host), several))
            campaign = imported_campaign(name, trial.metric, trial.unit, trial.better)
            values = dict(zip((name,), trial.values.values(), strict=True))
            trial = replace(trial, variants=(name,), values=values, campaign=campaign)
        yield replace(one, trial=trial)


def _commit(cell: ForeignCell) -> str | None:
    return next((text for key, text in cell.keys.items() if text and is_commit(key)), None)


def _trial(
    name: str,
    file: ForeignFile,
    commit: str | None,
    cells: Sequence[NamedCell],
    better: Better,
) -> KeptTrial:
    """Make the trial of a commit: what is called like the file or the commit has the same name every night."""
    metric = cells[0].cell.metric
    called = name_of(cells[0].source)
    rest = re.sub(r"[-_. ]{2,}", "-", without_commits(without_dates(called))).strip("-_. ")
    groups: dict[tuple[str, str], dict[Sitting, list[NamedCell]]] = {}
    ways: dict[str, dict[str, str]] = {}
    for one in cells:
        benchmark = (rest or file.format) if one.benchmark == called else one.benchmark
        variant = file.format if one.cell.variant in (None, commit) else one.variant
        sittings = groups.setdefault((variant, benchmark), {})
        sittings.setdefault(one.sitting, []).append(one)
        # what other tools say of the way may be another one each night, such as a path
        if file.format == "asv" and one.cell.definition:
            ways[benchmark] = {"": one.cell.definition}
    benchmarks = tuple(dict.fromkeys(benchmark for _, benchmark in groups))
    variants = tuple(dict.fromkeys(variant for variant, _ in groups))
    sign = -1.0 if better == "higher" else 1.0
    own = {
        key: [sign * x for one in sittings.values() if (x := _session_log(one, metric)) is not None]
        for key, sittings in groups.items()
    }
    unit = next((one.cell.unit for one in cells if one.cell.unit), "")
    none = (None,) * len(benchmarks)
    values = {}
    for variant in variants:
        logs = [own.get((variant, bench), []) for bench in benchmarks]
        values[variant] = VariantValues(
            log=none,
            baseline_log=none,
            own=tuple(fmean(one) if one else None for one in logs),
            sessions=(0,) * len(benchmarks),
            own_sessions=tuple(map(len, logs)),
            programs=none,
            commit=None,
        )
    return KeptTrial(
        trial=name,
        host=file.facts.get("host", "unknown"),
        host_id="unknown",
        origin="imported",
        baseline="",
        variants=variants,
        benchmarks=benchmarks,
        metric=metric,
        unit=unit,
        better=better,
        complete=True,
        values=values,
        inputs=tuple(ways.get(benchmark, {}) for benchmark in benchmarks),
        campaign=imported_campaign(file.format, metric, unit, better),
        host_record={},
        cut=tuple(
            f"{benchmark} / {variant}"
            for (variant, benchmark), sittings in groups.items()
            if any(one.cell.cut for those in sittings.values() for one in those)
        ),
    )


def _session_log(cells: Sequence[NamedCell], metric: str) -> float | None:
    """Give the mean log of the processes of one session; None where one is not positive. Lower bounds are of cut ones."""
    cell = cells[0].cell
    if len(cells) == 1:
        means = [fmean(one) for one in cell.processes if one] if cell.known else [*cell.values]
    else:
        processes = joined_processes([one.cell for one in cells])
        means = [fmean(row.values[metric]) for row in processes if row.values.get(metric)]
    if cell.better == "lower":
        means += [bound for one in cells for bound, *_ in one.cell.cut if bound is not None]
    if not means or min(means) <= 0:
        return None
    return fmean(map(math.log, means))


def _ordered(found: Sequence[_Found], given: Sequence[Path]) -> list[tuple[_Found, str | None]]:
    """Order nights: by the dates in files, else by commits, else by dates in names, else by both dates."""
    ways: tuple[Callable[[_Found], str | None] | None, ...]
    ways = (lambda one: one.date, None, lambda one: one.named_date, _any_date)
    for date in ways:
        order = _by_commit(found, given) if date is None else _by_date(found, date)
        if order is not None:
            return order
    without = [one.place.name for one in found if _any_date(one) is None]
    raise UsageError(
        f"these files cannot be ordered, as neither a date nor a commit is known of them: "
        f"{listed(without, 4)}",
        " ".join(str(one) for one in given),
        "put the date into their names, such as 2026-11-03-NAME.json; or the commit, and go into its "
        "repository",
    )


def _any_date(one: _Found) -> str | None:
    return one.date or one.named_date


def _by_date(
    found: Sequence[_Found], date: Callable[[_Found], str | None]
) -> list[tuple[_Found, str | None]] | None:
    dated = [(one, date(one)) for one in found]
    if any(at is None for _, at in dated):
        return None
    return sorted(
        dated, key=lambda pair: (datetime.fromisoformat(f"{pair[1]}"), pair[0].trial.trial)
    )


def _by_commit(
    found: Sequence[_Found], given: Sequence[Path]
) -> list[tuple[_Found, str | None]] | None:
    candidates = [(x.commit,) if x.commit else commits_in(x.place.path.stem) for x in found]
    if not all(candidates):
        return None
    repository = repository_of([*(x if x.is_dir() else x.parent for x in given), Path()])
    if repository is None:
        return None
    places = places_of_commits(repository, [*itertools.chain(*candidates)])
    order = []
    for one, names in zip(found, candidates, strict=True):
        known = [(places[name], name) for name in names if name in places]
        if len({place for place, _ in known}) != 1:
            return None
        place, commit = known[0]
        order.append((place, one.trial.trial, replace(one, commit=one.commit or commit)))
    return [(one, _any_date(one)) for *_, one in sorted(order, key=lambda row: row[:2])]
