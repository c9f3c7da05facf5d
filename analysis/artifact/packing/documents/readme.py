"""``README.md`` of a bundle: what an evaluator reads first."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....report import figures
from ....version import VERSION
from ...claims import StoredClaim, said_of
from ...contents import (
    SUMS,
    Analysis,
    BundleSource,
    Metadata,
    Missing,
    Needs,
    RedactionRecord,
    ReportMade,
    SmokeRun,
)

__all__ = ["UNPACK_OUTPUTS", "Told", "readme_text"]

UNPACK_OUTPUTS = 'for tar in trials/*/outputs.tar; do mkdir "${tar%.tar}" && tar -xf "$tar" -C "${tar%.tar}"; done'


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the page tells: parts of ``bundle.json``, and texts of the authors."""

    metadata: Metadata
    description: str | None
    sources: Sequence[BundleSource]
    analyses: Sequence[Analysis]
    report: ReportMade | None
    claims: Sequence[StoredClaim]
    smoke: SmokeRun | None
    whole: Sequence[Sequence[str]]  # arguments of `fairtrial` that measure all of it again
    needs: Needs
    container: Mapping[str, Any] | None
    missing: Sequence[Missing]
    redacted: RedactionRecord | None
    executed: Sequence[str]  # every command of the campaigns, as `executed_lines` writes it
    python: str
    wheel: str | None


def readme_text(told: Told) -> str:
    """Give the page in Markdown."""
    parts = (
        _head(told),
        _first_steps(told),
        _claims(told),
        _results(told),
        _needs(told),
        _rerun(told),
        _without(told),
        _missing(told),
    )
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part))) + "\n"


def _head(told: Told) -> Iterator[str]:
    yield f"# {_safe(told.metadata.title or 'Artifact: ' + ', '.join(s.name for s in told.sources))}"
    yield ""
    if told.metadata.authors:
        yield _safe("; ".join(_author(a.name, a.affiliation) for a in told.metadata.authors))
        yield ""
    if told.description is not None:
        yield _safe(told.description)
        yield ""
    for name, value in (("Licence", told.metadata.license), ("DOI", told.metadata.doi)):
        if value is not None:
            yield f"{name}: {_safe(value)}"
            yield ""
    yield (
        f"Packed by fairtrial {VERSION} on Python {told.python}. It holds the raw measurements, what was "
        "measured, on what, and every result that was computed from them with its command line."
    )


def _author(name: str, affiliation: str | None) -> str:
    return name if affiliation is None else f"{name} ({affiliation})"


def _first_steps(told: Told) -> Iterator[str]:
    yield "## Check it in one command"
    yield ""
    yield "With fairtrial installed, this checks every hash and computes every result again:"
    yield ""
    yield from _code("fairtrial reproduce artifact.zip")
    yield ""
    if told.wheel is not None:
        yield (
            "Without it: unpack this archive, and install the fairtrial that made it, with the same "
            "libraries (from the Python Package Index):"
        )
        yield ""
        yield from _code(
            "python3 -m venv env",
            f"env/bin/pip install -r software/requirements.txt {told.wheel}",
            "env/bin/fairtrial reproduce artifact.zip",
        )
    if told.report is not None:
        yield ""
        yield f"`{told.report.result}` is the report on the first source: open it in any browser."


def _claims(told: Told) -> Iterator[str]:
    if not told.claims:
        return
    yield "## Claims"
    yield ""
    yield "Each sentence rests on one value of what a command prints, here and on your machine:"
    yield ""
    yield "| # | claim | command | value | must be | found | holds |"
    yield "|--:|---|---|---|---|---|---|"
    for k, one in enumerate(told.claims, 1):
        claim = one.claim
        yield _row(
            str(k),
            _safe(claim.text),
            _ticked(f"fairtrial {shlex.join(claim.command)}"),
            _ticked(claim.value),
            _safe(said_of(claim)),
            _ticked(json.dumps(one.found, ensure_ascii=False)),
            "yes" if one.holds else "**no**",
        )


def _results(told: Told) -> Iterator[str]:
    yield "## Results and their commands"
    yield ""
    yield (
        "Executed in the folder of the unpacked archive, each prints its file, byte for byte. What the "
        "programs wrote is packed once more, and belongs beside the measurements:"
    )
    yield ""
    yield from _code(UNPACK_OUTPUTS)
    yield ""
    yield "| result | command | seed |"
    yield "|---|---|---|"
    rows: Iterable[tuple[str, Sequence[str], int | None]] = [
        (one.result, one.command, one.seed) for one in told.analyses
    ]
    if told.report is not None:
        rows = [*rows, (told.report.result, told.report.command, None)]
    for result, command, seed in rows:
        yield _row(
            _ticked(result),
            _ticked(f"fairtrial {shlex.join(command)}"),
            "none" if seed is None else str(seed),
        )
    yield ""
    yield (
        "Other versions of the libraries, or another processor, may change the last digits of a number; "
        "`fairtrial reproduce` says which differ, and by how much."
    )


