"""The methods paragraph: what was measured and how it was judged, and the works that this rests on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from ..data.host_record import pinned_cpus, read_environments, settings_of
from ..data.trial import Trial
from ..importers.reader import trial_and_variant
from ..methods.multilevel.result import Multilevel
from ..pages import number_format as figures
from ..registry import shipped
from ..verdict.result import Verdict
from ..verdict.sentence import family
from ..version import VERSION
from .subject import Subject, few_sessions, first_host, level_of, ours_of


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence, and whether it is a name that is not ours."""

    text: str
    foreign: bool = False


_name = partial(Span, foreign=True)


def spoken_text(spans: Sequence[Span]) -> str:
    """Set a sentence as plain text."""
    return "".join(one.text for one in spans)


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RELEASE = re.compile(r"\d+(?:\.\d+)*")
_INTERVALS = ("kalibera2013", "ibragimov2010", "lai1976", "welch1947", "banerjee1960")
TOOL = "fairtrial"
# of the panel's methods, by the first word of their names: what they are called, and whose they are
METHODS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "HPT": ("HPT", ("chen2012",)),
    "Speedup-Test": ("the Speedup-Test", ("touati2010",)),
    "randomization": ("a randomization test", ("irving2020", "phipson2010")),
    "bootstrap": ("the bootstrap", ("irving2020", "efron1993")),
    "mixtures": ("Gaussian mixtures", ("worms2018",)),
}
_BIPLOT = 3  # variants that a biplot needs
_FIELD = re.compile(r"  (\w+) = \{(.*)\},\n")
_WHERE = ("journal", "booktitle", "institution", "publisher")
_SIGNS = {'{\\"u}': "ü", "{\\'e}": "é", "\\&": "&", "{": "", "}": "", "$": ""}
_RULES = {"holm": "Holm's method", "bh": "Benjamini and Hochberg's method"}
_BLOCKS = "in blocks that hold each variant and benchmark once"
_ORDER = {
    "shuffled": f"{_BLOCKS}, each block in a new random order",
    "interleaved": f"{_BLOCKS}, always in the same order",
    "alternating": f"{_BLOCKS}, forwards and backwards by turns",
    "drawn-start": f"{_BLOCKS}, forwards and backwards by turns, the first drawn in each session",
    "sequential": "one variant and benchmark after the other",
}
_WARMED = {"all": "in every session", "first": "in the first session"}

Sentence = str | tuple[str | Span, ...]  # a name that is not ours is a span
Cite = Callable[..., str]


def paragraph_of(subject: Subject, numbers: Mapping[str, int]) -> list[Span]:
    """Give the paragraph; what the sources do not say is said to be unknown.

    `numbers` holds the works that can be cited: under its key each has its number in the list.
    """

    def cite(*keys: str) -> str:
        found = sorted({numbers[key] for key in keys if key in numbers})
        return f" [{', '.join(map(str, found))}]" if found else ""

    spans: list[Span] = []
    for sentence in (*_executed(subject), *_judged(subject, cite), _tool(subject, cite(TOOL))):
        parts = (sentence,) if isinstance(sentence, str) else sentence
        spans += [Span(" "), *(Span(part) if isinstance(part, str) else part for part in parts)]
    return spans[1:]


def counted(number: int, noun: str) -> str:
    """Write a count with its noun: in letters up to ten."""
    text = _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"
    return f"{text} {noun}{'s' * (number != 1)}"


def _begun(number: int, noun: str) -> str:
    return counted(number, noun).capitalize()


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


# --- what was measured


def _executed(subject: Subject) -> Iterator[Sentence]:
    two = len(subject.trials) > 1
    for trial, which in zip(subject.trials, ("first", "second"), strict=False):
        yield from _measured(trial, subject, f"In the {which} of two trials" if two else "")
    if not subject.trials:
        yield (
            "The values were read from files, which do not say how they were measured: sessions, "
            "order and host are unknown."
        )
    elif min(len(subject.sources), len(subject.matrices)) > len(subject.trials):
        yield "The other side was read from a file, which does not say how it was measured."


