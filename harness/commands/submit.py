"""The subcommand ``submit``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import RUNS, add_command, add_folder, add_wait, positive, write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..fleet import Submission
    from .arguments import Subparsers

_SHOWN = 8


def add(subparsers: Subparsers) -> None:
    """Add ``submit``."""
    parser = add_command(
        subparsers,
        "submit",
        summary="execute a campaign on many hosts, through Slurm",
        description="Submit a campaign to Slurm: one job and one trial for each host, in one folder, "
        "a fleet.\nA job that meets its time limit, is requeued, or loses its node goes on where it "
        "was.\nWhat stands after -- goes to sbatch.",
        examples="""
campaign.yaml --hosts 'lab[1-8]' --dry-run        the script and the jobs; submits nothing
campaign.yaml --hosts 'lab[1-8]' --time 2:00:00   these hosts, each for at most so long at once
campaign.yaml --partition batch --count 4         four hosts of a partition
campaign.yaml --hosts lab1,lab2 -- --account=me   with further options of sbatch
runs/FLEET --resume                               jobs for the hosts that are not complete
""",
    )
    parser.add_argument(
        "campaign", type=Path, help="the campaign; with --resume the fleet's folder"
    )
    parser.add_argument("--hosts", metavar="LIST", help="the nodes, as Slurm writes them")
    parser.add_argument("--partition", metavar="NAME", help="default: the cluster's")
    parser.add_argument(
        "--count", type=positive, metavar="N", help="so many hosts of the partition (default: all)"
    )
    parser.add_argument(
        "--time",
        metavar="LIMIT",
        help="time limit of each job, in Slurm's notation (default: twice what the plan takes, from "
        "an earlier trial)",
    )
    parser.add_argument(
        "--build",
        choices=("node", "once"),
        default="node",
        help="build the programs in each job, or once here, before submission (default: node)",
    )
    parser.add_argument(
        "--scratch",
        type=Path,
        metavar="DIR",
        help="measure on this folder of each node's own disk, and copy at the end of each session",
    )
    parser.add_argument(
        "--resume", action="store_true", help="submit jobs for what a fleet has not measured"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show script and jobs; write nothing"
    )
    parser.add_argument("--seed", type=int, help="in place of the campaign's (default: that)")
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
    from analysis.record import is_fleet

    from ..errors import UsageError

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
    if args.json:
        write_json(planned.to_dict(), out)
    elif args.dry_run:
        out.write(f"{planned}\n")
    else:
        out.write(_told(planned))
    return 0


def _first(args: argparse.Namespace) -> Submission:
    from ..campaign import load_campaign, own_defaults
    from ..errors import UsageError
    from ..fleet import Wishes, checked_arguments, submission_of

    if args.hosts is None and args.partition is None:
        what = "neither hosts nor a partition are named"
        raise UsageError(what, None, "add --hosts 'lab[1-8]', or --partition NAME --count N")
    if args.hosts is not None and args.count is not None:
        what = "--count takes some hosts of a partition, and --hosts names them"
        raise UsageError(what, None, "leave out one of the two")
    if args.scratch is not None and not args.scratch.is_absolute():
        what = f"every node has its own {args.scratch}"
        raise UsageError(what, "--scratch", "name an absolute path, such as --scratch /local/you")
    wishes = Wishes(
        hosts=args.hosts,
        partition=args.partition,
        count=args.count,
        time=args.time,
        wait_s=args.wait_for_lock,
        scratch=args.scratch,
        build=args.build,
        seed=args.seed,
        arguments=checked_arguments(args.sbatch),
    )
    campaign = load_campaign(args.campaign, seed=args.seed, own=own_defaults())
    return submission_of(campaign, wishes, args.dir)


def _again(args: argparse.Namespace) -> Submission:
    from ..errors import UsageError
    from ..fleet import resubmission_of

    given = {
        "--hosts": args.hosts is not None,
        "--partition": args.partition is not None,
        "--count": args.count is not None,
        "--seed": args.seed is not None,
        "--scratch": args.scratch is not None,
        "--build": args.build != "node",
        "--wait-for-lock": args.wait_for_lock != 0.0,
        "--dir": args.dir != RUNS,
        "what stands after --": bool(args.sbatch),
    }
    wrong = [option for option, there in given.items() if there]
    if wrong:
        raise UsageError(
            f"{wrong[0]} does not go with --resume: a fleet is gone on with as it was submitted",
            None,
            "only --time may change; for other hosts or options submit a new fleet",
        )
    return resubmission_of(args.campaign, args.time)


def _told(submitted: Submission) -> str:
    """Say what was submitted, and what comes next."""
    import shlex

    from ..wording import counted

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
