"""`read_nights`: trials, folders of them, fleets and files of other tools become series."""

from __future__ import annotations

import itertools
import math
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from statistics import fmean

from ..announcing import as_one, doing, meanwhile
from ..data.host_record import ordered_variants_of
from ..data.opening import open_foreign
from ..errors import AnalysisError, FairtrialError, InsufficientDataError, StoreError, UsageError
from ..importers.gathering import NamedCell, ReadingChoices, Sitting, gather, name_of
from ..importers.headings import is_commit
from ..importers.importing import joined_processes
from ..importers.parsing import ForeignCell, ForeignFile
from ..importers.registry import BARE, UNKNOWN, read_foreign
from ..pages.model import Caution, ShortSentence
from ..pages.number_format import counted, listed
from ..record.manifest import (
    NO_PROGRAMS,
    for_reading,
    is_cut_off,
    remedy_in,
    way_to_bisections,
    with_settings,
)
from ..record.run_numbers import Better
from ..words import command_line
from .kept_nights import Cell, KeptTrial, imported_campaign
from .night_values import (
    NIGHTS_MOST,
    Nights,
    NightSeries,
    RawNight,
    date_in,
    first_date,
    places_in,
    without_copies,
    without_dates,
)
from .series import figures_of, read_trials, series_of

# --- Orders commits as a repository's history does; git is asked, and nothing is written.


_NAME = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])")  # may be a commit


def repository_of(places: Iterable[Path]) -> Path | None:
    """Give the first of these folders that lies in a git repository; None where none does.

    Raises UsageError where git refuses one because another user owns it.
    """
    for place in dict.fromkeys(places):
        if _git(place, "rev-parse", "--git-dir"):
            return place
    return None


def places_of_commits(repository: Path, names: Iterable[str]) -> Mapping[str, int]:
    """Give the place in history of each name that is a commit there, parents before children."""
    known: dict[str, list[str]] = {}
    wanted = list(dict.fromkeys(names))
    asked = "".join(f"{name}^{{commit}}\n" for name in wanted)
    found = _git(repository, "cat-file", "--batch-check=%(objectname)", asked=asked)
    lines = [""] * len(wanted) if found is None else found.splitlines()
    if len(lines) != len(wanted):
        raise _cut_off(repository)
    for name, line in zip(wanted, lines, strict=True):
        if re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", line):
            known.setdefault(line, []).append(name)
    if not known:
        return {}
    found = _git(repository, "rev-list", "--topo-order", "--reverse", *known) or ""
    order = {sha: k for k, sha in enumerate(found.split()) if sha in known}
    if not known.keys() <= order.keys():
        raise _cut_off(repository)
    return {name: order[sha] for sha, all_ in known.items() for name in all_}