def _needs(told: Told) -> Iterator[str]:
    needs = told.needs
    yield "## What it takes"
    yield ""
    yield f"- Disk: {_size(needs.disk_bytes)} unpacked."
    yield "- Computing all results again: any machine with Python 3.11 or newer; nothing is measured."
    if needs.run_s is not None:
        yield f"- Measuring again: {_time(needs.run_s)}, as here; less with `--sessions`."
    host = [
        text
        for text in (
            needs.cpu_model,
            None if needs.cpus is None else f"{needs.cpus} CPUs online",
            None if needs.memory_bytes is None else f"{_size(needs.memory_bytes)} of memory",
            needs.architecture,
            needs.distribution,
            None if needs.kernel is None else f"Linux {needs.kernel}",
        )
        if text is not None
    ]
    if host:
        yield f"- Measured on: {_safe('; '.join(host))}."
    if needs.max_rss_bytes is not None:
        yield f"- Largest memory of a run: {_size(needs.max_rss_bytes)}."
    for name, text in needs.compilers.items():
        yield f"- {_safe(name)}: {_safe(text)}"
    for name, value in (told.container or {}).items():
        yield f"- Container, {_safe(name)}: {_ticked(str(value))}"


def _rerun(told: Told) -> Iterator[str]:
    if all(one.campaign is None for one in told.sources):
        return
    yield "## Measure again"
    yield ""
    yield (
        "This executes programs of the bundle: builds, hooks and benchmarks. The first command shows them, "
        "executes them only with `--yes-execute`, and compares the conclusions with those here:"
    )
    yield ""
    yield from _code("fairtrial reproduce --rerun artifact.zip --sessions 2")
    yield ""
    if told.smoke is not None:
        took = "" if told.smoke.time_s is None else f" ({_time(told.smoke.time_s)})"
        yield f"By hand, in the unpacked folder: a small run{took} that shows whether all is there,"
        yield ""
        yield from _code(
            shlex.join(("fairtrial", *told.smoke.command)),
            *(f"fairtrial {shlex.join(words)}   # as it was measured" for words in told.whole),
        )
        yield ""
    if told.executed:
        yield "These commands are executed, and no others; a rerun refuses a campaign with further ones:"
        yield ""
        yield from _code(*told.executed)


def _without(told: Told) -> Iterator[str]:
    yield "## Check it without fairtrial"
    yield ""
    yield "In the unpacked folder, with coreutils and tar:"
    yield ""
    yield from _code(f"sha256sum -c {SUMS}")
    yield ""
    yield (
        "`trials/*/measurements.jsonl` holds one JSON object a run; what the programs wrote lies in "
        "`trials/*/outputs.tar`. `bundle.json` lists every file with its hash and every result with its "
        "command; `ro-crate-metadata.json` says the same in the terms of RO-Crate 1.1."
    )
    if told.redacted is not None:
        yield ""
        counts = ", ".join(f"{name} {n} times" for name, n in told.redacted.replaced.items())
        yield (
            f"Names were taken out before the hashes were made ({counts or 'nothing was found'}); "
            "`redacted` in `bundle.json` lists the files and the hashes that they had."
        )


def _missing(told: Told) -> Iterator[str]:
    if not told.missing:
        return
    yield "## What is not here"
    yield ""
    yield "| what | why | SHA-256 |"
    yield "|---|---|---|"
    for one in told.missing:
        yield _row(_safe(one.what), _safe(one.why), "" if one.sha256 is None else f"`{one.sha256}`")


def _code(*lines: str) -> Iterator[str]:
    yield "```sh"
    yield from lines
    yield "```"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#|&~"})
_AT_START = re.compile(
    r"^(|\d+(?=[.)](?: |$)))([-+=.)])"
)  # where a paragraph begins, these make a list or a line


def _safe(text: str) -> str:
    """Write a foreign text so that Markdown takes it for text, on one line."""
    return _AT_START.sub(r"\1\\\2", " ".join(text.split()).translate(_SPECIAL))


def _ticked(text: str) -> str:
    """Write a foreign text as code; a bar would end the cell of a table."""
    plain = " ".join(text.split()).replace("|", "\\|")
    longest = max((len(run) for run in _runs_of_ticks(plain)), default=0)
    fence = "`" * (longest + 1)
    inside = f" {plain} " if longest or not plain else plain
    return f"{fence}{inside}{fence}"


def _runs_of_ticks(text: str) -> Iterator[str]:
    run = ""
    for sign in f"{text} ":
        if sign == "`":
            run += sign
        elif run:
            yield run
            run = ""


def _size(size: int) -> str:
    return figures.quantity(float(size), "B")


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
