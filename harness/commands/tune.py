"""The subcommand ``tune``: the one that changes settings of the host, and puts them back."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from analysis.errors import UsageError
from analysis.options import command
from analysis.record.printer import write_json
from analysis.words import WIDTH

from ..errors import HostError, counted, wrapped
from .options import Talk

if TYPE_CHECKING:
    from ..tune.proposal import Proposal, Wish
    from ..tune.tuner import Tuned

_ROOT = Path("/")
_UNDO = "fairtrial tune --undo"


class _Options(Talk):
    campaign: Path | None
    dry_run: bool
    yes: bool
    offline_sibling: bool
    undo: bool
    argv: list[str]


@command("tune")
def tune(*, args: _Options, out: TextIO, err: TextIO) -> int:
    """Change, as root, the settings of this host that the doctor named.

    These are governor or energy preference, boost, large pages, the rate of profilers, interrupts, and
    an isolated partition. The exact list is shown first, and you are asked. With a command, the
    settings are put back when it ends, and it is executed as the user who called sudo. Without a
    command, the settings stay until --undo.

    Examples
    --------
    --dry-run      show what would be changed
    -- fairtrial run c.yaml    change, measure, put back
    --undo         put everything back
    """
    argv = args.argv[1:] if args.argv[:1] == ["--"] else args.argv
    if args.argv and args.argv[0] != "--":
        what = f"{args.argv[0]!r} is not an option of tune"
        raise UsageError(what, None, "write -- before a COMMAND")
    if args.argv and not argv:
        raise UsageError("there is no command after --", None, "write it, or leave out --")
    if args.json and argv:
        what = "--json does not go with a COMMAND, whose output would be mixed with it"
        raise UsageError(what, None, "leave out --json")
    return (_undo if args.undo else _change)(args, argv, out, err)


def _undo(args: _Options, argv: list[str], out: TextIO, err: TextIO) -> int:
    from ..tune.tuner import lines_of, undo_tuning

    if argv or args.campaign or args.dry_run or args.yes or args.offline_sibling:
        what = "--undo stands alone: it puts back everything that was changed"
        raise UsageError(what, None, f"sudo {_UNDO}")
    _must_be_root(f"sudo {_UNDO}")
    undone = undo_tuning(_ROOT)
    if args.json:
        write_json(undone.to_dict() if undone else {"undone": None}, out)
    elif undone is None:
        out.write("there is nothing to put back\n")
    else:
        out.write("".join(f"{line}\n" for line in lines_of(undone)))
    if undone is None or undone.settled:
        return 0
    err.write(f"fairtrial: not everything could be put back; fix the cause, then {_UNDO}\n")
    return 3


def _change(args: _Options, argv: list[str], out: TextIO, err: TextIO) -> int:
    from ..tune.tuner import Tuned, caller_of, survey, tune as apply
    from .live_view import View

    proposal = survey(_wish(args, argv), _ROOT)
    if args.dry_run:
        write_json(proposal.to_dict(), out) if args.json else out.write(
            _shown(proposal, args, argv)
        )
        return 0
    if not args.json:
        err.write(_shown(proposal, args, argv))
        err.flush()
    caller = caller_of(os.environ)
    if proposal.count:
        # refuse what is not allowed, cannot be asked, or would spoil the trial of somebody
        from ..tune.tuner import refuse_to_spoil

        _must_be_root(
            "sudo fairtrial tune, with the same options; --dry-run shows the list without root"
        )
        if not args.yes:
            _confirm()
        refuse_to_spoil(proposal.busy)
        if not args.yes and not _agreed(err):
            err.write("nothing was changed\n")
            return 1

    say = View(err, quiet=args.quiet).say
    done = Tuned()
    if proposal.count or argv:
        done = apply(proposal, _ROOT, argv=argv, caller=caller, tell=lambda one: say(f"  {one}"))
    if args.json:
        write_json(done.to_dict(), out)
    return _ended(done, args, err)


def _ended(done: Tuned, args: _Options, err: TextIO) -> int:
    from ..tune.tuner import lines_of

    if done.undone is not None and not done.undone.settled:
        if args.quiet:
            err.write("".join(f"  {line}\n" for line in lines_of(done.undone)))
        err.write(f"fairtrial: not everything could be put back; fix the cause, then {_UNDO}\n")
        return 3
    if done.stopped is not None:
        return 130
    if done.code is None and done.applied:
        err.write(f"the settings stay until: sudo {_UNDO}\n")
    return done.code or 0


def _wish(args: _Options, argv: list[str]) -> Wish:
    from ..tune.proposal import Wish

    wish = Wish(offline_sibling=args.offline_sibling, inside=bool(argv))
    if args.campaign is None:
        return wish
    from ..campaign.resolve import load_campaign

    return replace(wish, setting=load_campaign(args.campaign).isolation.cpus)


def _shown(proposal: Proposal, args: _Options, argv: list[str]) -> str:
    from ..host.state import format_cpus

    where = "all CPUs" if proposal.cpus is None else f"CPU {format_cpus(proposal.cpus)}"
    whose = f" (for {args.campaign})" if args.campaign else ""
    host = proposal.host or "this host"
    if proposal.count:
        lines = [f"{counted(proposal.count, 'setting')} of {host} to change, {where}{whose}:"]
    else:
        lines = [f"nothing to change on {host}, {where}{whose}"]
    for one in proposal.changes:
        text = f"{one.path}: {one.before} -> {one.after}"
        lines += wrapped(text, f"  {one.item:<10} ", " " * 13, WIDTH)
    if proposal.partition is not None:
        cpus = format_cpus(proposal.partition.cpus)
        lines.append(f"  partition  CPU {cpus} for the command only; nothing else runs there")
    for left in proposal.left:
        lines += wrapped(left.what, f"  {'left':<10} ", " " * 13, WIDTH)
    if proposal.busy:
        cpus = ", ".join(map(str, proposal.busy))
        lines.append(f"  busy       a trial measures on CPU {cpus}: nothing is changed meanwhile")
    elif proposal.busy is None:
        lines.append("  busy       the kernel does not show whether trials measure on this host")
    if proposal.count:
        end = "when the command has ended" if argv else f"by: sudo {_UNDO}"
        lines.append(f"each is put back {end}")
    return "\n".join(lines) + "\n"


def _must_be_root(fix: str) -> None:
    if os.geteuid() != 0:
        raise HostError("only root may change settings of the host", None, fix)


def _confirm() -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        what = "there is no terminal to ask on whether to change that"
        raise UsageError(what, None, "add --yes, or --dry-run to see the list only")


def _agreed(err: TextIO) -> bool:
    err.write("change it? [y/N] ")
    err.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
