"""The subcommand ``why``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from analysis.options import command

from .options import Talk

if TYPE_CHECKING:
    from ..trial.profiles import Chains

_TO_EXECUTE = ("sessions", "frequency", "chains")
_INTERRUPTED = 130


class _Options(Talk):
    trial: str | None
    benchmark: list[str] | None
    sessions: int | None
    frequency: int | None
    chains: Chains | None
    rename: list[tuple[str, str]] | None
    folded: str | None
    any: bool
    require: bool
    stored: bool
    wait_for_lock: float
    format: str


def rename(text: str) -> tuple[str, str]:
    """Read two names of a function."""
    old, equals, new = text.partition("=")
    if not (old and equals and new) or "=" in new:
        raise argparse.ArgumentTypeError(f"must be OLD=NEW, two names of functions, not {text!r}")
    return old, new


@command("why", "json", "format")
def why(*, args: _Options, out: TextIO, err: TextIO) -> int:
    """Execute two variants of a trial again under a profiler, and say which functions take longer.

    The answer has for each function how much longer it takes, with an interval over sessions. The trial
    is not changed; what is recorded goes to runs/TRIAL.why, and is part of no verdict. It
    needs Linux's perf.

    Examples
    --------
                                       the newest trial: all that its verdict calls slower
    runs/x:new --benchmark parse       one variant, one benchmark
    runs/x:new --stored                what was found last; executes nothing
    runs/x:new --stored --rename qsort_cmp=compare_keys
    """
    from analysis.commands.why import (
        exit_code_of,
        explained,
        place_of,
        stored_profiles,
        targets_of,
        write_folded,
    )
    from analysis.errors import UsageError
    from analysis.option_groups import show
    from analysis.record.printer import check_file

    from ..launch.matching import Interrupted
    from ..trial.profiles import SESSIONS
    from .bisect_view import WhyView, recorded

    for option in args.given(*_TO_EXECUTE) if args.stored else ():
        what = f"{option} is for programs that are executed, and --stored executes none"
        raise UsageError(what, None, f"leave --stored out, or {option}")
    if args.folded is not None:
        check_file(Path(args.folded))
    folder, variant = place_of(args.trial)
    names = tuple(args.benchmark or ())
    if args.stored:
        profiles = stored_profiles(folder, variant)
    else:
        targets = targets_of(folder, variant, names)
        view = WhyView(err, quiet=args.quiet, verbose=args.verbose)
        try:
            profiles = recorded(
                targets,
                view,
                sessions=args.sessions or SESSIONS,
                frequency_hz=args.frequency,
                chains=args.chains,
                wait_s=args.wait_for_lock,
            )
        except Interrupted:
            view.insist("stopped by you; nothing of it is kept, and the trial is as it was")
            return _INTERRUPTED
    answer = explained(profiles, names, renames=dict(args.rename or ()), any_total=args.any)
    show(answer, out, as_json=args.json, markdown=args.format == "md")
    if args.folded is not None:
        out.flush()
        write_folded(profiles, answer, args.folded)
        err.write(f"wrote {args.folded}\n")
    return exit_code_of(answer, require=args.require)
