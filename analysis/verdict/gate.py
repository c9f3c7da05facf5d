"""The gate: a condition that fails a build, held against each line of a verdict."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from ..data.pair import OF_ONE_SIDE
from ..errors import UsageError
from ..methods.multilevel.compare import CUT_OFF
from ..methods.multilevel.law import ErrorLaw, rounded, sessions_needed
from ..methods.multilevel.lines import TAKEN_BACK, pvalue_at
from ..methods.multilevel.result import MOST_SHOWN, Line, LookRisk, Multilevel
from ..pages import number_format as figures
from ..pages.model import Caution, Next, ShortSentence, merged
from ..pages.number_format import Difference
from ..pages.result import Condition, Result, parse_condition
from ..record.manifest import is_here
from ..stats.arguments import checks_arguments
from ..stats.multiplicity import adjusted, holm_steps
from ..words import apart
from .cautions import NOTHING_SHOWN, ShownCautions, chosen_cautions, shown_cautions
from .result import VARIES, next_asking, next_few, next_of_failing, next_report, next_sessions
from .sentence import REASONS, counted_sentence, short_name

if TYPE_CHECKING:
    from ..data.runs import Unit
    from ..pages.number_format import Word
    from ..record.trial_files import Manifest
    from .result import Verdict

On = Literal["suite", "benchmarks"]
Outcome = Literal["passed", "proven", "undecided"]
EXIT_CODES: dict[Outcome, int] = {"passed": 0, "proven": 1, "undecided": 7}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLine:
    """The condition on one benchmark, or on the suite: a line of the comparison, and what the gate says of it.

    `share`: By what the correction divides the risk of a proof here.
    """

    listed: ClassVar[tuple[str, ...]] = (
        *("name", "line.speedup", "line.low", "line.high"),
        *("pvalue_condition", "pvalue_condition_adjusted", "outcome", "reason", "line.identity"),
        *("line.difference", "line.difference_low", "line.difference_high", "line.cut"),
    )

    name: str
    line: Line
    pvalue_condition: float | None
    pvalue_condition_adjusted: float | None
    outcome: Outcome
    reason: str | None
    share: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingBenchmarks:
    """The benchmarks that the candidate lacks, and those that the baseline does."""

    candidate: tuple[str, ...] = ()
    baseline: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotCompared:
    """What stands for the comparison of a candidate without a run that succeeded."""

    unit: None = None
    better: None = None
    design: None = None
    sessions: int = 0
    look: LookRisk = LookRisk(count=1, alpha=math.nan, rule="single", total=math.nan)  # noqa: RUF009 - frozen
    outermost: Unit = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedCandidate:
    """One candidate at the gate: its comparison, and what the gate says of it.

    `suite` is the line of these benchmarks together, that of the only one where there is one, and None where nothing was
    measured. `reason`: "fails-more" or "fails-always" by the verdict, "confounded" or "one-session" where the design cannot
    decide, "missing" where the candidate lacks benchmarks and nobody allowed it, "depends" where sessions that a plan looked
    at resemble the ones before; None where the intervals decide. Of a candidate whose runs all failed nothing else is known.
    """

    listed: ClassVar[tuple[str, ...]] = (
        *("candidate", "baseline", "found.unit", "found.better", "found.design"),
        *("found.sessions", "found.look.*", "found.look.always_valid"),
        *("outcome", "reason", "suite", "benchmarks", "missing"),
    )

    candidate: str
    baseline: str | None
    found: Multilevel | NotCompared = NotCompared()
    outcome: Outcome
    reason: str | None
    suite: GateLine | None = None
    benchmarks: tuple[GateLine, ...] = ()
    missing: MissingBenchmarks = MissingBenchmarks()

    def named(self, outcome: Outcome) -> tuple[str, ...]:
        """Name the benchmarks with this outcome."""
        return tuple(line.name for line in self.benchmarks if line.outcome == outcome)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gate(Result):
    """Whether candidates pass a condition, such as ``slower>2%``.

    `outcome` is "proven" where the condition is proven of any candidate, else "undecided" where it could not be decided of
    one, else "passed"; `exit_code` is 1, 7, 0. `limit` is the speedup below which the condition holds, `confidence` that of the
    intervals at this look, `risk` the one-sided risk of each proof and pass; both are None where nothing could be compared.
    `metric` is what was compared, where that is known; `shown` are the cautions of its screen, `following` what to do next.
    """

    method: ClassVar[str] = "gate"
    words: ClassVar[str] = "analysis.verdict.gate_answer:screen"
    derived: ClassVar[tuple[str, ...]] = ("outcome", "exit_code", "sentence", "next")
    unlisted: ClassVar[frozenset[str]] = frozenset({"shown", "following"})

    condition: str
    metric: str | None = None
    limit: float
    on: On
    confidence: float | None
    risk: float | None
    candidates: tuple[GatedCandidate, ...]
    shown: ShownCautions = NOTHING_SHOWN
    following: tuple[Next, ...] = ()

    @property
    def parsed_condition(self) -> Condition:
        """The condition, taken apart."""
        return parse_condition(self.condition)

    @property
    def sentence(self) -> str:
        """The answer of the candidate that decides in one sentence, and how many pass."""
        worst = next(one for one in self.candidates if one.outcome == self.outcome)
        text, count = sentence_of(self, worst), len(self.candidates)
        if count == 1:
            return text
        passed = sum(one.outcome == "passed" for one in self.candidates)
        return f"{text} ({passed} of {count} candidates {'passes' if passed == 1 else 'pass'})"

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next: command lines that can be pasted, one after the other."""
        return tuple(one.line for one in self.following)

    def measure_of(self, one: GatedCandidate) -> dict[str, str]:
        """Give the metric, its unit and which of its values are better: those of a time where nothing was compared."""
        unit, better = one.found.unit, one.found.better
        known = {"unit": "s" if unit is None else unit, "better": better or "lower"}
        return {"metric": self.metric or "wall", **known}

    @property
    def outcome(self) -> Outcome:
        """The worst of all candidates."""
        found = {one.outcome for one in self.candidates}
        return "proven" if "proven" in found else "undecided" if "undecided" in found else "passed"

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        return EXIT_CODES[self.outcome]


