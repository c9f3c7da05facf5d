"""The files that hyperfine's users read: its JSON and CSV of the runs, and the answer as Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.trial import read_trial
from ...errors import UsageError
from ...importers.exports.export_data import exported_trial
from ...importers.exports.seconds import write_hyperfine
from ...pages.as_markup import render_markdown
from ...pages.model import page_of

if TYPE_CHECKING:
    from .answer import CompareAnswer

_COLUMNS = ("command", "mean", "stddev", "median", "user", "system", "min", "max")


def write_exports(answer: CompareAnswer, files: Mapping[str, str]) -> None:
    """Write files: kind (``json``, ``csv``, ``markdown``) -> path.

    Raises
    ------
    UsageError
        If one cannot be written; the trial is kept in any case.
    """
    for kind, path in files.items():
        data = _KINDS[kind](answer)
        try:
            Path(path).write_bytes(data)
        except OSError as error:
            raise UsageError(
                f"the file cannot be written: {error.strerror}",
                path,
                "name another one; 'fairtrial export' writes it from the trial, which is kept",
            ) from None


def _json(answer: CompareAnswer) -> bytes:
    """Give all runs as hyperfine writes them, each command by what was typed."""
    path = answer.verdict.path
    assert path is not None
    data = exported_trial(read_trial(path))
    called = {one.variant: one.command for one in answer.commands}
    samples = tuple(replace(one, variant=called[one.variant]) for one in data.samples)
    told = json.loads(write_hyperfine(replace(data, samples=samples)).data)
    filled = {one.command: dict(one.parameters) for one in answer.commands}
    for result in told["results"]:
        result.pop("parameters")
        if values := filled.get(result["command"]):
            result["parameters"] = values
    return f"{json.dumps(told, indent=2, ensure_ascii=False)}\n".encode()


def _csv(answer: CompareAnswer) -> bytes:
    """Give a row a command with the columns of hyperfine, in seconds."""
    results = json.loads(_json(answer))["results"]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    table.writerows([one[name] for name in _COLUMNS] for one in results)
    return text.getvalue().encode()


def _markdown(answer: CompareAnswer) -> bytes:
    """Give the answer, its table and its notes."""
    return f"{render_markdown(page_of(answer))}\n".encode()


_KINDS = {"json": _json, "csv": _csv, "markdown": _markdown}
