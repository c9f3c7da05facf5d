"""Where answers differ: their numbers as a question, and the sentence that says why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ...pages import number_format as figures
from ...pages.model import Value, value_of
from .answers import METHODS, Piece

if TYPE_CHECKING:
    from ...verdict.panel import MethodDisagreement
    from .answers import Asked

__all__ = ["reasons_of"]

_SHORT = 0.01  # simulated coverage that lies farther below the confidence is worth a word
_KEYS = {method.told: key for key, method in METHODS.items() if method.told}


# method, code ("" where the words agree, and only numbers differ), question, and what answers it
_Difference: TypeAlias = tuple[str, str, tuple[Piece, ...], str]


def reasons_of(
    asked: Sequence[Asked], anchor: Callable[[str], str]
) -> tuple[Mapping[str, Any], ...]:
    """Give a sentence for each difference; those that are alike for several candidates are one.

    Each has an ``anchor``, the ``method`` of its row, the ``code`` of its kind, the ``questions``
    (``candidate``, "" of the only one, and ``text`` in pieces) and the ``text`` that answers them.
    """
    merged: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for one in asked:
        named = one.name if len(asked) > 1 else ""
        for method, code, question, text in _differences(one):
            merged[method, code, text].append({"candidate": named, "text": question})
    order = [*_KEYS.values(), "similar"]
    ranked = sorted(merged.items(), key=lambda item: order.index(item[0][0]))
    return tuple(
        {
            "anchor": anchor(f"panel-why-{number}"),
            "method": method,
            "code": code,
            "questions": tuple(questions),
            "text": text,
        }
        for number, ((method, code, text), questions) in enumerate(ranked, 1)
    )


def _differences(asked: Asked) -> Iterator[_Difference]:
    by_method: dict[str, list[MethodDisagreement]] = defaultdict(list)
    for one in asked.panel.disagreements:
        by_method[one.of].append(one)
    yield from _hpt(asked, by_method.pop("HPT", []))
    yield from _weights(asked)
    yield from _similar(asked)
    yield from _bootstrap(asked)
    for method, told in by_method.items():
        text = " ".join(_sentence(asked, one.text) for one in told)
        yield (_KEYS.get(method, method), _codes(told), _question(asked, method), text)


def _codes(told: Sequence[MethodDisagreement]) -> str:
    return ", ".join(dict.fromkeys(one.reason for one in told))


def _sentence(asked: Asked, text: str) -> str:
    """Make a sentence of a reason, with the speedup as the first screen writes it."""
    line = asked.line
    if line.speedup is not None:
        theirs = figures.ratio_within(line.speedup, line.low, line.high)
        text = text.replace(f"of {theirs} ", f"of {_ours(asked).text}x ")
    if text.startswith("bootstrap "):
        text = f"the {text}"
    return f"{text[:1].upper()}{text[1:]}."


def _ours(asked: Asked) -> Value:
    return asked.lines[asked.line.name].speedup


def _question(asked: Asked, method: str) -> tuple[Piece, ...]:
    """Set the two answers side by side."""
    line, answers = asked.line, asked.panel.answers
    ours = asked.word(line.outcome)
    if method == "mixtures":
        chance = value_of(asked.told[method].value, "{:.2f}".format, "")
        return (f"{ours}, and a chance of ", chance, " in a single run?")
    if method == "Speedup-Test":
        return (_other_words(asked),)
    if method == "randomization" and answers.randomized is not None and line.speedup is not None:
        p = value_of(answers.randomized.pvalue, figures.pvalue)
        return ("p ", p, " for a factor of ", _ours(asked), "?")
    theirs = asked.word(asked.told[method].word if method in asked.told else None)
    return (f"{ours} or {theirs}?",)


def _other_words(asked: Asked) -> str:
    """Name the benchmark, or count those, where the Speedup-Test has another word."""
    suite = asked.panel.answers.suite
    tests = () if suite is None else suite.benchmarks
    lines = {one.name: one for one in asked.found.benchmarks}
    differing = [
        test for test in tests if test.name in lines and test.word != lines[test.name].outcome
    ]
    if len(differing) == 1:
        name = differing[0].name or ""
        ours, theirs = asked.word(lines[name].outcome), asked.word(differing[0].word)
        return f"{name}: {ours} or {theirs}?"
    if differing:
        return f"Another word on {len(differing)} of {len(lines)} benchmarks?"
    stopped = sum(test.mean.significant is None for test in tests)
    return f"No conclusion on {stopped} of {len(tests)} means?"


def _hpt(asked: Asked, told: Sequence[MethodDisagreement]) -> Iterator[_Difference]:
    """Set the mean beside the largest speedup that HPT claims, then what else it says."""
    bound = asked.verdict.hpt_speedup
    said = asked.told.get("HPT")  # absent where no method could be asked
    text = " ".join(_sentence(asked, one.text) for one in told)
    if said is not None and said.word == "slower":  # whose row has the other reliability
        text = text.replace(" belongs to 1x", f" (for '{asked.word('faster')}') belongs to 1x")
    if bound is None or bound.value is None or asked.line.speedup is None:
        if text:
            yield ("hpt", _codes(told), _question(asked, "HPT"), text)
        return
    ours, claimed = _ours(asked), asked.bound(bound.value)
    known = {one.name: one.speedup for one in asked.found.benchmarks if one.speedup is not None}
    least, most = (asked.lines[by(known, key=known.__getitem__)] for by in (min, max))
    mean = (
        f"{ours.text}x is the mean of these {len(asked.found.benchmarks)}, by "
        f"{asked.found.outermost}s. {claimed.text}x is the largest speedup that HPT claims with "
        f"reliability {bound.required:g}: it asks what most benchmarks reach, and single ones lie "
        f"between {least.speedup.text}x and {most.speedup.text}x."
    )
    yield ("hpt", _codes(told), _either(ours, claimed), f"{mean} {text}".rstrip())


def _either(ours: Value, theirs: Value) -> tuple[Piece, ...]:
    return (ours, " or ", Value(theirs.text, theirs.value), "?")


def _alike(one: Value, other: Value) -> bool:
    """Whether two numbers are the same as far as the rougher one is written."""
    digits = min(len(value.text.partition(".")[2]) for value in (one, other))
    return round(one.value or 0.0, digits) == round(other.value or 0.0, digits)


def _weights(asked: Asked) -> Iterator[_Difference]:
    """Say what the overall speedups weigh, where they are written otherwise than the mean."""
    suite = asked.panel.answers.suite
    if suite is None or asked.line.speedup is None:
        return
    ours, overall = _ours(asked), asked.ends(suite.speedup["mean"])[0]
    if not _alike(ours, overall):
        text = (
            "The Speedup-Test divides sums of mean values, so benchmarks with large ones weigh most; "
            "the geometric mean weighs all ratios alike."
            if len(suite.benchmarks) > 1
            else "The Speedup-Test divides arithmetic means of all runs, which a few slow runs move; "
            f"the interval is of geometric means, {asked.found.outermost} by {asked.found.outermost}."
        )
        yield ("speedup-test", "", _either(ours, overall), text)


def _similar(asked: Asked) -> Iterator[_Difference]:
    """Say how the interval for other benchmarks differs from the first."""
    line, similar = asked.line, asked.found.similar
    if line.low is None or similar is None or similar.low is None:
        return
    these, others = (asked.lines[one.name].interval for one in (line, similar))
    if others != these:
        text = (
            f"The first is for these {len(asked.found.benchmarks)}, the second for others like them: "
            "it also holds how much benchmarks differ among each other."
        )
        yield ("similar", "", (f"{these} or {others}?",), text)


def _bootstrap(asked: Asked) -> Iterator[_Difference]:
    """Say how the bootstrap's interval, and its estimate, differ from the first."""
    line, result = asked.line, asked.panel.answers.bootstrap
    if line.low is None or result is None:
        return
    outermost, these = asked.found.outermost, asked.lines[line.name].interval
    value, low, high = asked.ends(result.ratio, result.low, result.high)
    ends, known = f"[{low.text}, {high.text}]", result.known_coverage
    if ends != these and known is not None and known < result.confidence - _SHORT:
        text = (
            f"With so few {asked.unit(result.unit)}s the bootstrap draws too little: in simulation such intervals held "
            f"the truth in {100 * known:.1f} % of suites and not in {100 * result.confidence:g} %."
        )
        yield ("bootstrap", "", (f"{these} or {ends}?",), text)
    ours = _ours(asked)
    if not _alike(ours, value):
        text = (
            f"The bootstrap weighs all runs that count alike; the {outermost} interval weighs "
            f"{outermost}s alike, and takes only what both sides have."
        )
        yield ("bootstrap", "", _either(ours, value), text)