_SESSIONS = ("paired", "separate", "hosts")  # designs whose replication is the session, or the host
WITHOUT = "gate-without"  # the code of what only a gate says
_WITHOUT_INTERVAL = ("no-interval", "below-resolution", "few-sessions", "without-ratio")
_ROUNDED = 1e-12  # of a logarithm
_BY_PLAN = ("planned", "repeated")  # rules of looks that have shared the risk
# the word that a longer time of a side's cut runs would overturn as it would the outcome
_STANDS_FOR: dict[Outcome, Word] = {"passed": "faster", "proven": "slower", "undecided": "undecided"}  # fmt: skip
_FAILS = ("fails-more", "fails-always")  # what the verdict says of a line whatever its speed


@checks_arguments
def gate(
    results: Multilevel | Sequence[Multilevel],
    condition: str,
    *,
    on: On = "suite",
    failing: Sequence[str] = (),
    metric: str | None = None,
    allow_missing: Sequence[str] = (),
) -> Gate:
    """Decide a condition such as ``slower>2%`` for one or several candidates.

    With L the limit of the speedup (1/1.02 of ``slower>2%``), x the log speedup of a line, e its
    standard error and f its degrees of freedom, the null hypothesis of a proof is "the speedup is L
    or more": p = P(T_f <= (x - log L) / e), one-sided, by Holm over the benchmarks of one candidate
    at half the risk of this look, `look_alpha`. Where no single f fits the line (sides, or hosts, of
    unequal numbers of sessions), p is half the risk at which its interval would end at L. The condition
    is ruled out on a line where the lower end of its uncorrected interval lies above L; of all
    benchmarks where that holds for every one, which needs no correction (an intersection-union test).
    Always-valid bounds take the place of t where the comparison has them. The clock's step is
    taken from each distance. A line without spread has no interval: it counts as p = 1, undecided. Of what is
    counted and does not vary p is half of the line's own, and both outcomes need it; means with a 0 among the
    runs are tested as c - r b, with r the limit as a share of the baseline.

    Parameters
    ----------
    results : Multilevel or sequence of Multilevel
        Comparisons by `multilevel`, one a candidate, with one confidence and one look.
    condition : str
        ``slower>N%``, ``worse>N%`` (the same) or ``faster<N%``.
    on : {"suite", "benchmarks"}
        What must pass: these benchmarks together, or each of them. Either way no benchmark may be
        proven; of "suite" neither may the suite be, whose risk is its own.
    failing : sequence of str
        Candidates that cannot be compared because none of their runs succeeded, although runs of the
        baseline did: proven, for that reason (``fails-always``).
    metric : str, optional
        What was compared, for the record.
    allow_missing : sequence of str
        Benchmarks of the baseline that a candidate may lack and still pass; "" is any.

    Returns
    -------
    Gate
        `outcome` "passed", "proven" or "undecided" and the exit code. Only the designs "paired" and
        "separate" decide. What the verdict proves of failing runs (`fails_proven`) is "proven" here;
        a candidate without a good run of some benchmark never passes.

    Raises
    ------
    UsageError
        If the condition or `on` is unknown, there is nothing to decide, or confidences differ.

    References
    ----------
    Holm, S.: A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6 (1979), section 2. Berger, R. L.: Multiparameter hypothesis testing and acceptance
    sampling. Technometrics 24 (1982), theorem 1: the intersection-union test.
    """
    found = (results,) if isinstance(results, Multilevel) else tuple(results)
    answer = _decided(found, condition, on, failing, allow_missing)
    texts = ([c if len(found) == 1 else c.of(one.candidate) for c in one.cautions] for one in found)
    cautions = merged(*texts, answer.cautions)
    names = {name for one in found for name in (one.candidate, one.baseline)}
    shown = chosen_cautions(cautions, {x.name for one in found for x in one.benchmarks}, names)
    return replace(answer, metric=metric, cautions=cautions, shown=shown)


