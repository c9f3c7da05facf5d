"""The works that a report rests on, as BibTeX: only those of which something was used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...version import VERSION
from .result import Citation

if TYPE_CHECKING:
    from ...methods.multilevel.result import Multilevel
    from ..subject import Subject

__all__ = ["METHODS", "TOOL", "WORKS", "citations_of", "methods_used", "used"]


@dataclass(frozen=True, slots=True)
class _Work:
    kind: str
    fields: Mapping[str, str]


def _work(kind: str, **fields: str) -> _Work:
    return _Work(kind, fields)


WORKS: Mapping[str, _Work] = {
    "kalibera2013": _work(
        "inproceedings",
        author="Kalibera, Tomas and Jones, Richard",
        title="Rigorous Benchmarking in Reasonable Time",
        booktitle="Proceedings of the 2013 International Symposium on Memory Management (ISMM '13)",
        year="2013",
        pages="63--74",
        publisher="ACM",
        doi="10.1145/2464157.2464160",
    ),
    "ibragimov2010": _work(
        "article",
        author=r"Ibragimov, Rustam and M{\"u}ller, Ulrich K.",
        title="{$t$}-Statistic Based Correlation and Heterogeneity Robust Inference",
        journal="Journal of Business \\& Economic Statistics",
        year="2010",
        volume="28",
        number="4",
        pages="453--468",
        doi="10.1198/jbes.2009.08046",
    ),
    "welch1947": _work(
        "article",
        author="Welch, B. L.",
        title="The Generalization of `{Student}'s' Problem When Several Different Population "
        "Variances Are Involved",
        journal="Biometrika",
        year="1947",
        volume="34",
        number="1--2",
        pages="28--35",
        doi="10.1093/biomet/34.1-2.28",
    ),
    "banerjee1960": _work(
        "article",
        author="Banerjee, S. K.",
        title="Approximate Confidence Interval for Linear Functions of Means of $k$ Populations When "
        "the Population Variances Are Not Equal",
        journal="Sankhya",
        year="1960",
        volume="22",
    ),
    "lai1976": _work(
        "article",
        author="Lai, Tze Leung",
        title="On Confidence Sequences",
        journal="The Annals of Statistics",
        year="1976",
        volume="4",
        number="2",
        pages="265--280",
    ),
    "holm1979": _work(
        "article",
        author="Holm, Sture",
        title="A Simple Sequentially Rejective Multiple Test Procedure",
        journal="Scandinavian Journal of Statistics",
        year="1979",
        volume="6",
        number="2",
        pages="65--70",
    ),
    "benjamini1995": _work(
        "article",
        author="Benjamini, Yoav and Hochberg, Yosef",
        title="Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple "
        "Testing",
        journal="Journal of the Royal Statistical Society: Series B (Methodological)",
        year="1995",
        volume="57",
        number="1",
        pages="289--300",
        doi="10.1111/j.2517-6161.1995.tb02031.x",
    ),
    "schuirmann1987": _work(
        "article",
        author="Schuirmann, Donald J.",
        title="A Comparison of the Two One-Sided Tests Procedure and the Power Approach for "
        "Assessing the Equivalence of Average Bioavailability",
        journal="Journal of Pharmacokinetics and Biopharmaceutics",
        year="1987",
        volume="15",
        number="6",
        pages="657--680",
        doi="10.1007/BF01068419",
    ),
    "chen2012": _work(
        "inproceedings",
        author="Chen, Tianshi and Chen, Yunji and Guo, Qi and Temam, Olivier and Wu, Yue and Hu, "
        "Weiwu",
        title="Statistical Performance Comparisons of Computers",
        booktitle="18th IEEE International Symposium on High Performance Computer Architecture "
        "(HPCA-18)",
        year="2012",
        pages="1--12",
        publisher="IEEE",
    ),
    "touati2010": _work(
        "techreport",
        author=r"Touati, Sid-Ahmed-Ali and Worms, Julien and Briais, S{\'e}bastien",
        title="The {Speedup-Test}",
        institution=r"Universit{\'e} de Versailles Saint-Quentin-en-Yvelines",
        year="2010",
        number="inria-00443839v2",
        url="https://inria.hal.science/inria-00443839v2",
    ),
    "irving2020": _work(
        "article",
        author="Irving, Samuel and Li, Bin and Chen, Shaoming and Peng, Lu and Zhang, Weihua and "
        "Duan, Lide",
        title="Computer Comparisons in the Presence of Performance Variation",
        journal="Frontiers of Computer Science",
        year="2020",
        volume="14",
        number="1",
        pages="21--41",
        doi="10.1007/s11704-018-7319-2",
        note="Published online in 2018",
    ),
    "phipson2010": _work(
        "article",
        author="Phipson, Belinda and Smyth, Gordon K.",
        title="Permutation {$P$}-values Should Never Be Zero: Calculating Exact {$P$}-values When "
        "Permutations Are Randomly Drawn",
        journal="Statistical Applications in Genetics and Molecular Biology",
        year="2010",
        volume="9",
        number="1",
        doi="10.2202/1544-6115.1585",
    ),
    "efron1993": _work(
        "book",
        author="Efron, Bradley and Tibshirani, Robert J.",
        title="An Introduction to the Bootstrap",
        publisher="Chapman \\& Hall",
        year="1993",
    ),
    "worms2018": _work(
        "article",
        author="Worms, Julien and Touati, Sid",
        title="Modelling Program's Performance with {Gaussian} Mixtures for Parametric Statistics",
        journal="IEEE Transactions on Multi-Scale Computing Systems",
        year="2018",
        volume="4",
        number="3",
        pages="383--395",
        doi="10.1109/TMSCS.2017.2754251",
    ),
    "gabriel1971": _work(
        "article",
        author="Gabriel, K. R.",
        title="The Biplot Graphic Display of Matrices with Application to Principal Component "
        "Analysis",
        journal="Biometrika",
        year="1971",
        volume="58",
        number="3",
        pages="453--467",
        doi="10.1093/biomet/58.3.453",
    ),
}

TOOL = "fairtrial"

# of the panel's methods, by the first word of their names; names of people stand in WORKS
METHODS: Mapping[str, tuple[str, ...]] = {
    "HPT": ("chen2012",),
    "Speedup-Test": ("touati2010",),
    "randomization": ("irving2020", "phipson2010"),
    "bootstrap": ("irving2020", "efron1993"),
    "mixtures": ("worms2018",),
}
_REFUSED = "not possible"
_BIPLOT = 3  # variants of which a biplot is drawn
_ACCENTS = {'\\"u': "ü", "\\'e": "é"}


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
    return tuple(
        dict.fromkeys(
            said.method.partition(",")[0]
            for one in subject.candidates
            if one.panel is not None
            for said in one.panel.methods
            if not said.answer.startswith(_REFUSED)
        )
    )


def citations_of(keys: Iterable[str]) -> tuple[Citation, ...]:
    """Give the works of these keys, and the tool itself first."""
    tool = {
        "author": "{The fairtrial team}",
        "title": "{fairtrial}",
        "note": f"Software, version {VERSION}",
    }
    works = {TOOL: _Work("misc", tool), **{key: WORKS[key] for key in keys}}
    return tuple(
        Citation(key=key, text=_line(work.fields), bibtex=_entry(key, work))
        for key, work in works.items()
    )


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


def _entry(key: str, work: _Work) -> str:
    lines = [f"  {name} = {{{text}}}," for name, text in work.fields.items()]
    return "\n".join([f"@{work.kind}{{{key},", *lines, "}"])


def _line(fields: Mapping[str, str]) -> str:
    """Write a work in one line: who, what, where, when."""
    where = next(
        (fields[k] for k in ("journal", "booktitle", "institution", "publisher") if k in fields), ""
    )
    volume = " ".join(part for part in (where, fields.get("volume", "")) if part)
    parts = [fields["author"].replace(" and ", "; "), fields["title"], volume]
    parts += [fields[name] for name in ("year", "note") if name in fields]
    return _plain(", ".join(part for part in parts if part))


def _plain(text: str) -> str:
    for accent, letter in _ACCENTS.items():
        text = text.replace(f"{{{accent}}}", letter)
    return text.replace("\\&", "&").translate({ord(sign): None for sign in "{}$"})
