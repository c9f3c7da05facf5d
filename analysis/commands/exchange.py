"""The subcommands ``merge``, ``import`` and ``export``: trials and tables in and out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from ..errors import UsageError
from ..options import Given, command
from ..record.printer import printer_on
from ..words import next_lines
from .options import show, write_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..data.number_text import Decimal, Layout
    from ..record.run_numbers import Better


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
    show(merged, out, as_json=json)
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
    from ..importers.gathering import gather
    from ..importers.importing import import_files, inspect_files
    from ..importers.naming import ReadingChoices
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
    told = inspect_files(gathered)
    if output is None or dry_run:
        show(told, out, as_json=json)
        return 0
    made = import_files(gathered, output, baseline=baseline, better=keys.better)
    if json:
        show(made, out, as_json=True)
        return 0
    following = "\n".join(next_lines(("fairtrial", "verdict", str(made.trial))))
    out.write(f"{told}\n\nwritten: {made.trial}\n{following}\n")
    return 0


_STDOUT = "-"


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
    from json import dumps

    from ..importers.export import target_for
    from ..importers.export_data import read_exported
    from ..importers.reader import Reading

    target = target_for(output, to)
    if json and output == _STDOUT:
        raise UsageError("--json and -o - both write to the standard output", fix="name a FILE")
    how = Reading(better=better, **texts.how())
    exported, cautions = read_exported(source, how, metric or ())
    made = target.write(exported)
    if not json:
        for kind, said in (
            ("caution", [one.text for one in cautions]),
            ("cannot be held", [one.text for one in made.lost]),
        ):
            for text in said:
                err.write(f"{kind}: {text}\n")
    refused = bool(strict and made.lost)
    if not refused:
        _write(output, made.data, out, binary=target.binary)
    if json:
        told = {
            "output": None if refused else output,
            "format": target.name,
            "bytes": len(made.data),
            "cannot_hold": [one.text for one in made.lost],
            "cannot_hold_codes": [one.code for one in made.lost],
        }
        out.write(dumps(told, indent=2, allow_nan=False) + "\n")
    elif refused:
        err.write(f"nothing was written: {target.said} cannot hold everything (--strict)\n")
    elif output != _STDOUT:
        out.write(f"written: {output}, {target.said}\n")
    return 1 if refused else 0


def _write(output: str, data: bytes, out: TextIO, *, binary: bool) -> None:
    """Write to the standard output, or to a file that appears whole or not at all."""
    if output == _STDOUT:
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