def _decided(
    found: Sequence[Multilevel],
    condition: str,
    on: On,
    failing: Sequence[str],
    allowed: Sequence[str],
) -> Gate:
    """Decide as `gate` does, with the cautions that only a gate has."""
    asked = parse_condition(condition)
    if on not in ("suite", "benchmarks"):
        raise UsageError(f"on must be 'suite' or 'benchmarks', not {on!r}")
    if not found and not failing:
        raise UsageError("there is no candidate at the gate", None, "compare at least one")
    risks = {one.look.alpha for one in found}
    if len(risks) > 1:
        what = f"the comparisons have different confidences: {', '.join(f'{1 - x:g}' for x in sorted(risks)[::-1])}"
        raise UsageError(what, None, "use one, and as many looks for all")
    terms = [_Terms(one, asked) for one in found]
    chances = [[_chance(x, each) for x in each.one.benchmarks] for each in terms]
    by_plan = bool(found) and found[0].candidates == 1 and found[0].look.rule in _BY_PLAN
    gated = [
        _candidate(each, on, chances[k], [] if by_plan else chances[:k] + chances[k + 1 :], allowed)
        for k, each in enumerate(terms)
    ]
    base = found[0].baseline if found else None
    dead = (
        GatedCandidate(candidate=name, baseline=base, outcome="proven", reason="fails-always")
        for name in failing
    )
    return Gate(
        condition=asked.text,
        limit=asked.limit,
        on=on,
        confidence=round(1 - found[0].look.alpha, 15) if found else None,
        risk=round(found[0].look.alpha / 2, 15) if found else None,
        candidates=(*gated, *dead),
        cautions=merged(*(_unanswered(one, on) for one in gated)),
        references=(
            "Holm, A simple sequentially rejective multiple test procedure (1979)",
            "Berger, Multiparameter hypothesis testing and acceptance sampling (1982)",
        ),
    )


