"""The files that hyperfine's users read: its JSON and CSV of the runs, and the answer as Markdown."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.data.trial import read_trial
from analysis.errors import UsageError
from analysis.importers.exports.export_data import exported_trial
from analysis.importers.exports.seconds import write_hyperfine
from analysis.pages.as_markup import render_markdown
from analysis.pages.model import page_of

if TYPE_CHECKING:
    from analysis.verdict.compare_answer.answer import CompareAnswer

_COLUMNS = ("command", "mean", "stddev", "median", "user", "system", "min", "max")


def exported_json(answer: CompareAnswer) -> bytes:
    """Give all runs as hyperfine writes them, each command by what was typed."""
    path = answer.verdict.path
    assert path is not None
    data = exported_trial(read_trial(path))
    called = {one.variant: one.command for one in answer.commands}
    samples = tuple(replace(one, variant=called[one.variant]) for one in data.samples)
    return write_hyperfine(replace(data, samples=samples)).data


def exported_csv(answer: CompareAnswer) -> bytes:
    """Give a row a command with the columns of hyperfine, in seconds."""
    results = json.loads(exported_json(answer))["results"]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    table.writerows([one[name] for name in _COLUMNS] for one in results)
    return text.getvalue().encode()


def exported_markdown(answer: CompareAnswer) -> bytes:
    """Give the answer, its table and its notes as Markdown."""
    return f"{render_markdown(page_of(answer))}\n".encode()


def write_file(path: str, data: bytes) -> None:
    """Write a file whole.

    Raises
    ------
    UsageError
        If it cannot be written; the trial is kept in any case.
    """
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise UsageError(
            f"the file cannot be written: {error.strerror}",
            path,
            "name another one; 'fairtrial export' writes it from the trial, which is kept",
        ) from None
