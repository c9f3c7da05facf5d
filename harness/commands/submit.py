"""The subcommands ``submit``, ``status`` and ``cancel``: trials and fleets that are on their way."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .options import RUNS, add_command, add_folder, add_wait, positive, write_json, write_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.errors import StoreError
    from analysis.history.bisection import Bisection

    from ..fleet.status import FleetStanding
    from ..fleet.submission import Submission
    from .options import Subparsers


_SHOWN = 8


def add_submit(subparsers: Subparsers) -> None:
    """Add ``submit``."""
    parser = add_command(
        subparsers,
        "submit",
        description="Submit a campaign to Slurm: one job and one trial for each host, all in one "
        "folder, a fleet. A job that reaches its time limit, is requeued, or loses its node "
        "continues where it was. Options after -- are passed to sbatch.",
        examples="""
campaign.yaml --hosts 'lab[1-8]' --dry-run         show the script and the jobs; submit nothing
campaign.yaml --hosts 'lab[1-8]' --time 2:00:00    these hosts, jobs of at most two hours
campaign.yaml --partition batch --count 4          four hosts of a partition
campaign.yaml --hosts lab1,lab2 -- --account=me    with more options of sbatch
runs/FLEET --resume                                jobs for the hosts that are not complete
""",
    )
    parser.add_argument(
        "campaign", type=Path, help="the campaign; with --resume, the folder of the fleet"
    )
    parser.add_argument("--hosts", metavar="LIST", help="the nodes, in Slurm's notation")
    parser.add_argument(
        "--partition", metavar="NAME", help="the partition (default: the cluster's)"
    )
    parser.add_argument(
        "--count",
        type=positive,
        metavar="N",
        help="number of hosts of the partition (default: all)",
    )
    parser.add_argument(
        "--time",
        metavar="LIMIT",
        help="time limit of each job, in Slurm's notation (default: twice the time of the plan, "
        "according to an earlier trial)",
    )
    parser.add_argument(
        "--build",
        choices=("node", "once"),
        default="node",
        help="build the programs in each job, or once here before the jobs are submitted "
        "(default: node)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="submit jobs for what the fleet has not measured yet"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show the script and the jobs; write nothing"
    )
    parser.add_argument(
        "--seed", type=int, help="seed to use instead of the campaign's (default: the campaign's)"
    )
    add_folder(parser)
    add_wait(parser)
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.set_defaults(run=_submit, sbatch=())
    whole = parser.parse_known_args

    def without_tail(
        args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Leave what stands behind ``--`` to sbatch: argparse would take it for our positions."""
        words = list(args or ())
        cut = words.index("--") if "--" in words else len(words)
        found, left = whole(words[:cut], namespace)
        found.sbatch = tuple(words[cut + 1 :])
        return found, left

    parser.parse_known_args = without_tail  # type: ignore[assignment,method-assign]  # of this command alone


