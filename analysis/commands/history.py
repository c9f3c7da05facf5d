"""The subcommand ``history``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import UsageError
from ..options import command
from ..record.manifest import asked_words
from .options import Metric, check_file, show, write_file
from .verdict import allow_missing_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..record.run_numbers import Better
    from ..stats.multiplicity import Correction

_FOLDER = "runs"
# options of nights, which ordered variants of one trial do not have
_OF_NIGHTS = (
    *("better", "since", "gate", "allow_missing", "horizon", "independent", "plain", "output"),
)


class _Asked(Metric):
    better: Better | None
    benchmark: list[str] | None
    variant: list[str] | None
    risk: float
    correction: Correction | None
    independent: bool
    plain: bool
    since: str | None
    gate: str | None
    allow_missing: list[str] | None
    horizon: int | None
    output: str | None
    json: bool
    format: str


@command("history", "json", "format")
def history(*, places: list[str], args: _Asked, out: TextIO, err: TextIO) -> int:
    """Tell where the trials of many nights changed, and whether program or host did it.

    There is one value a night, paired with the baseline, and intervals that each hold a change. One
    trial whose campaign has 'series: on' is read as the series of its variants.

    exit code: 0; with --gate: 1 proven, 0 ruled out, 7 neither
    """
    from ..history.judging import judge_nights, with_gone
    from ..history.nights import read_nights
    from ..pages.result import parse_condition

    places = places or [_FOLDER]
    if args.gate is not None:
        parse_condition(args.gate)  # before anything is read
    ordered = _ordered_variants(places)
    if ordered is not None:
        return _of_variants(ordered, args, out)
    variants = list(dict.fromkeys(args.variant or ()))
    if len(variants) > 1:
        raise UsageError("one --variant can be named", ", ".join(variants), "name one, or none")
    page = None if args.output is None else Path(args.output)
    if page is not None:
        if page.suffix.lower() not in (".html", ".htm"):
            fix = "name FILE.html, or print --format md or --json"
            raise UsageError("the page is HTML", str(page), fix)
        check_file(page)
    nights = read_nights(
        places,
        benchmarks=args.benchmark,
        variant=variants[0] if variants else None,
        **args.some("metric", "better", "plain"),
        least=1 if args.gate is not None and _is_filling(places) else 2,
    )
    found = judge_nights(
        nights,
        **args.some("risk", "correction", "since", "gate", "independent"),
        horizon=100 if args.horizon is None else args.horizon,
        asked=tuple(_again(args, places)),
    )
    found = with_gone(found, nights, since=args.since, allowed=args.allow_missing or [])
    show(found, out, as_json=args.json, markdown=args.format == "md")
    if page is not None:
        from ..report.history import history_html

        write_file(page, history_html(found))
        out.flush()
        err.write(f"wrote {page}\n")
    return found.exit_code


def _is_filling(places: Sequence[str]) -> bool:
    """Tell whether one folder of nights is named, and no trial: its first night is the begin of a series."""
    from ..record.fleet import is_fleet
    from ..record.trial_files import MANIFEST

    path = Path(places[0])
    named = is_fleet(path) or (path / MANIFEST).exists()
    return len(places) == 1 and path.is_dir() and not named


def _ordered_variants(places: Sequence[str]) -> Path | None:
    """Give the trial that is named alone, where its campaign has ``series: on``."""
    from ..data.host_record import ordered_variants_of
    from ..record.trial_files import MANIFEST

    path = Path(places[0])
    alone = len(places) == 1 and (path / MANIFEST).is_file()
    return path if alone and ordered_variants_of(path) is not None else None


def _of_variants(path: Path, args: _Asked, out: TextIO) -> int:
    from ..history.ordered import ordered_variants
    from ..importers.reader import open_trial

    for option in args.given(*_OF_NIGHTS):
        raise UsageError(
            f"{option} is for the trials of several nights, and this is one trial of ordered variants",
            str(path),
            f"leave out {option}, or name several trials",
        )
    result = ordered_variants(
        open_trial(path),
        metric=args.metric,
        benchmarks=args.benchmark,
        variants=args.variant,
        risk=args.risk,
        correction=args.correction or "holm",
    )
    show(result, out, as_json=args.json, markdown=args.format == "md")
    return 0


def _again(args: _Asked, places: Sequence[str]) -> Iterator[str]:
    """Give the words that ask the same again, without the outputs."""
    yield from places
    for option in ("benchmark", "variant"):
        for name in getattr(args, option) or ():
            yield from (f"--{option}", name)
    for option in ("metric", "better", "correction", "since", "gate"):
        if (value := getattr(args, option)) is not None:
            yield from (f"--{option}", value)
    yield from allow_missing_words(args.allow_missing)
    yield from asked_words()
    if args.risk != 0.05:
        yield from ("--risk", f"{args.risk:g}")
    if args.horizon is not None:
        yield from ("--horizon", str(args.horizon))
    yield from (f"--{option}" for option in ("independent", "plain") if getattr(args, option))
    if args.output is not None:
        yield from ("-o", args.output)