def gate_verdict(
    verdict: Verdict,
    condition: str,
    *,
    on: On = "suite",
    failing: Sequence[str] = (),
    allow_missing: Sequence[str] = (),
) -> Gate:
    """Decide a condition by a verdict, as `gate` does, with all cautions that the verdict has."""
    answer = _decided(verdict.compared, condition, on, failing, allow_missing)
    cautions, shown = merged(verdict.cautions, answer.cautions), shown_cautions(verdict)
    return replace(answer, metric=verdict.data.metric, cautions=cautions, shown=shown)


class _Terms(NamedTuple):
    """What holds for every line of a candidate."""

    one: Multilevel
    condition: Condition

    @property
    def risk(self) -> float:
        return round(self.one.look.alpha / 2, 15)

    @property
    def sign(self) -> int:
        return 1 if self.one.better == "higher" else -1

    @property
    def doubt(self) -> str | None:
        """What forbids any decision."""
        if any(caution.code == "one-build" for caution in self.one.cautions):
            return "one-build"
        if self.one.design not in _SESSIONS:
            return "confounded" if self.one.design == "confounded" else "one-session"
        return "depends" if self.one.withheld else None

    def beyond(self, line: Line) -> bool:
        """Tell whether what does not vary lies beyond the limit; of 0 every other number is more by any."""
        if line.speedup is not None:
            return math.log(line.speedup) < self.condition.log_limit - _ROUNDED
        one = line.identity
        return one is not None and self.sign * (one.candidate - one.baseline) < 0

    def totals_beyond(self, line: Line) -> bool:
        """Tell whether the limit lies between the ratio of typical runs and that of totals, which disagree."""
        totals = line.totals
        if totals is None or not totals.disagree or line.speedup is None:
            return False
        far = math.log(line.speedup) - self.condition.log_limit
        return far * (far + self.sign * totals.difference) < 0


_Chances = Sequence[tuple[float | None, float | None]]


def _chance(line: Line, terms: _Terms) -> tuple[float | None, float | None]:
    """Give the one-sided p of "the speedup is the limit or more", and its place among others.

    Both None where nothing may be decided; a line without spread has no p, and the place of p = 1.
    """
    if terms.doubt is not None:
        return None, None
    if line.reason in ("no-spread", *TAKEN_BACK):
        return None, 1.0
    if line.law == "identity":
        # one number on both sides is no test, and any other inside of the limit needs the same proof
        p = None if line.pvalue is None else line.pvalue / 2
        return p if terms.beyond(line) else None, p
    if line.above is not None:
        p = 1.0 - float(line.above(terms.condition.limit))
        return (None, None) if math.isnan(p) else (max(p, sys.float_info.min),) * 2
    if line.speedup is None or line.error is None or line.high is None:
        return None, None if line.pvalue is None else 1.0
    if line.freedom is None and not line.in_parts:
        return None, None
    # the clock's step is taken from the distance below the limit
    distance = math.log(line.speedup) - terms.condition.log_limit + (line.step_added or 0.0)
    law = ErrorLaw(alpha=terms.one.look.alpha, always_valid=terms.one.look.always_valid)
    both = pvalue_at(line, law, distance)
    p = 1 - both / 2 if distance > 0 else max(both / 2, sys.float_info.min)  # never 0
    return p, p


