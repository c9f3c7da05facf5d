"""Where answers differ: their numbers as a question, and the sentence that says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...pages import number_format as figures
from ...pages.model import Value
from .result import Piece, Question, Reason

if TYPE_CHECKING:
    from ...verdict.panel import MethodDisagreement
    from .answering import Asked

__all__ = ["reasons_of"]

_KEYS = {
    "HPT": "hpt",
    "Speedup-Test": "speedup-test",
    "randomization": "randomization",
    "bootstrap": "bootstrap",
    "mixtures": "mixtures",
    "Friedman": "friedman",
}
_SHORT = 0.01  # simulated coverage that lies farther below the confidence is worth a word


@dataclass(frozen=True, slots=True)
class _Difference:
    method: str
    code: str
    question: tuple[Piece, ...]
    text: str


def reasons_of(asked: Sequence[Asked], anchor: Callable[[str], str]) -> tuple[Reason, ...]:
    """Give a sentence for each difference; those that are alike for several candidates are one.

    Parameters
    ----------
    asked : sequence of Asked
        The candidates that were compared.
    anchor : callable
        Gives an id for a kind.
    """
    merged: dict[tuple[str, str, str], list[Question]] = {}
    for one in asked:
        for found in _differences(one):
            key = (found.method, found.code, found.text)
            named = one.name if len(asked) > 1 else ""
            merged.setdefault(key, []).append(Question(candidate=named, text=found.question))
    order = [*_KEYS.values(), "similar"]
    ranked = sorted(merged.items(), key=lambda item: order.index(item[0][0]))
    return tuple(
        Reason(
            anchor=anchor(f"panel-why-{number}"),
            method=method,
            code=code,
            questions=tuple(questions),
            text=text,
        )
        for number, ((method, code, text), questions) in enumerate(ranked, 1)
    )


def _differences(asked: Asked) -> Iterator[_Difference]:
    by_method: dict[str, list[MethodDisagreement]] = {}
    for one in asked.panel.disagreements:
        by_method.setdefault(one.of, []).append(one)
    yield from _hpt(asked, by_method.pop("HPT", []))
    yield from _weights(asked)
    yield from _sums(asked)
    for method, told in by_method.items():
        codes = dict.fromkeys(one.reason for one in told)
        yield _Difference(
            method=_KEYS.get(method, method),
            code=", ".join(codes),
            question=_question(asked, method),
            text=" ".join(_sentence(asked, one.text) for one in told),
        )


def _sentence(asked: Asked, text: str) -> str:
    """Make a sentence of a reason, with the speedup as the first screen writes it."""
    line = asked.line
    if line.speedup is not None:
        theirs = figures.ratio_within(line.speedup, line.low, line.high)
        text = text.replace(f"of {theirs} ", f"of {asked.lines[line.name].speedup.text}x ")
    if text.startswith("bootstrap "):
        text = f"the {text}"
    return f"{text[:1].upper()}{text[1:]}."


def _question(asked: Asked, method: str) -> tuple[Piece, ...]:
    """Set the two answers side by side."""
    line, answers = asked.line, asked.panel.answers
    ours = asked.word(line.outcome)
    if method == "mixtures":
        told = asked.told[method].value
        chance = "" if told is None else Value(f"{told:.2f}", told)
        return (f"{ours}, and a chance of ", chance, " in a single run?")
    if method == "Speedup-Test":
        return (_other_words(asked),)
    if method == "randomization" and answers.randomized is not None and line.speedup is not None:
        p = answers.randomized.pvalue
        pieces: tuple[Piece, ...] = ("p ", Value(figures.pvalue(p), p))
        return (*pieces, " for a factor of ", _these(asked), "?")
    told_word = asked.told[method].word if method in asked.told else None
    return (f"{ours} or {asked.word(told_word)}?",)


def _other_words(asked: Asked) -> str:
    """Name the benchmark, or count those, where the Speedup-Test has another word."""
    suite = asked.panel.answers.suite
    lines = {one.name: one for one in asked.found.benchmarks}
    differing = [
        test
        for test in (() if suite is None else suite.benchmarks)
        if test.name in lines and test.word != lines[test.name].outcome
    ]
    if len(differing) == 1:
        name = differing[0].name or ""
        ours, theirs = asked.word(lines[name].outcome), asked.word(differing[0].word)
        return f"{name}: {ours} or {theirs}?"
    if differing:
        return f"Another word on {len(differing)} of {len(lines)} benchmarks?"
    tests = () if suite is None else suite.benchmarks
    stopped = sum(test.mean.significant is None for test in tests)
    return f"No conclusion on {stopped} of {len(tests)} means?"


def _these(asked: Asked) -> Value:
    return asked.lines[asked.line.name].speedup


def _hpt(asked: Asked, told: Sequence[MethodDisagreement]) -> Iterator[_Difference]:
    """Set the mean beside the largest speedup that HPT claims, then what else it says."""
    bound, line = asked.verdict.hpt_speedup, asked.line
    whose = (
        f" (for '{asked.word('faster')}') belongs to 1x"  # the row of a slower one has the other
    )
    said = asked.told.get("HPT")  # absent where no method could be asked
    slower = said is not None and said.word == "slower"
    texts = [
        _sentence(asked, one.text.replace(" belongs to 1x", whose) if slower else one.text)
        for one in told
    ]
    if bound is None or bound.value is None or line.speedup is None:
        if texts:
            yield _Difference(
                "hpt",
                ", ".join(one.reason for one in told),
                _question(asked, "HPT"),
                " ".join(texts),
            )
        return
    claimed = asked.bound(bound.value)
    known = {one.name: one.speedup for one in asked.found.benchmarks if one.speedup is not None}
    least, most = min(known, key=lambda b: known[b]), max(known, key=lambda b: known[b])
    n = len(asked.found.benchmarks)
    ours = _these(asked)
    yield _Difference(
        method="hpt",
        code=", ".join(dict.fromkeys(one.reason for one in told)),
        question=(ours, " or ", Value(claimed.text, claimed.value), "?"),
        text=(
            f"{ours.text}x is the mean of these {n}, by {asked.found.outermost}s. {claimed.text}x is the largest "
            f"speedup that HPT claims with reliability {bound.required:g}: it asks what most "
            f"benchmarks reach, and single ones lie between {asked.lines[least].speedup.text}x and "
            f"{asked.lines[most].speedup.text}x. {' '.join(texts)}"
        ).rstrip(),
    )


def _alike(one: Value, other: Value) -> bool:
    """Whether two numbers are the same as far as the rougher one is written."""
    digits = min(len(value.text.partition(".")[2]) for value in (one, other))
    return round(one.value or 0.0, digits) == round(other.value or 0.0, digits)


def _weights(asked: Asked) -> Iterator[_Difference]:
    """Say what the overall speedups weigh, where they are written otherwise than the mean."""
    suite, line = asked.panel.answers.suite, asked.line
    if suite is None or line.speedup is None:
        return
    ours, overall = _these(asked), asked.ends(suite.speedup["mean"], None, None)[0]
    if _alike(ours, overall):
        return
    text = (
        "The Speedup-Test divides sums of mean values, so benchmarks with large ones weigh most; "
        "the geometric mean weighs all ratios alike."
        if len(suite.benchmarks) > 1
        else "The Speedup-Test divides arithmetic means of all runs, which a few slow runs move; the "
        f"interval is of geometric means, {asked.found.outermost} by {asked.found.outermost}."
    )
    yield _Difference(
        "speedup-test", "", (ours, " or ", Value(overall.text, overall.value), "?"), text
    )


def _sums(asked: Asked) -> Iterator[_Difference]:
    """Say how the bootstrap's interval, and the one for other benchmarks, differ from the first."""
    found, line, result = asked.found, asked.line, asked.panel.answers.bootstrap
    if line.low is None or line.high is None:
        return
    these = asked.lines[line.name].interval
    if found.similar is not None and found.similar.low is not None:
        others = asked.lines[found.similar.name].interval
        if others != these:
            yield _Difference(
                "similar",
                "",
                (f"{these} or {others}?",),
                f"The first is for these {len(found.benchmarks)}, the second for others like them: it "
                "also holds how much benchmarks differ among each other.",
            )
    if result is None:
        return
    value, low, high = asked.ends(result.ratio, result.low, result.high)
    ends = f"[{low.text}, {high.text}]"
    known = result.known_coverage
    if ends != these and known is not None and known < result.confidence - _SHORT:
        yield _Difference(
            "bootstrap",
            "",
            (f"{these} or {ends}?",),
            f"With so few {found.outermost if result.unit == 'session' else result.unit}s the bootstrap draws too little: in simulation such intervals "
            f"held the truth in {100 * known:.1f} % of suites and not in {100 * result.confidence:g} %.",
        )
    ours = _these(asked)
    if not _alike(ours, value):
        yield _Difference(
            "bootstrap",
            "",
            (ours, " or ", Value(value.text, value.value), "?"),
            f"The bootstrap weighs all runs that count alike; the {found.outermost} interval weighs "
            f"{found.outermost}s alike, and takes only what both sides have.",
        )
