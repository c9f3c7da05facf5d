"""The judge's half of the subcommand ``reproduce``; the runner has the other, and the options.

An artifact is checked and computed anew here. What executes a campaign of it is not the judge's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from .arguments import line_to, show
from .files import write_file
from .interrupting import interruptible

if TYPE_CHECKING:
    from ..artifact.reproducing import Received

__all__ = ["passing_folder", "unpack_artifact", "write_reproduction", "write_rerun"]

Form = Literal["text", "json", "md"]
_PAGE = "rerun"  # the files with the answer, in the new folder


def write_reproduction(
    path: Path,
    out: TextIO,
    err: TextIO,
    *,
    form: Form,
    folder: Path | None,
    max_entries: int | None,
    max_bytes: int | None,
    timeout_s: float | None,
    timeout_each_s: float | None,
    max_memory: int | None,
    quiet: bool,
) -> int:
    """Check an artifact, compute it anew, and write what came out; give the exit code.

    Parameters
    ----------
    path : Path
        The artifact.
    out, err : TextIO
        Where the answer goes, and where it is told what is under way.
    form : {"text", "json", "md"}
        How the answer is written.
    folder : Path or None
        A new folder to unpack into, which stays.
    max_entries, max_bytes : int or None
        What is accepted at most; None for what is usual.
    timeout_s, timeout_each_s : float or None
        The longest time of all commands together, None for what is usual; and of one, in seconds.
    max_memory : int or None
        The most bytes that they may take together; None for what is usual.
    quiet : bool
        Whether nothing is told on the way.

    Raises
    ------
    FairtrialError
        If it cannot be read, is damaged, or is refused.
    """
    from ..artifact.limited import Limits
    from ..artifact.reproducing import USUAL, reproduce, review_page
    from ..report import as_markdown

    limits = Limits(
        total_s=USUAL.total_s if timeout_s is None else timeout_s,
        each_s=timeout_each_s,
        memory_bytes=USUAL.memory_bytes if max_memory is None else max_memory,
    )
    with interruptible():
        found = reproduce(
            path,
            folder=folder,
            limits=limits,
            say=(lambda _: None) if quiet else line_to(err),
            **_accepted(max_entries, max_bytes),
        )
    if form == "md":
        out.write(as_markdown.render(review_page(found)))
    else:
        show(found, out, as_json=form == "json")
    return found.exit_code


def unpack_artifact(
    path: Path,
    folder: Path,
    *,
    trials: Sequence[str],
    max_entries: int | None,
    max_bytes: int | None,
) -> Received:
    """Check an artifact and unpack it into a new folder, to measure its trials again.

    Raises
    ------
    FairtrialError
        If it cannot be read, is damaged, or is refused.
    """
    from ..artifact.reproducing import receive_bundle

    with interruptible():
        return receive_bundle(
            path, folder, names=tuple(trials), **_accepted(max_entries, max_bytes)
        )


@contextlib.contextmanager
def passing_folder() -> Iterator[Path]:
    """Give a folder that goes at the end, however that comes.

    Raises
    ------
    UsageError
        If none can be made.
    """
    from ..artifact import passing

    with interruptible(), passing.passing_folder() as folder:
        yield folder.content


def write_rerun(
    bundle: str,
    folder: Path,
    pairs: Sequence[tuple[str, Path, Path, Path]],
    out: TextIO,
    *,
    form: Form,
    metric: str | None,
    confidence: float,
) -> int:
    """Compare trials with those that were measured again; write the answer, and files in the folder.

    Raises
    ------
    FairtrialError
        If a trial cannot be read, or they cannot be compared.
    """
    import json

    from ..artifact.reproducing import joint_report, judge_reruns
    from ..report import as_markdown, page_of

    found = judge_reruns(bundle, folder, pairs, metric=metric, confidence=confidence)
    told = as_markdown.render(page_of(found))
    write_file(folder / f"{_PAGE}.md", told)
    write_file(folder / f"{_PAGE}.html", joint_report(found))
    data = json.dumps(found.to_dict(), indent=2, allow_nan=False) + "\n"
    write_file(folder / f"{_PAGE}.json", data)
    if form == "md":
        out.write(told)
    else:
        show(found, out, as_json=form == "json")
    return found.exit_code


def _accepted(max_entries: int | None, max_bytes: int | None) -> dict[str, int]:
    limits = {"max_entries": max_entries, "max_bytes": max_bytes}
    return {name: value for name, value in limits.items() if value is not None}