def _candidate(
    terms: _Terms, on: On, chances: _Chances, beside: Sequence[_Chances], allowed: Sequence[str]
) -> GatedCandidate:
    """Gate one of the candidates that share the risk, by its p-values and places, and those of the others."""
    one = terms.one
    ranks = {k: rank for k, (_, rank) in enumerate(chances) if rank is not None}
    # a line without spread has no p, and takes the place of the largest
    alone = adjusted([*ranks.values()], "holm").tolist()
    others = [rank for each in beside for _, rank in each if rank is not None]
    family = [*ranks.values(), *others]
    shared = adjusted(family, "holm").tolist()
    shares = dict(zip(ranks, holm_steps(family, "holm").tolist(), strict=False))
    corrected = {  # what passes because it does not vary has no p, and shares no risk
        k: own if chances[k][0] is None else place
        for k, own, place in zip(ranks, alone, shared, strict=False)
    }
    gated = (
        _line(line, terms, p, corrected.get(k), None if line.reason == CUT_OFF else line.reason)
        for k, (line, (p, _)) in enumerate(zip(one.benchmarks, chances, strict=True))
    )
    benchmarks = tuple(replace(line, share=shares.get(k, 1.0)) for k, line in enumerate(gated))
    if one.these is None:
        ratios = [x for x in benchmarks if x.line.speedup is not None and x.line.difference is None]
        measured = ratios or benchmarks
        suite = measured[0] if len(measured) == 1 else None
    else:
        taken = next((x.reason for x in one.benchmarks if x.reason in TAKEN_BACK), None)
        p, rank = _chance(one.these, terms)
        if p is not None and rank is not None:
            rank = min(1.0, rank * (len(beside) + 1))
        whole = _line(one.these, terms, p, rank, taken)
        share = len(beside) + 1.0
        suite = replace(whole, name="suite", pvalue_condition_adjusted=None, share=share)
    reasons = [line.reason for line in benchmarks]
    outcome = _outcome(suite, benchmarks, on if suite else "benchmarks")
    doubts = (*TAKEN_BACK, *((CUT_OFF,) if outcome == "undecided" else ()))
    shaken = suite.reason if suite is not None and suite.reason in doubts else None
    reason = next((x for x in _FAILS if x in reasons), None) or terms.doubt or shaken
    # a candidate that lacks benchmarks of its baseline does not pass
    failed = {line.name for line in one.benchmarks}  # which have their say already
    rest = [caution.about for caution in one.cautions if caution.code == OF_ONE_SIDE]
    sides = {about[0]: tuple(name for name in about[1:] if name not in failed) for about in rest}
    lacking = sides.get(one.baseline, ())
    if outcome != "proven" and "" not in allowed and set(lacking) - set(allowed):
        outcome, reason = "undecided", reason or "missing"
    return GatedCandidate(
        candidate=one.candidate,
        baseline=one.baseline,
        found=one,
        outcome=outcome,
        reason=reason,
        suite=suite,
        benchmarks=benchmarks,
        missing=MissingBenchmarks(candidate=lacking, baseline=sides.get(one.candidate, ())),
    )


def _outcome(suite: GateLine | None, benchmarks: Sequence[GateLine], on: On) -> Outcome:
    """Give the worst of what must pass and of what must not be proven."""
    if any(line.outcome == "proven" for line in benchmarks):
        return "proven"
    if on == "suite":
        # where no run of a benchmark succeeds there is nothing to pass
        dead = any(line.reason in _FAILS for line in benchmarks)
        if suite is None or (dead and suite.outcome == "passed"):
            return "undecided"
        return suite.outcome
    passed = bool(benchmarks) and all(line.outcome == "passed" for line in benchmarks)
    return "passed" if passed else "undecided"


