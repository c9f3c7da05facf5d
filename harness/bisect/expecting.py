"""What a bisection is expected to take: commits, builds, sessions and hours, before anything is done."""

from __future__ import annotations

import contextlib
import math
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import StoreError
from analysis.words import WIDTH, next_lines, shown

from ..campaign.model import shown as with_placeholders
from ..errors import about, counted, wrapped
from ..trial.progress import read_progress, trials_in
from .bisecting import Request

if TYPE_CHECKING:
    from analysis.record.trial_files import Manifest

    from .bisecting import Question

BOTH_ENDS = 12  # sessions of step 0 and of the proof, six each, where a step is large
PER_HALVING = (1.0, 2.2)  # sessions of search, measured: large steps, and 2 % steps at 2 % noise
_BUILDS = 3  # beside one a halving: both ends, and a parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a bisection is expected to take; None where nobody knows.

    `sessions` and `seconds` are (least, most) for a step that stands out; a small step takes up to
    `sessions_at_most`. `build` are the commands that each build executes; `run_s` is what one run takes, of all benchmarks
    together, by an earlier trial.
    """

    good: str
    bad: str
    first: str
    last: str
    commits: int
    campaign: str
    variant: str
    benchmarks: tuple[str, ...]
    metric: str
    runs: int
    builds: int
    sessions: tuple[int, int]
    sessions_at_most: int
    build: tuple[str, ...]
    run_s: float | None
    seconds: tuple[float, float] | None
    notes: tuple[str, ...]
    next: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return asdict(self)

    def __str__(self) -> str:
        """Write it for a person."""
        low, high = self.sessions
        ends = f"{shown(self.good)}..{shown(self.bad)}"
        lines = [
            f"a bisection of {ends} would take {low} to {high} sessions and about {counted(self.builds, 'build')}",
            "",
            f"commits  {counted(self.commits, 'commit')} behind {self.first}, up to {self.last}",
            f"measure  {self.metric} of {', '.join(map(shown, self.benchmarks))}, {self.runs} runs a commit and session",
            f"session  GOOD, one commit between and BAD; {low} to {high} of them where a step stands out "
            f"from the noise, up to {self.sessions_at_most} where it hardly does",
            f"build    {'; '.join(map(shown, self.build)) or 'nothing: the programs are files of the commits'}",
            "time     unknown: no earlier trial of this campaign says what a run takes; nor what a build takes",
        ]
        if self.seconds is not None:
            low_s, high_s = (about(one) for one in self.seconds)
            lines[-1] = (
                f"time     {low_s} to {high_s.removeprefix('about ')} of runs, by an earlier trial; "
                "what builds take is unknown"
            )
        texts = [part for line in lines for part in (wrapped(line, "", " " * 9, WIDTH) or [""])]
        texts.append("")
        for note in self.notes:
            texts += wrapped(f"note  {note}", "", " " * 6, WIDTH)
        texts += next_lines(tuple(shlex.split(self.next[0])), "nothing was executed")
        return "\n".join(texts)


def expected(question: Question, request: Request) -> Expected:
    """Compute what a bisection is expected to take; nothing is executed or written."""
    campaign, asked, commits = question.campaign, question.asked, question.commits
    halvings = math.log2(max(1, commits.last))
    low, high = (BOTH_ENDS + math.ceil(one * halvings) for one in PER_HALVING)
    most = 2 * max(asked.looks) + 10 * max(1, math.ceil(halvings))
    if asked.sessions_max is not None:
        low, high, most = (min(one, asked.sessions_max) for one in (low, high, most))
    recipe = question.recipe
    protocol = campaign.protocol
    run_s = _run_seconds(request.folder, campaign.name, recipe.variant, asked.benchmarks)
    seconds = None
    if run_s is not None:
        passes = protocol.runs + protocol.warmup
        session = 3 * passes * (run_s + protocol.cooldown_s * len(asked.benchmarks))
        seconds = (low * session, high * session)
    build = () if recipe.build is None else recipe.build.steps
    notes = ["builds execute what the commits contain, with your rights", *question.notes]
    return Expected(
        good=asked.good,
        bad=asked.bad,
        first=commits.commits[0].short,
        last=commits.commits[-1].short,
        commits=commits.last,
        campaign=campaign.name,
        variant=recipe.variant,
        benchmarks=asked.benchmarks,
        metric=asked.metric,
        runs=protocol.runs,
        builds=min(commits.last + 1, _BUILDS + math.ceil(halvings)),
        sessions=(low, high),
        sessions_at_most=most,
        build=tuple(with_placeholders(" ".join(step.argv)) for step in build),
        run_s=run_s,
        seconds=seconds,
        notes=tuple(notes),
        next=(shlex.join(_words(request, asked.good, asked.bad)),),
    )


def _words(request: Request, good: str, bad: str) -> list[str]:
    """Give the command line that carries it out: what was said, without ``--dry-run``."""
    if request.resume is not None:
        return ["fairtrial", "bisect", "--resume", str(request.resume)]
    options: dict[str, object] = {
        "--campaign": request.campaign,
        "--metric": request.metric,
        "--margin": request.margin,
        "--risk": request.risk,
        "--looks": None if request.looks is None else ",".join(map(str, request.looks)),
        "--sessions-max": request.sessions_max,
        "--dir": None if request.folder == Request().folder else request.folder,
        "--work-dir": request.work_dir,
        "--variant": request.variant,
        "--warmup-iterations": request.warmup_iterations,
    }
    words = ["fairtrial", "bisect", good, bad]
    for name in request.benchmarks:
        words += ["--benchmark", name]
    for option, value in options.items():
        words += [] if value is None else [option, str(value)]
    words += ["--all"] * request.every + ["--strict"] * request.strict + ["--share"] * request.share
    return words


def _run_seconds(
    folder: Path, campaign: str, variant: str, benchmarks: tuple[str, ...]
) -> float | None:
    """Look in the earlier trials of the campaign what one run of each benchmark takes, added up."""
    earlier: tuple[tuple[Path, Manifest], ...] = ()
    with contextlib.suppress(StoreError):
        earlier = trials_in(folder, campaign).found
    for path, _ in earlier:
        with contextlib.suppress(StoreError):
            known = read_progress(path).seconds
            found = [known.get(f"{name}/{variant}") for name in benchmarks]
            there = [one for one in found if one is not None]
            if len(there) == len(found):
                return math.fsum(there)
    return None