def _git(place: Path, *words: str, asked: str = "") -> str | None:
    """Give what git says; None where there is no git, or it has no answer."""
    try:
        done = subprocess.run(
            ["git", *with_settings(*NO_PROGRAMS), "-C", str(place), *words],
            input=asked,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=for_reading(os.environ),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode and (fix := remedy_in(done.stderr)) is not None:
        what = "git refuses the repository that knows the order of commits: another user owns it"
        raise UsageError(what, str(place), fix)
    if done.returncode == 0 and is_cut_off(done.stdout):
        raise _cut_off(place)
    return done.stdout if done.returncode == 0 else None


def _cut_off(place: Path) -> StoreError:
    return StoreError("git's answer is cut off: the order of commits is not known", str(place))


# --- Nights from files of other tools: a file is a night, ordered by date or by commit.
#
# There is no baseline in them: each variant has a series of its own, in which host and program cannot be
# separated. Values are made of what `fairtrial import` would store: the mean over sessions of the mean
# log of processes.


def read_imported(
    places: Sequence[RawNight], given: Sequence[Path], chosen: ReadingChoices
) -> tuple[list[RawNight], list[tuple[str, FairtrialError]]]:
    """Read files of other tools in the order of their dates or commits; the others are named, with why.

    Raises UsageError where files cannot be ordered.
    """
    found: list[RawNight] = []
    left_out: list[tuple[str, FairtrialError]] = []
    for k, place in enumerate(places):
        doing("reading", k, len(places), "files")
        try:
            with as_one():
                found += _nights(place, chosen)
        except FairtrialError as error:
            if UNKNOWN not in error.what:
                left_out.append((place.name, error))
    nights = _ordered([*_apart(found)], given)
    return [replace(one, name=one.first.trial) for one in nights], left_out


def _nights(place: RawNight, chosen: ReadingChoices) -> Iterator[RawNight]:
    """Read a file; each commit in it, or each date of a table, is a night of its own."""
    where = str(place.path)
    file = read_foreign(open_foreign(where))
    if file.format in BARE:
        raise AnalysisError(f"{UNKNOWN} file", where)
    parts: dict[str | None, list[ForeignCell]] = {}  # equal values of two commits are no copy
    # a file with a date in its name is a night
    whole = not file.read_as or date_in(place.path.stem)
    for one in file.cells:
        day = None if whole else (date_in(one.session or "") or "")[:10] or None
        parts.setdefault(_commit(one) or file.facts.get("commit") or day, []).append(one)
    nights = {
        commit: gather([replace(file, cells=tuple(own))], replace(chosen, metric=None)).cells
        for commit, own in parts.items()
    }
    every = [one.cell for night in nights.values() for one in night]
    # of those that nobody named the time, else the first whose direction is known, or is the one that was said
    usual = dict.fromkeys(
        x.metric for x in every if x.better and x.better == (chosen.better or x.better)
    )
    usual_one = "time" if "time" in usual else next(iter(usual), every[0].metric)
    metric = chosen.metric or usual_one
    if metric not in (known := dict.fromkeys(one.metric for one in every)):
        fix = f"known here: {', '.join(map(format, known))}"
        raise UsageError(f"the files have no metric {metric!r}", where, fix)
    commits = {
        commit: own
        for commit, night in nights.items()
        if (own := [x for x in night if x.cell.metric == metric and (x.cell.values or x.cell.cut)])
    }
    if not commits:
        fix = "measure again: did every benchmark fail?"
        raise AnalysisError(f"no run has a value of {metric!r}", where, fix)
    better = next((x.cell.better for own in commits.values() for x in own if x.cell.better), None)
    if better is None:
        what = f"the file does not say which direction of {metric!r} is better"
        fix = "add --better lower (times) or --better higher (scores, rates)"
        raise AnalysisError(what, where, fix)
    date = date_in(file.facts.get("date"))
    for commit, own in commits.items():
        name = place.name if len(commits) == 1 else f"{place.name}:{commit}"
        trial = _trial(name, file, commit, own, better)
        yield replace(
            place,
            campaign=file.format,
            started_at=date or first_date(one.cell.session for one in own),
            commit=_commit(own[0].cell) or file.facts.get("commit"),
            parts={trial.host: trial},
            environment=file.facts.get("environment"),
        )


def _apart(found: Sequence[RawNight]) -> Iterator[RawNight]:
    """Name series by environment and host where nights of asv are of several."""
    known = [(one.environment, one.first.host) for one in found if one.environment is not None]
    several = [len({*column}) > 1 for column in zip(*known, strict=True)]
    for one in found:
        if one.environment is None or not any(several):
            yield one
            continue
        trial = one.first
        name = ", ".join(itertools.compress((one.environment, trial.host), several))
        campaign = imported_campaign(name, trial.metric, trial.unit, trial.better)
        values = dict(zip((name,), trial.values.values(), strict=True))
        trial = replace(trial, variants=(name,), values=values, campaign=campaign)
        yield replace(one, campaign=name, parts={trial.host: trial})


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
    # a word without a digit is taken for a word, and for no commit
    rest = _NAME.sub(lambda x: "" if any(map(str.isdigit, x[0])) else x[0], without_dates(called))
    rest = re.sub(r"[-_. ]{2,}", "-", rest).strip("-_. ")
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
    variants, benchmarks = (tuple(dict.fromkeys(names)) for names in zip(*groups, strict=True))
    sign = -1.0 if better == "higher" else 1.0

    def cell(variant: str, benchmark: str) -> Cell:
        sittings = groups.get((variant, benchmark), {}).values()
        own = [sign * x for one in sittings if (x := _session_log(one, metric)) is not None]
        cut = any(one.cell.cut for those in sittings for one in those)
        return Cell(own=fmean(own) if own else None, own_sessions=len(own), cut=cut)

    values = {one: tuple(cell(one, other) for other in benchmarks) for one in variants}
    unit = next((one.cell.unit for one in cells if one.cell.unit), "")
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
        cut=tuple(f"{one} / {two}" for two, one in groups if cell(two, one).cut),
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
    return None if not means or min(means) <= 0 else fmean(map(math.log, means))


def _ordered(found: Sequence[RawNight], given: Sequence[Path]) -> list[RawNight]:
    """Order nights: by the dates in files, else by commits, else by dates in names, else by both dates."""
    named = [date_in(one.path.stem) or date_in(one.name) for one in found]
    dated = [replace(x, started_at=date) for x, date in zip(found, named, strict=True)]
    both = [x if x.started_at else y for x, y in zip(found, dated, strict=True)]

    def by_date(nights: Sequence[RawNight]) -> list[RawNight] | None:
        if not all(one.started_at for one in nights):
            return None
        return sorted(
            nights,
            key=lambda one: (datetime.fromisoformat(one.started_at or ""), one.first.trial),
        )

    if not found:
        return []
    order = by_date(found) or _by_commit(both, given) or by_date(dated) or by_date(both)
    if order is not None:
        return order
    raise UsageError(
        f"these files cannot be ordered, as neither a date nor a commit is known of them: "
        f"{listed([one.name for one in both if one.started_at is None], 4)}",
        " ".join(str(one) for one in given),
        "put the date into their names, such as 2026-11-03-NAME.json; or the commit, and go into its "
        "repository",
    )


def _by_commit(found: Sequence[RawNight], given: Sequence[Path]) -> list[RawNight] | None:
    candidates = [
        (one.commit,) if one.commit else tuple(dict.fromkeys(_NAME.findall(one.path.stem)))
        for one in found
    ]
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
        order.append((place, one.first.trial, replace(one, commit=one.commit or commit)))
    return [one for *_, one in sorted(order, key=lambda row: row[:2])]


# --- All nights of a reading.


_SHOWN = 8
_NEWEST = 8  # nights whose totals are looked at
# the field of a trial that names cells -> the code of a caution, its text, and what a screen says
_OF_CELLS = {
    "unsteady": (
        "no-steady-state",
        "too many runs reach no steady state: {}. The values of such nights are those of all "
        "iterations, and no speed of the program's own",
        "in some nights too many runs of {} reach no steady state",
    ),
    "cut": (
        "cut-off",
        "runs were stopped at their limit and count as at least that: {}",
        "in some nights runs of {} were stopped at their limit",
    ),
    "totals": (
        "totals",
        "in all, programs take something else than their typical runs say: {}",
        "{}: in all it is not as typical runs say; see verdict",
    ),
}


def read_nights(
    places: Sequence[str | Path],
    *,
    benchmarks: Sequence[str] | None = None,
    variant: str | None = None,
    metric: str | None = None,
    better: Better | None = None,
    plain: bool = False,
    least: int = 2,
) -> Nights:
    """Read trials of many nights into series of one value a night.

    What was read is kept in this user's cache, and read again where a trial has changed. `places`: Trials, fleets, files
    of other tools, or folders: of a folder all trials and fleets below it; where it has none, all files of other tools.
    `benchmarks`, `variant`: These alone. `metric`: By default, for each campaign, the first that its newest trial's
    `judge` names. `better`: Which direction is better, where files of other tools do not say it. `plain`: Take the values
    of each variant by itself, not its difference from the baseline. `least`: How many nights there must be, 2 or 1: of a
    folder that begins to fill one is enough. Series end where nothing behind may be compared with what is before.

    Raises
    ------
    UsageError
        If there are fewer than `least` nights; if a benchmark or variant is unknown; if files of other tools
        cannot be ordered; if trials contradict `better`.
    InsufficientDataError
        If no night has a value.
    """
    with meanwhile("reading"):
        found = places_in(places)
    fix = "name complete trials"
    if metric is not None:
        fix = "leave out --metric, or name one that all of them have"
    alone = [one.kind for one in found] == ["file"]  # perhaps with a night for each commit
    _require_several(found, places, 1 if alone else least)
    if found[0].kind == "file":
        chosen = ReadingChoices(metric=metric, better=better)
        with meanwhile("reading"):
            raws, refused = read_imported(found, [Path(one) for one in places], chosen)
        if len(raws) < least and not refused:
            _require_several(found, places, least)
        left_out = [(name, error.what) for name, error in refused]
        fix = next((error.fix for _, error in refused if error.fix), fix)
        raws, cut = _newest(raws)
    else:
        kept, cut = _newest(without_copies(found))
        with meanwhile("reading"):
            raws, left_out = read_trials(kept, metric)
    if not raws:
        raise _without_values(places, found, left_out, fix)
    known = {raw.first.better for raw in raws} - {better}
    if better is not None and known:
        what = f"in these nights {known.pop()} values are better"
        fix = f"leave out --better {better}"
        raise UsageError(what, str(places[0]), fix)
    with meanwhile("ordering nights"):
        whole, of_baselines = series_of(raws, plain=plain)
    series = _chosen(whole, raws, benchmarks, variant, plain=plain)
    hosts = dict.fromkeys(
        host for raw in raws for host in (raw.hosts or (raw.first.host,)) if host != "unknown"
    )
    return Nights(
        place=str(places[0]) if len(places) == 1 else counted(len(found), found[0].kind),
        hosts=tuple(hosts),
        series=series,
        left_out=tuple(left_out),
        cut=cut,
        cautions=(*_cautions(raws, left_out, cut), *of_baselines),
    )


def _without_values(
    given: Sequence[str | Path],
    found: Sequence[RawNight],
    left_out: Sequence[tuple[str, str]],
    fix: str,
) -> FairtrialError:
    """Say why no night has a value: a reason that all have is said once."""
    where = " ".join(str(one) for one in given[:3])
    if not left_out:
        return UsageError(
            f"no format is known for what is there: {counted(len(found), 'file')}",
            where,
            "name trials, folders of trials, or files that 'fairtrial import FILE --dry-run' reads",
        )
    text = "; ".join(f"{name}: {why}" for name, why in left_out[:3])
    if len(left_out) > 1 and len({why for _, why in left_out}) == 1:
        text = f"in each of {counted(len(left_out), 'night')}, {left_out[0][1]}"
    return InsufficientDataError(f"no night has a value: {text}", where, fix, n=0, needed=2)


def _require_several(found: Sequence[RawNight], given: Sequence[str | Path], least: int) -> None:
    if len(found) >= least:
        return
    where = " ".join(str(one) for one in given)
    if not found:
        raise UsageError(
            "there is no trial, and no file of another tool",
            where or None,
            next(filter(None, (way_to_bisections(Path(one)) for one in given)), None)
            or "name trials, or the folder that holds them; measure one: fairtrial run campaign.yaml",
        )
    path = found[0].path
    words: tuple[str, ...] = ("verdict", str(path))
    why = "judges one"
    if found[0].kind == "file":
        words, why = ("import", str(path), "--dry-run"), "says what one holds"
    if found[0].kind == "trial" and ordered_variants_of(path) is not None:
        words, why = ("history", str(path)), "reads the variants of this one as a series"
    alone = command_line(("fairtrial", *words))
    fix = f"name the trials of several nights, or their folder; {alone} {why}"
    raise UsageError("one night is no series", where, fix)


def _newest(places: Sequence[RawNight]) -> tuple[list[RawNight], int]:
    count = Counter(place.campaign for place in places)
    kept = []
    for place in places:
        count[place.campaign] -= 1
        if count[place.campaign] < NIGHTS_MOST:
            kept.append(place)
    return kept, len(places) - len(kept)


def _chosen(
    series: Sequence[NightSeries],
    raws: Sequence[RawNight],
    benchmarks: Sequence[str] | None,
    variant: str | None,
    *,
    plain: bool,
) -> tuple[NightSeries, ...]:
    known = [*dict.fromkeys(one.benchmark for one in series)]
    variants = [*dict.fromkeys(one.variant for one in series)]
    for name in benchmarks or ():
        if name not in known:
            fix = f"known here: {listed(known, _SHOWN)}"
            raise UsageError(f"there is no benchmark {name!r}", "--benchmark", fix)
    if variant is not None and variant not in variants:
        fix = f"known here: {listed(variants, _SHOWN)}"
        if not plain and variant in {raw.first.baseline for raw in raws}:
            fix = f"it is the baseline: add --plain for its own times; {fix}"
        raise UsageError(f"there is no candidate {variant!r}", "--variant", fix)
    return tuple(
        one
        for one in series
        if (not benchmarks or one.benchmark in benchmarks)
        and (variant is None or one.variant == variant)
    )


def _cautions(
    raws: Sequence[RawNight], left_out: Sequence[tuple[str, str]], cut: int
) -> Iterator[Caution]:
    if cut:
        words = f"the newest {NIGHTS_MOST} nights were read: {counted(cut, 'older one')} left out"
        yield Caution("older-nights-left-out", words, short=ShortSentence(words))
    if left_out:
        names, many = tuple(name for name, _ in left_out), counted(len(left_out), "night")
        phrase = listed([f"{name}: {why}" for name, why in left_out], 3, mark="; ", last="; and")
        short = ShortSentence.of(f"{many} left out: {{}}", names)
        yield Caution("nights-left-out", f"{many} left out: {phrase}", names, short)
    if names := tuple(one.name for one in raws if not all(x.complete for x in one.parts.values())):
        text = f"{figures_of(names)} not complete: the complete sessions count"
        short = ShortSentence(f"{counted(len(names), 'night')} not complete")
        yield Caution("incomplete-nights", text, names, short)
    yield from _of_cells(raws)
    yield from _alternating(raws)


def _of_cells(raws: Sequence[RawNight]) -> Iterator[Caution]:
    """Say in how many nights which cells have what their trials name; totals are those of the newest nights."""
    for field, (code, text, short) in _OF_CELLS.items():
        nights: dict[str, list[str]] = {}
        for raw in raws[-_NEWEST:] if field == "totals" else raws:
            for cell in dict.fromkeys(x for one in raw.parts.values() for x in getattr(one, field)):
                nights.setdefault(cell, []).append(raw.name)
        if nights:
            words = "; ".join(f"{x} in {figures_of(names)}" for x, names in [*nights.items()][:3])
            more = f"; and {counted(len(nights) - 3, 'more cell')}" if len(nights) > 3 else ""
            about = tuple(dict.fromkeys(cell.rpartition(" / ")[0] for cell in nights))
            found = ShortSentence.of(short, tuple(nights))
            yield Caution(code, text.format(f"{words}{more}"), about, found)


def _alternating(raws: Sequence[RawNight]) -> Iterator[Caution]:
    """Say where trials of several hosts stand in one series in turn."""
    turns: dict[str, list[tuple[str, str]]] = {}
    for raw in raws:
        own = (raw.first.host_id, raw.first.host)
        if raw.fleet or raw.first.origin == "imported" or own[0] == "unknown":
            continue
        if turns.setdefault(raw.campaign, [own])[-1][0] != own[0]:
            turns[raw.campaign].append(own)
    for name, hosts in turns.items():
        if len({host_id for host_id, _ in hosts}) < len(hosts):
            texts = tuple(dict.fromkeys(host for _, host in hosts))
            yield Caution(
                "hosts-alternate",
                f"the trials of {name} are of {listed(texts, 3)} in turn: what hosts differ in stands "
                "between the nights. Name the trials of one host",
                texts,
                ShortSentence("trials of several hosts stand in one series in turn"),
            )