def _line(
    line: Line, terms: _Terms, p: float | None, rank: float | None, reason: str | None
) -> GateLine:
    """Decide a line: `rank` is its p after the correction, or the place of a line without spread."""
    outcome: Outcome = "undecided"
    limit, doubt = terms.condition.limit, terms.doubt
    if reason in _FAILS:
        outcome = "proven" if line.fails_proven else "undecided"
    elif doubt is not None:
        reason = doubt
    elif reason in TAKEN_BACK:
        pass
    elif line.law == "identity" and reason != "no-spread":
        reason = "few-sessions" if rank is not None and rank > terms.risk else None
        if reason is None:
            outcome = "proven" if terms.beyond(line) else "passed"
    elif rank is not None and line.above is not None:
        within = bool(line.above(limit) <= terms.risk)
        outcome = "passed" if within else "proven" if rank <= terms.risk else "undecided"
        reason = "without-ratio" if outcome == "undecided" else None
    elif rank is None or line.low is None:
        reason = "no-interval" if reason in (None, "no-spread") else reason
    elif line.low > limit:
        outcome = "passed"
    elif rank <= terms.risk:
        outcome = "proven"
    cut = line.cut if reason is None else None
    if cut and (cut.withholds(_STANDS_FOR[outcome]) or (outcome == "undecided" and cut.known)):
        outcome, reason = "undecided", CUT_OFF
    if reason is None and terms.totals_beyond(line):
        outcome, reason = "undecided", "totals"
    return GateLine(
        name=line.name,
        line=line,
        pvalue_condition=p,
        pvalue_condition_adjusted=None if p is None else rank,
        outcome=outcome,
        reason=reason,
    )


def _unanswered(one: GatedCandidate, on: On) -> tuple[Caution, ...]:
    """Say which benchmarks no interval answers for, where the suite is decided without them."""
    names = tuple(line.name for line in one.benchmarks if line.reason in _WITHOUT_INTERVAL)
    if on == "benchmarks" or one.reason is not None or not names:
        return ()
    text = f"{one.candidate}: the gate has no interval for {', '.join(map(format, names))}, and answers without"
    short = ShortSentence.of("no interval for {}: the answer stands without", names)
    return (Caution(WITHOUT, text, (one.candidate, *names), short),)


# --- The answer of a candidate in one sentence, in the unit of the question. The screen, a build's
# annotation, its summary, JUnit and JSON all say it.

_NAME = 28  # columns of a variant's name, and of a benchmark's
_APART = 0.5  # points between the limit as it was asked for and as the screen counts, from which it is said
_DESIGNS = REASONS | {
    "confounded": "{noun} and variant cannot be separated",
    "depends": "{noun}s resemble the ones before them; measure again later",
    "one-build": "each was built once, and one value has no interval",
    "one-session": "all runs stem from one {noun}, and another may answer otherwise",
}


def sentence_of(gate: Gate, one: GatedCandidate) -> str:
    """Say what was found of a candidate, and what the condition makes of it."""
    ours, base = apart((one.candidate, one.baseline or "the baseline"), _NAME)
    if one.reason is not None and not one.benchmarks:
        return f"no run of {ours} succeeded"
    if one.reason in _FAILS:
        return _of_failures(gate, one, ours, base)
    if one.reason == "missing":
        names = [*map(short_name, one.missing.candidate)]
        of = figures.counted(len(names) + len(one.benchmarks), "benchmark")
        were = "was" if len(names) == 1 else "were"
        lacking = f"{len(names)} of {of} of {base} {were} not measured in {ours}"
        return f"{lacking}: {figures.listed(names, 8)}"
    if one.reason is not None:
        why = _DESIGNS.get(one.reason, one.reason).format(noun=one.found.outermost)
        return f"nothing is decided for {ours} against {base}: {why}"
    return _of_lines(gate, one, ours, base)


def _of_failures(gate: Gate, one: GatedCandidate, ours: str, base: str) -> str:
    """Say what failing runs make of a candidate: whether they stop it, or keep it from passing."""

    def on(reason: str, outcome: Outcome) -> str | None:
        found = [x.name for x in one.benchmarks if (x.reason, x.outcome) == (reason, outcome)]
        only = len(one.benchmarks) == 1
        where = "" if only else f" on {figures.listed([*map(short_name, found)], 3)}"
        return where if found else None

    more, never = on("fails-more", "proven"), on("fails-always", "proven")
    texts = [] if more is None else [f"{ours} fails more often than {base}{more}"]
    texts += [] if never is None else [f"no run of {ours} succeeded{never}"]
    if texts:
        return ", and ".join(texts)
    dead = f"no run of {ours} succeeded{on('fails-always', 'undecided') or ''}"
    if one.outcome == "proven":
        return f"{_of_lines(gate, one, ours, base)}; {dead}"
    return f"{dead}, which proves nothing yet"


