"""The subcommand ``bundle``, and the judge's half of ``reproduce``.

An artifact is checked and computed anew here. What executes a campaign of it is not the judge's.
"""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from ..options import Given, command
from .options import check_file, interruptible, line_to, show, write_file

if TYPE_CHECKING:
    from ..artifact.reproduce import Received


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class _Requested(Given):
    sources: list[str]
    claims: Path | None
    about: Path | None
    campaign: Path | None
    binaries: bool
    seed: int
    max_bytes: int


def size_in_bytes(text: str) -> int:
    """Read a number of bytes, with k, M, G or T for powers of 1000; argparse reports what is none."""
    match = re.fullmatch(r"(\d{1,15})\s?([kKmMgGtT]?)[bB]?", text.strip())
    if match is None or not int(match.group(1)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 500M")
    return int(match.group(1)) * _UNITS[match.group(2).lower()]


@command("bundle")
def bundle(
    *, requested: _Requested, output: Path, redact: str | None, json: bool, out: TextIO
) -> int:
    """Pack trials or files of runs into one archive that others can check.

    It holds the campaign and the files that it names, every result with its command, and the software
    that computes it. 'fairtrial reproduce' checks the archive. The same input gives the same contents.
    Files that are too large or missing are listed. Exit code 1 means that the archive was written, but
    a claim does not hold.
    """
    check_file(output)

    from ..artifact.bundle import pack_bundle
    from ..artifact.describing import PackingRequest
    from ..artifact.redacted_names import known_here, wanted_of
    from ..artifact.redaction import redact_folder

    wanted = None if redact is None else wanted_of(redact)
    with interruptible():
        bundled = pack_bundle(
            PackingRequest(
                **vars(requested),
                redact=None
                if wanted is None
                else partial(redact_folder, wanted=wanted, known=known_here()),
            ),
            output,
        )
    show(bundled, out, as_json=json)
    return 0 if bundled.all_hold and bundled.whole else 1


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
    max_memory: int | None,
    quiet: bool,
) -> int:
    """Check an artifact, compute it anew, and write what came out; give the exit code."""
    from ..artifact.recomputing import Limits
    from ..artifact.reproduce import USUAL, reproduce
    from ..pages import as_markup as as_markdown
    from ..pages.model import page_of

    limits = Limits(
        total_s=USUAL.total_s if timeout_s is None else timeout_s,
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
        out.write(as_markdown.render_markdown(page_of(found)))
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
    """Check an artifact and unpack it into a new folder, to measure its trials again."""
    from ..artifact.reproduce import receive_bundle

    with interruptible():
        return receive_bundle(
            path, folder, names=tuple(trials), **_accepted(max_entries, max_bytes)
        )


@contextlib.contextmanager
def passing_folder() -> Iterator[Path]:
    """Give a folder that goes at the end, however that comes."""
    from ..artifact import recomputing as passing

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
    """Compare trials with those that were measured again; write the answer, and files in the folder."""
    import json

    from ..artifact.rerun import judge_reruns
    from ..pages import as_markup as as_markdown
    from ..pages.model import page_of

    found = judge_reruns(bundle, folder, pairs, metric=metric, confidence=confidence)
    told = as_markdown.render_markdown(page_of(found))
    write_file(folder / f"{_PAGE}.md", told)
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