def _submit(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from analysis.errors import UsageError
    from analysis.record.fleet import is_fleet

    if args.resume:
        planned = _again(args)
    elif is_fleet(args.campaign):
        what = "this is a fleet, and no campaign"
        raise UsageError(what, str(args.campaign), "add --resume to go on with it")
    else:
        planned = _first(args)
    for note in planned.notes:
        err.write(f"note    {note}\n")
    if not args.dry_run:
        planned = planned.execute(lambda text: err.write(f"{text}\n"))
    if args.json or args.dry_run:
        write_result(planned, out, as_json=args.json)
    else:
        out.write(_told(planned))
    return 0


def _first(args: argparse.Namespace) -> Submission:
    from analysis.errors import UsageError

    from ..campaign.defaults import own_defaults
    from ..campaign.resolve import load_campaign
    from ..fleet.submission import Wishes, checked_arguments, submission_of

    if args.hosts is None and args.partition is None:
        what = "neither hosts nor a partition is given"
        raise UsageError(what, None, "add --hosts 'lab[1-8]', or --partition NAME --count N")
    if args.hosts is not None and args.count is not None:
        what = "--count takes some hosts of a partition, and --hosts names them"
        raise UsageError(what, None, "leave out one of the two")
    wishes = Wishes(
        hosts=args.hosts,
        partition=args.partition,
        count=args.count,
        time=args.time,
        wait_s=args.wait_for_lock,
        build=args.build,
        seed=args.seed,
        arguments=checked_arguments(args.sbatch),
    )
    campaign = load_campaign(args.campaign, seed=args.seed, own=own_defaults())
    return submission_of(campaign, wishes, args.dir)


def _again(args: argparse.Namespace) -> Submission:
    from analysis.errors import UsageError

    from ..fleet.status import resubmission_of

    given = {
        "--hosts": args.hosts is not None,
        "--partition": args.partition is not None,
        "--count": args.count is not None,
        "--seed": args.seed is not None,
        "--build": args.build != "node",
        "--wait-for-lock": args.wait_for_lock != 0.0,
        "--dir": args.dir != RUNS,
        "what stands after --": bool(args.sbatch),
    }
    wrong = [option for option, there in given.items() if there]
    if wrong:
        what = f"{wrong[0]} does not go with --resume: a fleet continues as it was submitted"
        fix = "only --time may change; for other hosts or options submit a new fleet"
        raise UsageError(what, None, fix)
    return resubmission_of(args.campaign, args.time)


def _told(submitted: Submission) -> str:
    import shlex

    from ..errors import counted

    place = shlex.quote(str(submitted.folder))
    if not submitted.hosts:
        return f"{submitted.folder.name}: no host needs another job\n"
    pairs = list(zip(submitted.hosts, submitted.jobs, strict=True))
    jobs = ", ".join(f"{host} ({job})" for host, job in pairs[:_SHOWN])
    jobs += f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
    return (
        f"submitted {counted(len(submitted.jobs), 'job')}: {jobs}\n"
        f"follow: fairtrial status {place}\n"
        f"end:    fairtrial cancel {place}\n"
        f"then:   fairtrial verdict {place}\n"
    )


def add_status(subparsers: Subparsers) -> None:
    """Add ``status``."""
    parser = add_command(
        subparsers,
        "status",
        description="Show how far trials are, how they ended, and how to continue them; for a "
        "fleet, host by host, with the state of its jobs. With --diff, show what changed in the "
        "environment between sessions, or compare two trials as 'fairtrial diff' does.",
        examples="""
                                   all trials in runs/
runs/NAME                          one trial, or a fleet
--diff runs/NAME                   changes between its sessions
--diff runs/A runs/B               from A to B
""",
    )
    parser.add_argument(
        "trial", nargs="?", type=Path, help="a trial, or a fleet (default: all in --dir)"
    )
    add_folder(parser)
    parser.add_argument(
        "--diff",
        nargs="*",
        type=Path,
        metavar="TRIAL",
        help="show what changed in the environment between the sessions of a trial; or compare "
        "two trials, as 'fairtrial diff' does",
    )
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.epilog = (
        f"{parser.epilog}\nexit code: 5 if TRIAL has ended and its files or rows are not those "
        "that it wrote"
    )
    parser.set_defaults(run=_status)


def _status(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    if args.diff is not None:
        return _differences(args, out)
    from analysis.errors import StoreError
    from analysis.record.bisections import is_bisection
    from analysis.record.fleet import is_fleet
    from analysis.words import WIDTH

    from ..errors import wrapped
    from ..fleet.slurm import Scheduler
    from ..fleet.status import read_standing, trials_standing
    from ..trial.progress import listed, read_progress, trials_in

    found = []
    fleets: tuple[FleetStanding, ...] = ()
    bisections: list[Bisection] = []
    if args.trial is not None and (is_fleet(args.trial) or is_bisection(args.trial)):
        fleet = is_fleet(args.trial)
        shown = read_standing(args.trial, Scheduler()) if fleet else _bisection_in(args.trial)
        write_result(shown, out, as_json=args.json)
        return 0
    if args.trial is not None:
        found.append(read_progress(args.trial))
    else:
        trials = trials_in(args.dir)
        fleets, damaged = trials_standing(args.dir)
        unreadable = [*trials.unreadable, *damaged]
        for path, _ in trials.found:
            try:
                found.append(read_progress(path))
            except StoreError as error:  # one damaged trial hides no other
                unreadable.append(error)
        bisections, broken = _bisections_below(args.dir)
        unreadable += broken
        for reason in unreadable:
            err.write(f"fairtrial: {reason}\n")
    if args.json:
        data = [one.to_dict() for one in found] + [one.to_dict() for one in fleets]
        write_json(data + [one.to_dict() for one in bisections], out)
    elif not (found or fleets or bisections):
        out.write(f"no trials in {args.dir}\n")
    else:
        newest = sorted(found, key=lambda progress: progress.started, reverse=True)
        lines = [str(found[0])] if args.trial is not None else listed(newest)
        lines += [str(one) for one in fleets]
        told = (f"{one.path}  {one.sentence}" for one in bisections)
        lines += [part for line in told for part in wrapped(line, "", " " * 6, WIDTH)]
        if args.trial is None and newest:
            lines += newest[0].next_lines()
        out.write("\n".join(lines) + "\n")
    named = args.trial is not None
    return StoreError.exit_code if named and found[0].misfits else 0


def _bisection_in(folder: Path) -> Bisection:
    from analysis.history.bisection import bisection_in

    return bisection_in(folder)


def _bisections_below(folder: Path) -> tuple[list[Bisection], list[StoreError]]:
    """Read the bisections in a folder, and say which cannot be read."""
    from analysis.errors import StoreError
    from analysis.record.bisections import is_bisection

    found: list[Bisection] = []
    broken: list[StoreError] = []
    for path in sorted(folder.glob("*")):
        try:
            found += [_bisection_in(path)] if is_bisection(path) else []
        except StoreError as error:
            broken.append(error)
    return found, broken


def _differences(args: argparse.Namespace, out: TextIO) -> int:
    from analysis.errors import UsageError

    from ..host.snapshot import compare_environments

    trials = [*([] if args.trial is None else [args.trial]), *args.diff]
    if len(trials) not in {1, 2}:
        what = f"--diff compares one trial's sessions, or two trials, not {len(trials)}"
        raise UsageError(what, None, "write fairtrial status --diff TRIAL [OTHER]")
    if len(trials) == 2:
        from analysis.commands.diff import write_comparison

        write_comparison((trials[0], trials[1]), out, as_json=args.json)
        return 0
    write_result(compare_environments(trials[0], None), out, as_json=args.json)
    return 0


def add_cancel(subparsers: Subparsers) -> None:
    """Add ``cancel``."""
    parser = add_command(
        subparsers,
        "cancel",
        description="Cancel the waiting and running jobs of a fleet, and wait until they have "
        "ended. Everything measured is kept. Jobs of others are never touched.",
        examples="runs/FLEET                     go on later with: fairtrial submit runs/FLEET "
        "--resume",
    )
    parser.add_argument("fleet", type=Path, help="the folder of the fleet")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.set_defaults(run=_cancel)


def _cancel(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from ..fleet.status import cancel

    done = cancel(args.fleet, lambda text: err.write(f"{text}\n"))
    write_result(done, out, as_json=args.json)
    return 0