def _measured(trial: Trial, subject: Subject, where: str) -> Iterator[Sentence]:
    manifest, verdict = trial.manifest, subject.verdict
    imported = manifest.origin == "imported"
    who = "another tool" if imported else "we"
    begin = f"{where} {who}" if where else who.capitalize()
    level = level_of(verdict)
    settings = settings_of(trial.path if level is None else first_host(verdict) or trial.path)
    parts = (settings.get(name) for name in ("protocol", "isolation"))
    protocol, isolation = (part if isinstance(part, dict) else {} for part in parts)
    variants, benchmarks = _chosen(trial, subject)
    cells, judged = _cells(manifest.variants, manifest.benchmarks), _cells(variants, benchmarks)
    if judged != cells and variants:
        cells += f" ({judged} {_were(len(variants))} judged)"
    order = _ORDER.get(str(protocol.get("order")), "in an order that the trial does not say")
    random = {
        "a new address layout": isolation.get("aslr") is True,
        "an environment padded by a random length": isolation.get("padding") == "random",
    }
    apart = " and ".join(words for words, given in random.items() if given)
    alone = f"every run in a process of its own{' with ' * bool(apart)}{apart}"
    if imported:
        alone = "a run being what its files call a process, else a single value"
    yield f"{begin} executed {cells} {_amount(trial, verdict)}, {order}, {alone}."
    built = [one.variant for one in verdict.layouts]
    if built and len(subject.trials) == 1:
        every = len(built) == len(manifest.variants)
        whose = "all variants" if every else counted(len(built), "variant")
        yield (
            f"Before each session {whose} {_were(len(built))} built anew, with another layout of the "
            "code each time."
        )
    if manifest.sequential and manifest.stop is not None:
        yield (
            "A session ended when the 95 % interval of each suite's speedup was narrower than "
            f"{100 * manifest.stop.width:g} %, so the number of runs depends on the values."
        )
    if level is None:
        yield _host(trial)
    elif model := manifest.cpu_model:
        hosts = counted(len(level.hosts), "host")
        yield f"The {hosts} were machines with one kind of processor (", _name(model), ")."
    else:
        yield "The hosts do not have one kind of processor, or it is not recorded."
    if warmup := manifest.warmup:
        where = _WARMED.get(str(protocol.get("warmup_sessions")), "in a session")
        yield f"{_begun(warmup, 'warm-up run')} of each {where} {_were(warmup)} left out."
    elif not imported:
        yield "There were no warm-up runs."
    variants = variants or list(manifest.variants)
    mine = np.isin(trial.variant, [manifest.variants.index(name) for name in variants])
    if failed := sum(not run.warmup and run.variant in variants for run in trial.failures()):
        total = failed + int((trial.measured & mine).sum())
        paired = any(one.design in ("paired", "hosts") for one in subject.results)
        rest = ", with what the other side measured in the same blocks" if paired else ""
        yield f"{_begun(failed, 'run')} of {total:,} failed and {_were(failed)} left out{rest}."
    yield from _disturbed(trial, mine)
    if level is not None:
        yield from _unfinished(verdict)
    elif not trial.finished or manifest.status not in ("complete", "running"):
        yield "The trial is not complete: what is there was judged."


def _chosen(trial: Trial, subject: Subject) -> tuple[list[str], list[str]]:
    mine, benchmarks = set(subject.matrices), set(subject.order)
    if len(subject.trials) > 1:
        named = filter(None, map(trial_and_variant, subject.sources))
        mine = {variant for path, variant in named if path == trial.path and variant}
        lines = [line for one in subject.results for line in one.benchmarks]
        benchmarks = {line.name for line in lines if line.speedup is not None}
    return (
        [name for name in trial.manifest.variants if name in mine],
        [name for name in trial.manifest.benchmarks if name in benchmarks],
    )


