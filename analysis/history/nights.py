"""`read_nights`: trials, folders of them, fleets and files of other tools become series."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..announcing import meanwhile
from ..data.host_record import ordered_variants_of
from ..errors import FairtrialError, InsufficientDataError, StoreError, UsageError
from ..pages.model import Caution, ShortSentence
from ..pages.number_format import counted, listed
from ..record.commits import (
    NO_PROGRAMS,
    for_reading,
    is_cut_off,
    remedy_in,
    way_to_bisections,
    with_settings,
)
from .night_values import NIGHTS_MOST, NightPlace, Nights, NightSeries, places_in, without_copies
from .series import NightReader, RawNight, SeriesMaker, figures_of

if TYPE_CHECKING:
    from ..record.run_numbers import Better

_Place = TypeVar("_Place", NightPlace, RawNight)

# --- Orders commits as a repository's history does; git is asked, and nothing is written.


_NAME = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])")


def commits_in(text: str) -> tuple[str, ...]:
    """Give what in a name may be a commit."""
    return tuple(dict.fromkeys(_NAME.findall(text)))


def without_commits(text: str) -> str:
    """Give a name without what may be a commit in it; a word without a digit is taken for a word."""
    return _NAME.sub(lambda match: "" if any(map(str.isdigit, match[0])) else match[0], text)


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
    for name, sha in zip(wanted, _resolved(repository, wanted), strict=True):
        if sha is not None:
            known.setdefault(sha, []).append(name)
    if not known:
        return {}
    told = _git(repository, "rev-list", "--topo-order", "--reverse", *known) or ""
    order = {sha: k for k, sha in enumerate(told.split()) if sha in known}
    if not known.keys() <= order.keys():
        raise _cut_off(repository)
    return {name: order[sha] for sha, all_ in known.items() for name in all_}


def _resolved(repository: Path, names: list[str]) -> Iterator[str | None]:
    asked = "".join(f"{name}^{{commit}}\n" for name in names)
    told = _git(repository, "cat-file", "--batch-check=%(objectname)", asked=asked)
    lines = [""] * len(names) if told is None else told.splitlines()
    if len(lines) != len(names):
        raise _cut_off(repository)
    for line in lines:
        yield line if re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", line) else None


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

    What was read is kept in this user's cache, and read again where a trial has changed.

    Parameters
    ----------
    places : sequence of str or Path
        Trials, fleets, files of other tools, or folders: of a folder all trials and fleets below it;
        where it has none, all files of other tools.
    benchmarks : sequence of str, optional
        Take these alone.
    variant : str, optional
        Take this candidate alone.
    metric : str, optional
        By default, for each campaign, the first that its newest trial's `judge` names.
    better : {"lower", "higher"}, optional
        Which direction is better, where files of other tools do not say it.
    plain : bool
        Take the values of each variant by itself, not its difference from the baseline.
    least : int
        How many nights there must be, 2 or 1: of a folder that begins to fill one is enough.

    Returns
    -------
    Nights
        Series end where nothing behind may be compared with what is before.

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
        from ..importers.naming import ReadingChoices
        from .imported_nights import read_imported

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
        raws, left_out = _read(kept, metric)
    if not raws:
        raise _without_values(places, found, left_out, fix)
    said = {raw.first.better for raw in raws} - {better}
    if better is not None and said:
        raise UsageError(
            f"in these nights {said.pop()} values are better",
            str(places[0]),
            f"leave out --better {better}",
        )
    maker = SeriesMaker(plain=plain)
    with meanwhile("ordering nights"):
        for raw in raws:
            maker.add(raw)
    series = _chosen(maker.series(), raws, benchmarks, variant, plain=plain)
    hosts = dict.fromkeys(
        host for raw in raws for host in (raw.hosts or (raw.first.host,)) if host != "unknown"
    )
    return Nights(
        place=str(places[0]) if len(places) == 1 else counted(len(found), found[0].kind),
        hosts=tuple(hosts),
        series=series,
        left_out=tuple(left_out),
        cut=cut,
        cautions=(*_cautions(raws, left_out, cut), *maker.cautions()),
    )


def _without_values(
    given: Sequence[str | Path],
    found: Sequence[NightPlace],
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
    told = "; ".join(f"{name}: {why}" for name, why in left_out[:3])
    if len(left_out) > 1 and len({why for _, why in left_out}) == 1:
        told = f"in each of {counted(len(left_out), 'night')}, {left_out[0][1]}"
    return InsufficientDataError(f"no night has a value: {told}", where, fix, n=0, needed=2)


def _require_several(found: Sequence[NightPlace], given: Sequence[str | Path], least: int) -> None:
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
    alone = f"fairtrial verdict {path} judges one"
    if found[0].kind == "file":
        alone = f"fairtrial import {path} --dry-run says what one holds"
    if found[0].kind == "trial" and ordered_variants_of(path) is not None:
        alone = f"fairtrial history {path} reads the variants of this one as a series"
    fix = f"name the trials of several nights, or their folder; {alone}"
    raise UsageError("one night is no series", where, fix)


def _newest(places: Sequence[_Place]) -> tuple[list[_Place], int]:
    """Take the newest nights of each campaign, and count the others."""
    count = Counter(place.campaign for place in places)
    kept = []
    for place in places:
        count[place.campaign] -= 1
        if count[place.campaign] < NIGHTS_MOST:
            kept.append(place)
    return kept, len(places) - len(kept)


def _read(
    places: Sequence[NightPlace], metric: str | None
) -> tuple[list[RawNight], list[tuple[str, str]]]:
    """Read trials and fleets; of each campaign all by the metric that its newest one is asked for."""
    with meanwhile("reading"), closing(NightReader()) as reader:
        every = [(place, reader.night(place, metric)) for place in reader.announced(places)]
        read = [(place, raw) for place, raw in every if raw is not None]
        asked = {raw.campaign: raw.first.metric for _, raw in read}  # by the newest of each
        found = []
        for place, raw in read:
            wanted = asked[raw.campaign]
            again = raw if raw.first.metric == wanted else reader.night(place, wanted)
            if again is not None:
                found.append(again)
        return found, reader.left_out


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
        said = f"the newest {NIGHTS_MOST} nights were read: {counted(cut, 'older one')} left out"
        yield Caution("older-nights-left-out", said, short=ShortSentence(said))
    if left_out:
        names, many = tuple(name for name, _ in left_out), counted(len(left_out), "night")
        told = listed([f"{name}: {why}" for name, why in left_out], 3, mark="; ", last="; and")
        short = ShortSentence.of(f"{many} left out: {{}}", names)
        yield Caution("nights-left-out", f"{many} left out: {told}", names, short)
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
            told = "; ".join(f"{x} in {figures_of(names)}" for x, names in [*nights.items()][:3])
            more = f"; and {counted(len(nights) - 3, 'more cell')}" if len(nights) > 3 else ""
            about = tuple(dict.fromkeys(cell.rpartition(" / ")[0] for cell in nights))
            said = ShortSentence.of(short, tuple(nights))
            yield Caution(code, text.format(f"{told}{more}"), about, said)


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
            told = tuple(dict.fromkeys(host for _, host in hosts))
            yield Caution(
                "hosts-alternate",
                f"the trials of {name} are of {listed(told, 3)} in turn: what hosts differ in stands "
                "between the nights. Name the trials of one host",
                told,
                ShortSentence("trials of several hosts stand in one series in turn"),
            )