def difference(gate: Gate, one: GatedCandidate, gated: GateLine) -> Difference:
    """Give a line's difference in the unit of the metric."""
    return Difference.of(gated.line, **gate.measure_of(one))


def _of_lines(gate: Gate, one: GatedCandidate, ours: str, base: str) -> str:
    """Say it by the line that made the outcome what it is: the suite where it did, else the farthest benchmark."""
    found = [x for x in one.benchmarks if x.outcome == one.outcome]
    decides = gate.on == "suite" and one.suite is not None and one.suite.outcome == one.outcome
    if one.suite is not None and (decides or one.outcome == "passed"):
        found = [one.suite]
    if not found:
        return f"nothing could be compared of {ours} and {base}"
    gated = min(found, key=lambda x: x.line.speedup or 1.0)
    gap, undecided = difference(gate, one, gated), gated.outcome == "undecided"
    where = (
        "" if gated is one.suite or len(one.benchmarks) == 1 else f" on {short_name(gated.name)}"
    )
    if one.found.outermost == "host":
        where += " on hosts like these"
    also = f", and on {len(found) - 1} more" if len(found) > 1 else ""
    end = _held(gate, one, gated)
    word: Word = "undecided" if undecided else "slower"
    if counted := counted_sentence(gated.line, gap, (ours, base), word, where):
        return f"{counted}{also}: {end}"
    if undecided and (gap.low is None or gap.too_few):
        why = "too few values" if gap.too_few else "there is no interval"
        return f"nothing is decided for {ours} against {base}{where}: {why}"
    if undecided and gated.reason != "totals":
        return f"{ours} {gap.verb} {gap.between()} than {base}{where}{also}: {end}"
    text = f"{gap.sentence(ours, base)}{where}"
    if gated.line.speedup == 1 and gap.low is None:
        text = f"{ours} {gap.same()} as {base}{where}"
    if gap.interval():
        text += f" ({gap.interval()})"
    if undecided:
        end = f"but in all it lies on the other side of {_limit(gate, one)}"
    return f"{text}{also}: {end}"


def _held(gate: Gate, one: GatedCandidate, gated: GateLine) -> str:
    """Hold the difference against what is allowed, or wanted."""
    limit, wanted = _limit(gate, one), gate.parsed_condition.kind == "faster"
    if gated.outcome == "undecided":
        return f"{'the wanted gain of ' * wanted}{limit} is neither proven nor ruled out"
    if wanted:
        return f"the wanted gain of {limit} is {'not ' * (gated.outcome == 'proven')}there"
    if gated.outcome == "proven":
        return f"more than the {limit} allowed"
    return f"{'less than' if (gated.line.speedup or 1) < 1 else 'within'} the {limit} allowed"


def _limit(gate: Gate, one: GatedCandidate) -> str:
    """Write the limit as it was asked for; where it is another share of the baseline's value, that too."""
    percent = gate.parsed_condition.percent
    ratio = gate.limit if one.found.better == "higher" else 1 / gate.limit
    points = 100 * abs(ratio - 1)
    far = f" ({points:.0f} % {'more' if ratio > 1 else 'less'})"
    return f"{percent:.12g} %{far if abs(points - percent) >= _APART else ''}"


# --- What to do after a gate.