def _cells(variants: Sequence[str], benchmarks: Sequence[str]) -> str:
    return f"{counted(len(variants), 'variant')} on {counted(len(benchmarks), 'benchmark')}"


def _amount(trial: Trial, verdict: Verdict) -> str:
    manifest, level = trial.manifest, level_of(verdict)
    if level is not None:
        each, runs = level.sessions_each, verdict.counts.session_runs or (0, 0)
        return (
            f"in {_between(*each, 'session')} on each of {counted(len(level.hosts), 'host')}, "
            f"{_between(*runs, 'run')} of each in a session"
        )
    most = "at most " if manifest.sequential else ""
    runs_each = f"{most}{counted(manifest.runs, 'run')} of each"
    if trial.outermost == "host":
        return f"on {counted(manifest.sessions, 'host')}, {runs_each} on a host"
    return f"in {counted(manifest.sessions, 'session')} of {runs_each}"


def _between(low: int, high: int, noun: str) -> str:
    return counted(low, noun) if low == high else f"{low} to {counted(high, noun)}"


def _host(trial: Trial) -> Sentence:
    records = read_environments(trial.path)
    sections = records[0].sections if records else {}
    cpu, kernel = sections.get("cpu", {}), sections.get("kernel", {})
    model = cpu.get("model") or trial.manifest.cpu_model
    if not model and not kernel:
        return "What host they were executed on is not recorded."
    virtual = sections.get("host", {}).get("virtual") not in (None, "", "none", False)
    cores = cpu.get("cores")
    with_cores = f" with {figures.counted(cores, 'CPU')}" if isinstance(cores, int) else ""
    release = _RELEASE.match(str(kernel.get("release") or ""))
    linux = f"Linux {release.group()}" if release else ""
    system = ", ".join(filter(None, (str(kernel.get("distribution") or ""), linux)))
    return (
        f"The host was a {'virtual ' * virtual}machine{with_cores}",
        *((" (", _name(str(model)), ")") if model else ()),
        *((" under ", _name(system)) if system else ()),
        f"; {_pinned(trial)}.",
    )


def _pinned(trial: Trial) -> str:
    places = pinned_cpus(trial)
    if not places:
        return "whether runs were pinned to a CPU is not recorded"
    if places == (None,):
        return "runs were not pinned to a CPU"
    if None in places:
        return "runs were pinned to CPUs in some sessions only"
    if {len(one) for one in places if one is not None} != {1}:
        return "runs were pinned to a set of CPUs"
    return f"each run was pinned to one CPU{', not the same in all sessions' * (len(places) > 1)}"


def _unfinished(verdict: Verdict) -> Iterator[str]:
    if lost := sum(not one.judged for one in verdict.hosts):
        hosts = f"{_begun(lost, 'more host')} {_were(lost)}"
        yield f"{hosts} planned, but left nothing to judge."
    if some := sum(one.judged and one.state != "complete" for one in verdict.hosts):
        hosts = f"{_begun(some, 'host')} of these {_were(some)}"
        yield f"{hosts} not complete: what is there was judged."


def _disturbed(trial: Trial, mine: NDArray[np.bool_]) -> Iterator[str]:
    """Say how many runs waited for a CPU, and what was done about it; nothing where none is known to."""
    ours = mine & ~trial.warmup & (trial.outcome == 0)
    first, waited = ours & (trial.repeats < 0), ours & (trial.disturbed == 1)
    count = int((first & waited).sum())
    if not count:
        return
    known, left = int((first & (trial.disturbed >= 0)).sum()), int((waited & trial.chosen).sum())
    done = (
        ": such runs were executed again at the end of their block, at most twice, and the first "
        f"undisturbed run was taken; {left:,} remained."
        if trial.manifest.repeating
        else "; nothing was left out or corrected for it."
    )
    yield (
        f"{_begun(count, 'run')} of {known:,} waited for a CPU for more than 0.5 % of the time{done}"
    )


