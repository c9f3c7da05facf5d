"""The subcommands ``submit``, ``status`` and ``cancel``: trials and fleets that are on their way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO, TypeVar

from analysis.errors import StoreError, UsageError
from analysis.options import Given, command
from analysis.record.printer import write_json
from analysis.words import WIDTH

from ..errors import counted, wrapped
from .options import RUNS, write_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from analysis.history.bisection import Bisection

    from ..fleet.status import FleetStanding
    from ..fleet.submission import Submission
    from ..trial.progress import TrialProgress

T = TypeVar("T")


class _Options(Given):
    campaign: Path
    hosts: str | None
    partition: str | None
    count: int | None
    time: str | None
    build: Literal["node", "once"]
    resume: bool
    dry_run: bool
    seed: int | None
    dir: Path
    wait_for_lock: float
    sbatch: tuple[str, ...]


@command("submit", tail="sbatch")
def submit(*, args: _Options, json: bool, quiet: bool, out: TextIO, err: TextIO) -> int:
    """Submit a campaign to Slurm: one job and one trial for each host, all in one folder, a fleet.

    A job that reaches its time limit, is requeued, or loses its node continues where it was. Options
    after -- are passed to sbatch.

    Examples
    --------
    campaign.yaml --hosts 'lab[1-8]' --dry-run         show the script and the jobs; submit nothing
    campaign.yaml --hosts 'lab[1-8]' --time 2:00:00    these hosts, jobs of at most two hours
    campaign.yaml --partition batch --count 4          four hosts of a partition
    campaign.yaml --hosts lab1,lab2 -- --account=me    with more options of sbatch
    runs/FLEET --resume                                jobs for the hosts that are not complete
    """
    from analysis.record.fleet import is_fleet

    from .live_view import View

    if args.resume:
        planned = _again(args)
    elif is_fleet(args.campaign):
        what = "this is a fleet, and no campaign"
        raise UsageError(what, str(args.campaign), "add --resume to go on with it")
    else:
        planned = _first(args)
    say = View(err, quiet=quiet).say
    for note in planned.notes:
        say(f"note    {note}")
    if not args.dry_run:
        planned = planned.execute(say)
    if json or args.dry_run:
        write_result(planned, out, as_json=json)
    else:
        out.write(_submitted(planned))
    return 0


def _first(args: _Options) -> Submission:
    from ..campaign.resolve import load_campaign
    from ..fleet.slurm import checked_arguments
    from ..fleet.submission import Wishes, submission_of

    if args.hosts is None and args.partition is None:
        what = "neither hosts nor a partition is given"
        raise UsageError(what, None, "add --hosts 'lab[1-8]', or --partition NAME --count N")
    if args.hosts is not None and args.count is not None:
        what = "--count takes some hosts of a partition, and --hosts names them"
        raise UsageError(what, None, "leave out one of the two")
    wishes = Wishes(
        **args.some("hosts", "partition", "count", "time", "build", "seed"),
        wait_s=args.wait_for_lock,
        arguments=checked_arguments(args.sbatch),
    )
    campaign = load_campaign(args.campaign, seed=args.seed)
    return submission_of(campaign, wishes, args.dir)


def _again(args: _Options) -> Submission:
    from ..fleet.status import resubmission_of

    usual: dict[str, object] = dict.fromkeys(("hosts", "partition", "count", "seed"))
    usual |= {"build": "node", "wait_for_lock": 0.0, "dir": RUNS, "sbatch": ()}
    wrong = [name for name, value in usual.items() if getattr(args, name) != value]
    if wrong:
        option = (
            f"--{wrong[0].replace('_', '-')}" if wrong != ["sbatch"] else "what stands after --"
        )
        what = f"{option} does not go with --resume: a fleet continues as it was submitted"
        fix = "only --time may change; for other hosts or options submit a new fleet"
        raise UsageError(what, None, fix)
    return resubmission_of(args.campaign, args.time)


def _submitted(submitted: Submission) -> str:
    import shlex

    from ..fleet.submission import listed

    place = shlex.quote(str(submitted.folder))
    if not submitted.hosts:
        return f"{submitted.folder.name}: no host needs another job\n"
    pairs = zip(submitted.hosts, submitted.jobs, strict=True)
    jobs = listed([f"{host} ({job})" for host, job in pairs])
    return (
        f"submitted {counted(len(submitted.jobs), 'job')}: {jobs}\n"
        f"follow: fairtrial status {place}\n"
        f"end:    fairtrial cancel {place}\n"
        f"then:   fairtrial verdict {place}\n"
    )


@command("status")
def status(
    *, trial: Path | None, dir: Path, diff: bool, json: bool, out: TextIO, err: TextIO
) -> int:
    """Show how far trials are, how they ended, and how to continue them.

    A fleet is shown host by host, with the state of its jobs. With --diff, show what changed in the
    environment between the sessions of a trial.

    exit code: 5 if TRIAL has ended and its files or rows are not those that it wrote

    Examples
    --------
                                       all trials in runs/
    runs/NAME                          one trial, or a fleet
    --diff runs/NAME                   changes between its sessions
    """
    if diff:
        from ..host.snapshot import compare_environments

        if trial is None:
            raise UsageError("--diff needs a trial", None, "write fairtrial status --diff TRIAL")
        write_result(compare_environments(trial), out, as_json=json)
        return 0
    from analysis.record.fleet import is_fleet
    from analysis.record.manifest import is_bisection

    from ..fleet.slurm import Scheduler
    from ..fleet.status import read_standing
    from ..trial.progress import listed, read_progress, trials_in

    found: list[TrialProgress] = []
    fleets: list[FleetStanding] = []
    bisections: list[Bisection] = []
    if trial is not None and (is_fleet(trial) or is_bisection(trial)):
        shown = read_standing(trial, Scheduler()) if is_fleet(trial) else _bisection_in(trial)
        write_result(shown, out, as_json=json)
        return 0
    if trial is not None:
        found.append(read_progress(trial))
    else:
        trials, folders = trials_in(dir), sorted(dir.glob("*"))
        unreadable = [*trials.unreadable]

        def read_all(read: Callable[[Path], T], paths: Iterable[Path]) -> Iterator[T]:
            for path in paths:
                try:
                    yield read(path)
                except StoreError as error:  # one that is damaged hides no other
                    unreadable.append(error)

        found += read_all(read_progress, (path for path, _ in trials.found))
        fleets += read_all(lambda path: read_standing(path, None), filter(is_fleet, folders))
        bisections += read_all(_bisection_in, filter(is_bisection, folders))
        err.writelines(f"fairtrial: {reason}\n" for reason in unreadable)
    if json:
        data = [one.to_dict() for one in found] + [one.to_dict() for one in fleets]
        write_json(data + [one.to_dict() for one in bisections], out)
    elif not (found or fleets or bisections):
        out.write(f"no trials in {dir}\n")
    else:
        newest = sorted(found, key=lambda progress: progress.started, reverse=True)
        lines = [str(found[0])] if trial is not None else listed(newest)
        lines += [str(one) for one in fleets]
        texts = (f"{one.path}  {one.sentence}" for one in bisections)
        lines += [part for line in texts for part in wrapped(line, "", " " * 6, WIDTH)]
        if trial is None and newest:
            lines += newest[0].next_lines()
        out.write("\n".join(lines) + "\n")
    return StoreError.exit_code if trial is not None and found[0].misfits else 0


def _bisection_in(folder: Path) -> Bisection:
    from analysis.history.bisection import bisection_in

    return bisection_in(folder)


@command("cancel")
def cancel(*, fleet: Path, json: bool, quiet: bool, out: TextIO, err: TextIO) -> int:
    """Cancel the waiting and running jobs of a fleet, and wait until they have ended.

    Everything measured is kept. Jobs of others are never touched.

    Examples
    --------
    runs/FLEET                     go on later with: fairtrial submit runs/FLEET --resume
    """
    from ..fleet.status import cancel as end_jobs
    from .live_view import View

    done = end_jobs(fleet, View(err, quiet=quiet).say)
    write_result(done, out, as_json=json)
    return 0
