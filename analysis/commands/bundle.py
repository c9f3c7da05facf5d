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

from .options import add_json, add_value, check_file, interruptible, line_to, show, write_file

if TYPE_CHECKING:
    from ..artifact.reproduce import Received
    from .options import Subparsers


_REQUESTED = ("sources", "claims", "about", "campaign", "binaries", "why", "seed", "max_bytes")
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def add(subparsers: Subparsers) -> None:
    """Add ``bundle``."""
    parser = subparsers.add_parser(
        "bundle",
        description="Pack trials or files of runs into one archive, with the campaign and the "
        "files that it names, every result with its command, and the software that computes it. "
        "'fairtrial reproduce' checks the archive. The same input gives the same contents. Files "
        "that are too large or missing are listed. Exit code 1 means that the archive was "
        "written, but a claim does not hold.",
    )
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help="a trial (runs/NAME), a folder of trials, or a file or folder of another tool",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="the archive; an existing one is replaced",
    )
    parser.add_argument(
        "--claims",
        metavar="FILE",
        type=Path,
        help="sentences of a paper, each bound to a command and a value (claims.yaml)",
    )
    parser.add_argument(
        "--about",
        metavar="FILE",
        type=Path,
        help="title, authors, licence, DOI and further files (default: bundle.yaml next to the "
        "campaign)",
    )
    parser.add_argument(
        "--campaign",
        metavar="FILE",
        type=Path,
        help="where the campaign file is now (default: where it was when the trial was measured)",
    )
    parser.add_argument("--binaries", action="store_true", help="also pack the measured programs")
    parser.add_argument(
        "--why",
        action="store_true",
        help="also pack the profiles that 'fairtrial why' left beside the trials (TRIAL.why)",
    )
    parser.add_argument(
        "--redact",
        metavar="KINDS",
        help="remove names before anything is hashed: user,host,paths,env or some of them; "
        "user=NAME and host=NAME add a name that is not in the trial",
    )
    parser.add_argument(
        "--max-bytes",
        metavar="N",
        type=size_in_bytes,
        default=10 * 10**9,
        help="the largest total size of all files, such as 500M; files of the campaign that do "
        "not fit are listed (default: 10G)",
    )
    add_value(parser, "--seed", "S", "seed of results with random draws", 0, type=int)
    add_json(parser)
    parser.set_defaults(run=_bundle)


def size_in_bytes(text: str) -> int:
    """Read a number of bytes, with k, M, G or T for powers of 1000; argparse reports what is none."""
    match = re.fullmatch(r"(\d{1,15})\s?([kKmMgGtT]?)[bB]?", text.strip())
    if match is None or not int(match.group(1)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 500M")
    return int(match.group(1)) * _UNITS[match.group(2).lower()]


def _bundle(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    check_file(args.output)

    from ..artifact.bundle import pack_bundle
    from ..artifact.describing import PackingRequest
    from ..artifact.redacted_names import known_here, wanted_of
    from ..artifact.redaction import redact_folder

    wanted = None if args.redact is None else wanted_of(args.redact)
    with interruptible():
        bundled = pack_bundle(
            PackingRequest(
                **{name: getattr(args, name) for name in _REQUESTED},
                redact=None
                if wanted is None
                else partial(redact_folder, wanted=wanted, known=known_here()),
            ),
            args.output,
        )
    show(bundled, out, as_json=args.json)
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
    timeout_each_s: float | None,
    max_memory: int | None,
    quiet: bool,
) -> int:
    """Check an artifact, compute it anew, and write what came out; give the exit code."""
    from ..artifact.recomputing import Limits
    from ..artifact.reproduce import USUAL, reproduce
    from ..artifact.reproduction import review_page
    from ..pages import as_markup as as_markdown

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
        out.write(as_markdown.render_markdown(review_page(found)))
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

    from ..artifact.rerun import joint_report, judge_reruns
    from ..pages import as_markup as as_markdown
    from ..pages.model import page_of

    found = judge_reruns(bundle, folder, pairs, metric=metric, confidence=confidence)
    told = as_markdown.render_markdown(page_of(found))
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