# --- how it was judged


def _judged(subject: Subject, cite: Cite) -> Iterator[Sentence]:
    verdict, results = subject.verdict, subject.results
    level = f"{100 * (1 - verdict.look.alpha):.4g} %"
    known = {"wall": "wall time", "values": "the values"}.get(verdict.data.metric)
    value = ("the metric ", _name(verdict.data.metric)) if known is None else (known,)
    if not results:  # one side alone
        of = {
            "session": f"the {verdict.data.outermost} means",
            "block": "the means of blocks",
            "run": "the runs",
        }
        units = dict.fromkeys(one.unit for one in verdict.alone if one.low is not None)
        means = " or ".join(of.get(unit, unit) for unit in units)
        law = f" with {level} intervals by Student's t on the logarithms of {means}"
        end = f"{law if units else ''}; nothing was compared."
        yield "Given are geometric means of ", *value, end
        return
    weighed = ", weighted over benchmarks" if subject.options.get("weights") else ""
    yield (
        f"{'Speedups' if results[0].timed else 'Ratios'} are ratios of geometric means of ",
        *value,
        f"{weighed}, above 1 where a variant is better than ",
        _name(verdict.data.baseline),
        f", {_interval(results, level)}{cite(*_INTERVALS)}.",
    )
    if verdict.quantile is not None and verdict.quantile.level == "session":
        yield (
            "The value of a session is the quantile of all values of ",
            _name(verdict.quantile.metric),
            " that its runs printed, together.",
        )
    if all(one.design == "confounded" for one in results):
        return
    many, what = family(*results)
    if many > 1 and verdict.question.correction in _RULES:
        yield (
            f"The words of the benchmarks, not their intervals, are corrected by "
            f"{_RULES[verdict.question.correction]} over {counted(many, what)}"
            f"{cite('holm1979', 'benjamini1995')}."
        )
    elif many > 1:
        yield "The words of the benchmarks are not corrected for their number."
    yield from _looks(verdict)
    if verdict.question.margin > 0:
        risk = figures.significant(50 * verdict.look.alpha, 2)
        sign = "" if few_sessions(verdict) else "± "
        yield (
            f"Differences within {sign}{100 * verdict.question.margin:g} % count as equivalent (two one-sided "
            f"tests, {risk} % a side){cite('schuirmann1987')}."
        )
    *most, last = [f"{words}{cite(*keys)}" for words, keys in methods_used(subject)] or [""]
    if last:
        methods = " and ".join(filter(None, (", ".join(most), last)))
        yield f"For comparison the report also gives what {methods} say of the same runs."


def _looks(verdict: Verdict) -> Iterator[str]:
    risk = (
        f"at a risk of {figures.significant(100 * verdict.look.alpha, 3)} %, so that all looks "
        f"together risk at most {100 * verdict.look.total:.3g} %."
    )
    found = {
        "planned": f"The data were to have {counted(verdict.look.count, 'look')}, each",
        "repeated": "The data were looked at while they were measured, after numbers of sessions that "
        "were listed before, each time",
        "growing": "The data grew without a plan of looks: this one, number "
        f"{verdict.look.count}, was judged",
    }.get(verdict.look.rule)
    if found is not None:
        yield f"{found} {risk}"


def _tool(subject: Subject, cited: str) -> Sentence:
    versions = (trial.manifest.tool_version for trial in ours_of(subject))
    measured = list(dict.fromkeys(filter(None, versions)))
    if not measured or measured == [VERSION]:
        did = "Measured and analysed" if measured else "Analysed"
        return f"{did} with fairtrial {VERSION}{cited}."
    by = _name(" and ".join(measured))
    return "Measured with fairtrial ", by, f", analysed with {VERSION}{cited}."