def next_of_gate(
    gate: Gate,
    verdict: Verdict,
    manifest: Manifest | None,
    again: Sequence[str] = (),
) -> tuple[Next, ...]:
    """Give what to do next: go on where it is open, and ask again; else look at every run.

    `again`: The options with which the gate was asked, but for its looks. A fleet, or two sides that are no trial's
    campaign, have no `manifest`.
    """
    path = verdict.data.path
    if manifest is None or path is None:
        sources = verdict.data.sources or (path or "",)
        if any(one.state != "complete" for one in verdict.hosts):
            words = ("fairtrial", "status", *sources)
            return (Next(words, "what is missing, and how to go on"),)
        return (next_report(verdict, *sources),)
    plan, reasons = manifest.looks_plan, {one.reason for one in gate.candidates}
    used = plan is not None and plan.rule == "planned"  # its one look has all the risk
    closed = manifest.origin == "imported" or "one-build" in reasons
    if gate.outcome == "undecided" and not closed and reasons.intersection((*_FAILS, "missing")):
        return (next_of_failing(path),)
    if gate.outcome != "undecided" or closed or used:
        return (next_report(verdict, path),)
    campaign = verdict.data.campaign_path or f"{path}/campaign.yaml"
    if verdict.look.rule == "planned" and len(manifest.appended) + 1 >= verdict.look.count:
        why = "a new trial: all looks that were planned at this one are used"
        return (Next(("fairtrial", "run", campaign), why),) if is_here(campaign) else ()
    looks: tuple[str, ...] = ()  # a growing trial counts its looks itself
    if verdict.look.rule == "always-valid":
        looks = ("--always-valid",)
    elif verdict.look.rule == "planned":
        looks = ("--looks", f"{verdict.look.count}")
    asked, why = (gate.condition, path, *again), "then the gate again"
    then = next_asking(verdict, "gate", *asked, more=looks, why=why)
    codes = {caution.code for caution in verdict.cautions}
    if "still-running" in codes:
        return (Next(("fairtrial", "status", path), "how far it is"), then)
    if plan is not None or "ended-early" in codes:
        return (next_sessions(verdict, path, why="goes on measuring"), then)
    counts = [count for one in gate.candidates for count in _needed(gate, one)]
    if within := [count for count in counts if count is not None]:
        why = "decides with a chance of 3 in 4 at least"
        return (next_sessions(verdict, path, why=why, sessions=max(within)), then)
    least = min((one.found.sessions for one in gate.candidates), default=0)
    if not counts and (few := next_few(verdict, path, least)):  # no spread is known
        return (few, then)
    return (next_asking(verdict, "sources", path, why=f"{VARIES} decide it"),)


def _needed(gate: Gate, one: GatedCandidate) -> Iterator[int | None]:
    """Give for each line that keeps a candidate undecided how many more sessions decide; None beyond 1,000."""
    look, sessions = one.found.look, one.found.sessions
    if one.found.design not in ("paired", "separate") or sessions < 2:
        return
    opened = one.benchmarks
    if gate.on == "suite" and one.suite is not None:
        opened = (one.suite,)
    # of a growing trial the look i has alpha / (i (i + 1))
    later = {"single": 1 / 6, "growing": look.count / (look.count + 2)}
    alpha = look.alpha * later.get(look.rule, 1.0)
    for gated in (x for x in opened if x.outcome == "undecided"):
        line = gated.line
        if line.law == "identity" and line.more_sessions is not None:
            yield line.more_sessions.worthwhile
        elif line.speedup is not None and line.error:
            # the distance to the limit takes the place of the one to equal speed
            far = math.exp(math.log(line.speedup) - gate.parsed_condition.log_limit)
            count = sessions if line.of_suite else line.sessions
            asked = replace(line, speedup=far, sessions=count)
            share = gated.share if far < 1 else 1.0  # to pass takes no correction
            law = ErrorLaw(alpha=alpha / share, always_valid=look.always_valid)
            more = sessions_needed(asked, law, 0.0, limit=MOST_SHOWN)
            yield None if more is None else rounded(more)
