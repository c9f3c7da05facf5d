"""The works that a report rests on: only those of which something was used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from ...registry import shipped
from ...version import VERSION

if TYPE_CHECKING:
    from ...methods.multilevel.result import Multilevel
    from ..subject import Subject

__all__ = ["METHODS", "TOOL", "citations_of", "methods_used", "used", "works"]

TOOL = "fairtrial"

# of the panel's methods, by the first word of their names; names of people stand in works.bib
METHODS: Mapping[str, tuple[str, ...]] = {
    "HPT": ("chen2012",),
    "Speedup-Test": ("touati2010",),
    "randomization": ("irving2020", "phipson2010"),
    "bootstrap": ("irving2020", "efron1993"),
    "mixtures": ("worms2018",),
}
_REFUSED = "not possible"
_BIPLOT = 3  # variants of which a biplot is drawn
_FIELD = re.compile(r"  (\w+) = \{(.*)\},\n")
_PLACES = ("journal", "booktitle", "institution", "publisher")
_SIGNS = {'{\\"u}': "ü", "{\\'e}": "é", "\\&": "&", "{": "", "}": "", "$": ""}


def used(subject: Subject) -> tuple[str, ...]:
    """Name the works that this verdict rests on, in the order of the text."""
    results = [one.multilevel for one in subject.candidates if one.multilevel is not None]
    found = [key for one in results for key in _of_verdict(one)]
    found += [key for name in methods_used(subject) for key in METHODS.get(name, ())]
    if len(subject.matrices) >= _BIPLOT:
        found += ["irving2020", "gabriel1971"]
    return tuple(dict.fromkeys(found))


def methods_used(subject: Subject) -> tuple[str, ...]:
    """Name the published methods that gave an answer, each once."""
    panels = [one.panel for one in subject.candidates if one.panel is not None]
    said = [one for panel in panels for one in panel.methods]
    answered = [one.method for one in said if not one.answer.startswith(_REFUSED)]
    return tuple(dict.fromkeys(method.partition(",")[0] for method in answered))


@cache
def works() -> Mapping[str, str]:
    """Give all entries of BibTeX by their keys; the tool's names this version."""
    text = shipped("analysis/report/paper/works.bib").read_text("utf-8")
    entries = text.replace("VERSION", VERSION).strip().split("\n\n")
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}


def citations_of(keys: Iterable[str]) -> list[dict[str, str]]:
    """Give the works of these keys, each in one line and as BibTeX, and the tool itself first."""
    return [
        {"key": key, "text": _line(works()[key]), "bibtex": works()[key]}
        for key in dict.fromkeys((TOOL, *keys))
    ]


def _of_verdict(result: Multilevel) -> Iterator[str]:
    if result.design == "confounded":
        return
    yield "kalibera2013"
    yield "lai1976" if result.always_valid else "ibragimov2010"
    laws = {line.law for line in result.benchmarks}
    if "welch" in laws:
        yield "welch1947"
    if laws & {"banerjee", "grouped"}:
        yield "banerjee1960"
    if len(result.benchmarks) > 1 and result.correction != "none":
        yield {"holm": "holm1979", "bh": "benjamini1995"}[result.correction]
    if result.margin > 0:
        yield "schuirmann1987"


def _line(entry: str) -> str:
    """Write a work in one line: who, what, where, when."""
    fields = dict(_FIELD.findall(entry))
    where = next((fields[name] for name in _PLACES if name in fields), "")
    parts = (
        fields["author"].replace(" and ", "; "),
        fields["title"],
        f"{where} {fields.get('volume', '')}".strip(),
        fields.get("year"),
        fields.get("note"),
    )
    text = ", ".join(filter(None, parts))
    for sign, letter in _SIGNS.items():
        text = text.replace(sign, letter)
    return text
