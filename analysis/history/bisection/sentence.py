"""The answer of a bisection in one sentence, what it says of each step, and what to do next."""

from __future__ import annotations

from ...announcing import cells, cut
from ...pages.difference import Compared, Difference
from ...pages.model import Next
from ...pages.number_format import counted, is_time, listed, said
from ...record.warmup_iterations import asked_words
from ...words import shown
from ..search_result import PairWord
from .result import Bisection, End, ProvenStep

_NAME = 24  # columns for what the user called a commit
_NAMED = 3  # culprits that a sentence names


def name_of(end: End) -> str:
    """Give what the user called a commit, as a screen shows it; the SHA where that takes too much room."""
    name = shown(end.name)
    if not name or cells(name) != len(name) or " " in name:
        return end.short
    return end.short if name == end.commit else cut(name, _NAME)


def difference_of(told: Bisection, line: Compared) -> Difference:
    """Give the difference that a speedup of the metric stands for."""
    return Difference.of(line, metric=told.metric, unit=told.unit, better=told.better)


def with_interval(told: Bisection, line: Compared, than: str) -> str:
    """Say a difference with its interval: ``takes 5 % more time than its parent (4 to 6 %)``."""
    found = difference_of(told, line)
    ends = found.interval()
    return f"{found.phrase()} {found.link} {than}{f' ({ends})' if ends else ''}"


def word_of(told: Bisection, word: str) -> str:
    """Give ``slower`` or, of a metric that is no time, ``worse``."""
    timed = Difference(2.0, None, None, told.metric, told.unit, told.better).timed
    if word == "slower":
        return said("slower", timed=timed)
    return said("faster", timed=timed) if word == "faster" else word


def parent_of(one: ProvenStep) -> str:
    """Name what a culprit is held against: its parent, or the newest commit before that can be measured."""
    return "its parent" if len(one.commits) == 1 else one.after[:7]


def sentence_of(told: Bisection) -> str:
    """Say the answer in one sentence."""
    good, bad = name_of(told.good), name_of(told.bad)
    if told.answer is None:
        done = counted(told.sessions, "session")
        return f"not finished: no answer on {good}..{bad} yet, {done} measured"
    if told.answer == "not-built":
        out = {one.place for one in told.skipped}
        names = " and ".join(name_of(one) for one in (told.good, told.bad) if one.place in out)
        both = " and " in names
        return f"{names} {'do' if both else 'does'} not build: there is nothing to compare"
    if told.answer == "no-difference":
        if told.one_program:
            return f"no difference: {bad} builds to the same program as {good}"
        same = difference_of(told, told.first).same()
        return f"no difference: {bad} {same} as {good}, within {100 * told.margin:g} %"
    if told.culprits:
        rest = "; a further part is open" if told.answer == "partly" else ""
        return f"{_proven(told, good, bad)}{rest}"
    if told.first.word in ("faster", "slower"):
        whole = difference_of(told, told.first).sentence(bad, good)
        return f"{whole}, but no commit is proven to have made it so"
    return difference_of(told, told.first).answer("undecided", bad, good, margin=told.margin)


def _proven(told: Bisection, good: str, bad: str) -> str:
    if len(told.culprits) == 1:
        (one,) = told.culprits
        made = f"made it {word_of(told, one.word)}"
        sha = one.upto[:7]
        if len(one.commits) == 1:
            return f"{sha} {made}: it {with_interval(told, one, 'its parent')}"
        head = f"one of {len(one.commits)} commits up to {sha} {made}"
        return f"{head}: {sha} {with_interval(told, one, parent_of(one))}"
    words = {one.word for one in told.culprits}
    how = f"made it {word_of(told, words.pop())}" if len(words) == 1 else "changed it"
    names = listed([one.upto[:7] for one in told.culprits], _NAMED)
    whole = difference_of(told, told.first).sentence(bad, good)
    return f"{len(told.culprits)} commits {how}: {names}; {whole}"


def told_word(word: PairWord, later: str, metric: str, unit: str, better: str) -> str:
    """Say what a look says of the later of two commits: ``v2 takes 5 % more time (4 to 6 %): slower``."""
    found = Difference.of(word, metric=metric, unit=unit, better=better)
    ends = f" ({found.interval()})" if found.interval() else ""
    answer = said(word.word, timed=found.timed)
    difference = "" if found.ratio is None else f"{found.phrase()}{ends}: "
    return f"{later} {difference}{answer}"


def next_of(told: Bisection) -> Next | None:
    """Give what to do next; None where there is nothing to read or to go on with."""
    if told.path is None:
        return None
    if told.answer is None:
        return Next(("fairtrial", "bisect", "--resume", told.path), "goes on")
    metric = (*(() if told.metric == "wall" else ("--metric", told.metric)), *asked_words())
    steps = [one for one in (*told.culprits, *told.refuted[-1:]) if one.trial is not None]
    if steps:
        one = steps[0]
        name = f"{one.commits[-1].place:04d}-{one.upto[:7]}"
        if told.culprits and is_time(told.unit):  # functions take time, and nothing else
            return Next(("fairtrial", "why", f"{one.trial}:{name}"), "in which functions")
        why = "the claim's numbers" if told.culprits else "the last proof's numbers"
        variant = ("--variant", name)
        return Next(("fairtrial", "verdict", str(one.trial), *variant, *metric), why)
    if told.first.sessions:
        words = ("fairtrial", "verdict", f"{told.path}/step0", *metric)
        return Next(words, f"{name_of(told.bad)} against {name_of(told.good)}")
    return None
