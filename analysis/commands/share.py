"""The subcommands of files that others read or wrote: ``bundle``, the judge's half of ``reproduce``, ``import``, ``export`` and ``merge``."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from ..errors import UsageError
from ..option_groups import interruptible, line_to, show
from ..options import Given, command
from ..record.printer import STDOUT, check_file, check_files, printer_on, write_file, write_json
from ..words import next_lines

if TYPE_CHECKING:
    from ..artifact.reproduce import Received
    from ..data.number_text import Decimal, Layout
    from ..record.run_numbers import Better


# --- Bundles of trials.


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
    from ..artifact.redacted import redact_folder
    from ..artifact.redacted_names import known_here, wanted_of

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


_PAGE = "rerun"  # the files with the answer, in the new folder


def write_reproduction(
    path: Path,
    out: TextIO,
    err: TextIO,
    *,
    as_json: bool,
    markdown: bool,
    folder: Path | None,
    max_entries: int,
    max_bytes: int,
    timeout_s: float | None,
    max_memory: int | None,
    quiet: bool,
) -> int:
    """Check an artifact, compute it anew, and write what came out; give the exit code."""
    from ..artifact.recomputing import Limits
    from ..artifact.reproduce import USUAL, reproduce

    limits = Limits(
        total_s=timeout_s or USUAL.total_s, memory_bytes=max_memory or USUAL.memory_bytes
    )
    with interruptible():
        found = reproduce(
            path,
            folder=folder,
            limits=limits,
            say=(lambda _: None) if quiet else line_to(err),
            max_entries=max_entries,
            max_bytes=max_bytes,
        )
    show(found, out, as_json=as_json, markdown=markdown)
    return found.exit_code


def unpack_artifact(
    path: Path, folder: Path, *, trials: Sequence[str], max_entries: int, max_bytes: int
) -> Received:
    """Check an artifact and unpack it into a new folder, to measure its trials again."""
    from ..artifact.reproduce import receive_bundle

    with interruptible():
        return receive_bundle(
            path, folder, names=tuple(trials), max_entries=max_entries, max_bytes=max_bytes
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
    as_json: bool,
    markdown: bool,
    metric: str | None,
    confidence: float,
) -> int:
    """Compare trials with those that were measured again; write the answer, and files in the folder."""
    import json

    from ..artifact.reproduce import judge_reruns
    from ..pages.as_markup import render_markdown

    found = judge_reruns(bundle, folder, pairs, metric=metric, confidence=confidence)
    write_file(folder / f"{_PAGE}.md", render_markdown(found.screen()))
    data = json.dumps(found.to_dict(), indent=2, allow_nan=False) + "\n"
    write_file(folder / f"{_PAGE}.json", data)
    show(found, out, as_json=as_json, markdown=markdown)
    return found.exit_code


# --- The subcommands ``merge``, ``import`` and ``export``: trials and tables in and out.


class _Texts(Given):
    layout: Layout | None
    decimal: Decimal | None
    columns: Mapping[str, str] | None  # `harness.cli` makes it hold

    def how(self) -> dict[str, Any]:
        return self.some("layout", "decimal")


@command("merge")
def merge(
    *,
    trials: list[Path],
    output: Path,
    way: Literal["sessions", "fleet"] | None,
    accept_drift: bool,
    json: bool,
    out: TextIO,
) -> int:
    """Put together trials of one campaign that were measured separately, or copied by hand.

    Complete trials of one host become the sessions of a new trial, and differences between their
    environments are reported. Trials of several hosts become a fleet, a folder with one trial for each
    host. The given trials are only read. A merged trial can be judged like any other, but not resumed.
    """
    from ..data.fleet import merge_hosts, named_trials, way_of
    from ..data.merging import merge_trials
    from ..record.fleet import is_fleet

    named = named_trials(trials)
    asked = way_of(named, asked=way, fleets=any(map(is_fleet, trials)))
    merged = (
        merge_hosts(named, output, accept_drift=accept_drift)
        if asked == "fleet"
        else merge_trials([one.path for one in named], output, accept_drift=accept_drift)
    )
    if json:
        write_json(merged.to_dict(), out)
    else:
        out.write(f"{merged}\n")
    return 0


class _Keys(Given):
    variant: str | None
    benchmark: str | None
    session: str | None
    metric: str | None
    better: Better | None


@command("import")
def import_(
    *,
    sources: list[str],
    output: Path | None,
    dry_run: bool,
    format: str | None,
    keys: _Keys,
    baseline: str | None,
    encoding: str | None,
    texts: _Texts,
    json: bool,
    out: TextIO,
) -> int:
    """Read files of other tools, and write them as a trial that every command can judge.

    The files are recognized by their content. What a file does not contain stays unknown, and is
    reported.
    """
    from ..data.opening import open_foreign
    from ..importers.gathering import ReadingChoices, gather
    from ..importers.importing import import_files, inspect_files
    from ..importers.registry import read_foreign

    if output is None and not dry_run:
        raise UsageError(
            "no folder is named for the new trial",
            fix="add -o runs/NAME, or --dry-run to see what the files hold",
        )
    named = keys.some("benchmark", "variant").items()
    columns = {role: key for role, key in named if key not in (None, "file", "folder")}
    files = [
        read_foreign(open_foreign(source, encoding=encoding, keys=columns, **texts.how()), format)
        for source in sources
    ]
    gathered = gather(files, ReadingChoices(**vars(keys)))
    found = inspect_files(gathered, keys.better)
    if output is None or dry_run:
        show(found, out, as_json=json)
        return 0
    made = import_files(gathered, output, baseline=baseline, better=keys.better)
    if json:
        write_json(made.to_dict(), out)
        return 0
    following = "\n".join(next_lines(("fairtrial", "verdict", str(made.trial))))
    out.write(f"{found}\n\nwritten: {made.trial}\n{following}\n")
    return 0


def every_target() -> str:
    """Name the formats, and the endings that name them."""
    from ..importers.export import TARGETS

    named = ", ".join(target.name for target in TARGETS)
    endings = ", ".join(target.endings[0] for target in TARGETS if target.endings)
    return f"{named} (default: as FILE's ending says: {endings})"


@command("export")
def export(
    *,
    source: str,
    output: str,
    to: str | None,
    metric: list[str] | None,
    better: Better | None,
    texts: _Texts,
    strict: bool,
    json: bool,
    out: TextIO,
    err: TextIO,
) -> int:
    """Write the runs of a trial, or of any file that fairtrial reads, as a file for another tool.

    What that file cannot contain is reported, line by line.
    """
    from ..importers.export import read_exported, target_for
    from ..importers.reader import Reading

    target = target_for(output, to)
    if json and output in STDOUT:
        raise UsageError("--json and -o - both write to the standard output", fix="name a FILE")
    check_files(output, read=[source])
    how = Reading(better=better, **texts.how())
    exported, cautions = read_exported(source, how, metric or ())
    made = target.write(exported)
    if not json:
        err.writelines(f"caution: {one.text}\n" for one in cautions)
        err.writelines(f"the file cannot hold: {left.text}\n" for left in made.lost)
    refused = bool(strict and made.lost)
    if not refused:
        _write(output, made.data, out, binary=target.binary)
    if json:
        parts = {
            "output": None if refused else output,
            "format": target.name,
            "bytes": len(made.data),
            "cannot_hold": [one.text for one in made.lost],
            "cannot_hold_codes": [one.code for one in made.lost],
        }
        write_json(parts, out)
    elif refused:
        err.write(f"nothing was written: {target.label} cannot hold everything (--strict)\n")
    elif output not in STDOUT:
        out.write(f"written: {output}, {target.label}\n")
    return 1 if refused else 0


def _write(output: str, data: bytes, out: TextIO, *, binary: bool) -> None:
    """Write to the standard output, or to a file that appears whole or not at all."""
    if output in STDOUT:
        stream = printer_on(out)
        if stream.takes_bytes:
            stream.write_bytes(data)
        elif binary:
            raise UsageError("these bytes are not text", fix="name a file with -o FILE, or a pipe")
        else:
            stream.write(data.decode())
        return
    if output.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    write_file(Path(output), data)