def _interval(results: Sequence[Multilevel], level: str) -> str:
    designs = list(dict.fromkeys(one.design for one in results))
    if len(designs) > 1:
        return f"with {level} intervals by the design of each pair ({', '.join(designs)})"
    if designs == ["confounded"]:
        return "without an interval and without a word: each side was measured on an occasion of its own"
    noun = results[0].outermost
    laws = {line.law for one in results for line in one.benchmarks}
    sides = "Welch" if "welch" in laws or "banerjee" not in laws else ""
    bound = "Banerjee's bound, for unequal numbers of them" if "banerjee" in laws else ""
    of_sides = "; ".join(filter(None, (sides, bound)))
    by = {
        "paired": f"the {noun}s' means of the paired log ratios",
        "hosts": "the hosts' log ratios, widened by the error that their own sessions give them, for "
        "hosts like these",
        "separate": f"the {noun} means of the logarithms of both sides ({of_sides})",
        "one session, blocks": f"the log ratios of the blocks of the only {noun}",
        "one session, runs": f"the logarithms of the runs of the only {noun} ({of_sides})",
    }[designs[0]]
    if results[0].look.always_valid:
        return f"with {level} confidence sequences from {by}, which hold however often one looks"
    lines = [one.benchmarks[0] if one.these is None else one.these for one in results]
    degrees = {line.freedom for line in lines if line.freedom is not None}
    text = figures.significant(degrees.pop(), 3) if len(degrees) == 1 else ""
    text = text.removesuffix(".00").removesuffix(".0")
    freedom = f" ({text} degrees of freedom)" if text else ""
    return f"with {level} intervals by Student's t on {by}{freedom}"


# --- the works that it rests on: only those it makes use of


def works_used(subject: Subject) -> tuple[str, ...]:
    """Name the works that this verdict rests on, in the order of the text."""
    found = [key for one in subject.results for key in _of_verdict(one)]
    found += [key for _, keys in methods_used(subject) for key in keys]
    if len(subject.matrices) >= _BIPLOT:
        found += ["irving2020", "gabriel1971"]
    return tuple(dict.fromkeys(found))


def methods_used(subject: Subject) -> list[tuple[str, tuple[str, ...]]]:
    """Give what `METHODS` says of the published methods that gave an answer, each once."""
    panels = [one.panel for one in subject.candidates if one.panel is not None]
    found = [one for panel in panels for one in panel.methods]
    answered = [one.method for one in found if not one.answer.startswith("not possible")]
    names = dict.fromkeys(method.partition(",")[0] for method in answered)
    return [METHODS[name] for name in names if name in METHODS]


@cache
def works() -> Mapping[str, str]:
    """Give all entries of BibTeX by their keys; the tool's names this version."""
    text = shipped("analysis/report/works.bib").read_text("utf-8")
    entries = text.replace("VERSION", VERSION).strip().split("\n\n")
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}


def citations_of(keys: Iterable[str]) -> list[dict[str, str]]:
    """Give the works of these keys, each in one line and as BibTeX, and the tool itself first."""
    return [
        {"key": key, "text": _line(works()[key]), "bibtex": works()[key]}
        for key in dict.fromkeys((TOOL, *keys))
    ]


def _of_verdict(result: Multilevel) -> list[str]:
    laws = {line.law for line in result.benchmarks}
    correction = result.correction if len(result.benchmarks) > 1 else "none"
    rests_on = {
        "kalibera2013": True,
        "lai1976": result.look.always_valid,
        "ibragimov2010": not result.look.always_valid,
        "welch1947": "welch" in laws,
        "banerjee1960": not laws.isdisjoint({"banerjee", "grouped"}),
        "holm1979": correction == "holm",
        "benjamini1995": correction == "bh",
        "schuirmann1987": result.margin > 0,
    }
    return [key for key, yes in rests_on.items() if yes and result.design != "confounded"]


def _line(entry: str) -> str:
    fields = dict(_FIELD.findall(entry))
    where = next((fields[name] for name in _WHERE if name in fields), "")
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
