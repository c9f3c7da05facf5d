"""What the comparison of two trials says: what differs around them, and of each effect what holds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..data.protocol import is_free_setting, setting_leaves, settings_of
from ..errors import StoreError
from ..pages import number_format as figures
from ..pages.model import Caution
from ..pages.result import Result, plain
from ..record.environment import Change, diff
from ..record.shapes import records_of
from ..record.trial_files import ENVIRONMENT, EnvironmentShape, StopRule
from ..words import PLACEHOLDER

if TYPE_CHECKING:
    from ..data.levels import Unit
    from ..data.trial import Trial
    from ..methods.multilevel.host_effects import Shift
    from ..methods.multilevel.law import LooksRule
    from ..pages.number_format import Word

Agreement = Literal["agrees", "compatible", "differs", "cannot tell"]
Reproduction = Literal["reproduced", "partly", "not", "cannot tell"]

_REFERENCES = (
    "B. L. Welch, The generalization of 'Student's' problem when several different population "
    "variances are involved, Biometrika 34, 1947",
    "S. K. Banerjee, Approximate confidence interval for linear functions of means of k populations "
    "when the population variances are not equal, Sankhya 22, 1960",
    "S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of "
    "Statistics 6, 1979",
    "N. Schenker, J. F. Gentleman, On judging the significance of differences by examining the "
    "overlap between confidence intervals, The American Statistician 55, 2001",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What one trial says of a candidate against the baseline, as its verdict has it."""

    speedup: float | None
    low: float | None
    high: float | None
    error: float | None
    freedom: float | None
    sessions: int
    outcome: Word
    outcome_uncorrected: Word
    reason: str | None
    errors: tuple[float, ...] | None = None
    freedoms: tuple[float, ...] | None = None
    step_added: float | None = None

    @property
    def decided(self) -> bool:
        """Whether the verdict concludes something: a direction, or that both are equivalent."""
        return self.outcome != "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """How many more sessions the second trial needs; `target` is what the first one concludes."""

    sessions: int | None
    target: Word

    def to_dict(self) -> dict[str, Any]:
        """Give the advice as JSON types."""
        return {"sessions": self.sessions, "for": self.target}


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectComparison:
    """One effect in both trials, and its difference."""

    name: str
    old: Effect
    new: Effect
    ratio: float | None
    low: float | None
    high: float | None
    error: float | None
    freedom: float | None
    pvalue: float | None
    pvalue_welch: float | None
    pvalue_adjusted: float | None
    law: Literal["welch", "banerjee"] | None
    difference: Shift | None
    agreement: Agreement
    reason: str | None
    more_sessions: More | None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        found: dict[str, Any] = plain(self)
        found["more_sessions"] = (
            None if self.more_sessions is None else self.more_sessions.to_dict()
        )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateComparison:
    """One candidate against the baseline, in both trials."""

    variant: str
    baseline: str
    design_old: str | None
    design_new: str | None
    benchmarks: tuple[EffectComparison, ...]
    these: EffectComparison | None
    word: Reproduction

    @property
    def lead(self) -> EffectComparison | None:
        """The effect that the word hangs on: the suite's, or that of the only benchmark."""
        if self.these is not None:
            return self.these
        known = [one for one in self.benchmarks if one.ratio is not None]
        return known[0] if len(known) == 1 else None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        found: dict[str, Any] = plain(self)
        found["benchmarks"] = [one.to_dict() for one in self.benchmarks]
        found["these"] = None if self.these is None else self.these.to_dict()
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantLevel:
    """How fast a variant's runs are in the new trial, beside the old one."""

    variant: str
    benchmark: str | None
    mean_old: float | None
    mean_new: float | None
    ratio: float | None
    low: float | None
    high: float | None
    outcome: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSide:
    """One of the two trials: what it is, and how it was measured."""

    unlisted: ClassVar[frozenset[str]] = frozenset({"outermost"})

    label: str
    trial: str
    path: str
    campaign: str
    identity: str
    identity_rule: int
    host: str
    host_id: str | None
    cpu_model: str | None
    baseline: str
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    seed: int
    planned_sessions: int
    runs: int
    warmup: int
    order: str | None
    stop: str | None
    sessions: int
    executed: int
    failed: int
    status: str
    started: str
    finished: str | None
    tool_version: str
    looks: int
    look_alpha: float
    looks_rule: LooksRule
    risk_total: float
    outermost: Unit = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignChange:
    """A key of the resolved campaign that differs, with its values; None where a side lacks it."""

    key: str
    old: Any
    new: Any
    only: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrialComparison(Result):
    """Two trials compared.

    Attributes
    ----------
    old, new : TrialSide
        The trials.
    metric, unit, better : str
        What is compared.
    confidence, margin : float
        Of the intervals; the largest factor less 1 that counts as equivalent.
    word : {"reproduced", "partly", "not", "cannot tell"}
        What becomes of the old trial's conclusions in the new one, over all candidates.
    same_trial : bool
        Whether both are one and the same trial.
    same_campaign : bool or None
        Whether the campaigns have one identity; None where two rules made them and nothing else
        tells, and where a trial was imported and had none.
    same_host : bool or None
        Whether one machine measured both; None where that is unknown, also where one machine id has
        two names.
    candidates : tuple of CandidateComparison
        The variants that both compare with their baseline.
    levels : tuple of Level
        Each variant's own runs in both trials; of no part in `word`.
    campaign : tuple of CampaignChange
        What differs between the campaigns, key by key.
    plan : tuple of CampaignChange
        What differs between the plans.
    environment : tuple of Change or None
        What differs between the environments of their first sessions; None where one is unknown.
    drift_old, drift_new : int or None
        How many changes the environment of each trial saw between its own sessions.
    only_old, only_new : mapping
        "variants" and "benchmarks" that one trial has only.
    """

    method: ClassVar[str] = "diff"
    unlisted: ClassVar[frozenset[str]] = frozenset({"environment"})

    old: TrialSide
    new: TrialSide
    metric: str
    unit: str
    better: str
    confidence: float
    margin: float
    word: Reproduction
    same_trial: bool
    same_campaign: bool | None
    same_host: bool | None
    candidates: tuple[CandidateComparison, ...]
    levels: tuple[VariantLevel, ...]
    campaign: tuple[CampaignChange, ...]
    plan: tuple[CampaignChange, ...]
    environment: tuple[Change, ...] | None
    drift_old: int | None
    drift_new: int | None
    only_old: dict[str, tuple[str, ...]]
    only_new: dict[str, tuple[str, ...]]
    references: tuple[str, ...] = _REFERENCES

    @property
    def exit_code(self) -> int:
        """What a script may go by: 0 reproduced, 1 partly or not, 7 cannot tell."""
        return {"reproduced": 0, "cannot tell": 7}.get(self.word, 1)

    @property
    def timed(self) -> bool:
        """Whether what is better is faster."""
        return figures.timed(self.unit)

    def body(self) -> dict[str, Any]:
        """Give what stands below the head."""
        found = Result.body(self)
        found["candidates"] = [one.to_dict() for one in self.candidates]
        # as 'status --diff' has always written them
        pairs = (
            []
            if self.environment is None
            else [
                {
                    "from": self.old.label,
                    "to": self.new.label,
                    "changes": [change.to_dict() for change in self.environment],
                }
            ]
        )
        return found | {"pairs": pairs}


# --- What differs around two trials: campaign, host, plan, and what to be careful about.


_UNKNOWN_HOST = "unknown"
# of a side, what is said of its plan and what of how it went; names and places are no part of it
_PLAN = ("baseline", "seed", "planned_sessions", "runs", "warmup", "order", "stop")
_WENT = ("sessions", "executed", "failed", "status", "tool_version")


def side_of(trial: Trial, label: str, look: Mapping[str, Any]) -> TrialSide:
    """Describe a trial; `look` is which look at it its words are."""
    manifest = trial.manifest
    protocol = settings_of(trial.path).get("protocol")
    order = protocol.get("order") if isinstance(protocol, dict) else None
    known = manifest.origin != "imported"
    return TrialSide(
        label=label,
        trial=manifest.trial,
        path=str(trial.path),
        campaign=manifest.campaign_name,
        identity=manifest.campaign_sha256,
        identity_rule=manifest.campaign_identity,
        host=manifest.host,
        host_id=manifest.host_id if known and manifest.host_id != _UNKNOWN_HOST else None,
        cpu_model=manifest.cpu_model,
        baseline=manifest.baseline,
        variants=manifest.variants,
        benchmarks=manifest.benchmarks,
        seed=manifest.seed,
        planned_sessions=manifest.sessions,
        runs=manifest.runs,
        warmup=manifest.warmup,
        order=order if isinstance(order, str) else None,
        stop=None if manifest.stop is None else _stop_text(manifest.stop),
        sessions=trial.sessions,
        executed=len(trial),
        failed=len(trial.failures()),
        status=manifest.status,
        started=manifest.started,
        finished=manifest.finished,
        tool_version=manifest.tool_version,
        **look,
        outermost=trial.outermost,
    )


def _stop_text(rule: StopRule) -> str:
    cap = "" if rule.max_time_s is None else f", at most {rule.max_time_s:g} s"
    return f"width {rule.width:g}, {rule.min_runs} to {rule.max_runs} runs{cap}"


def plan_changes(old: TrialSide, new: TrialSide) -> tuple[CampaignChange, ...]:
    """Give what differs between what was planned, and between what came of it."""
    names = [field.name for field in fields(TrialSide) if field.name in (*_PLAN, *_WENT)]
    return tuple(
        CampaignChange(key=name, old=a, new=b, only=None)
        for name in names
        if (a := getattr(old, name)) != (b := getattr(new, name))
    )


def same_campaign(
    old: TrialSide, new: TrialSide, changes: tuple[CampaignChange, ...]
) -> bool | None:
    """Tell whether both are trials of one campaign."""
    one_rule = old.identity_rule == new.identity_rule
    if one_rule and old.identity == new.identity:
        return True
    if changes and all(is_free_setting(change.key) for change in changes):
        return True
    return False if one_rule or any(change.only is None for change in changes) else None


def campaign_changes(old: Trial, new: Trial) -> tuple[CampaignChange, ...]:
    """Give the keys of the resolved campaigns that differ, in the old one's order."""
    a, b = (
        dict(setting_leaves(found)) if found else {}
        for found in (settings_of(old.path), settings_of(new.path))
    )
    if not a or not b:
        return ()
    m, n = old.manifest, new.manifest
    same = (m.campaign_identity, m.campaign_sha256) == (n.campaign_identity, n.campaign_sha256)
    return tuple(_differing(a, b, lone=not same))


def _differing(
    a: Mapping[str, object], b: Mapping[str, object], *, lone: bool
) -> Iterator[CampaignChange]:
    for key in dict.fromkeys((*a, *b)):
        if key in a and key in b:
            if a[key] != b[key]:
                yield CampaignChange(key=key, old=a[key], new=b[key], only=None)
        elif lone:
            only = "old" if key in a else "new"
            yield CampaignChange(key=key, old=a.get(key), new=b.get(key), only=only)


def surroundings_of(
    old: Trial, new: Trial
) -> tuple[tuple[Change, ...] | None, tuple[int | None, int | None], int]:
    """Say what differs between the first sessions, and how often each trial's environment changed.

    The first is None where an environment is unknown, and each count where it is that trial's. The last
    counts the keys that cannot be compared, because names were taken out of a trial.
    """
    a, b = _records(old), _records(new)
    changes = diff(a[0], b[0]) if a and b else None
    told = changes
    if changes is not None and not _one_redaction(old.manifest.host_id, new.manifest.host_id):
        told = tuple(
            change
            for change in changes
            if not any(PLACEHOLDER.search(repr(value)) for value in (change.old, change.new))
        )
    return told, (_drift(a), _drift(b)), len(changes or ()) - len(told or ())


def same_host(old: TrialSide, new: TrialSide) -> bool | None:
    """Tell whether one machine measured both."""
    if old.host_id is None or new.host_id is None:
        return None
    taken_out = any(PLACEHOLDER.fullmatch(one.host_id or "") for one in (old, new))
    if taken_out and not _one_redaction(old.host_id, new.host_id):
        return None
    if (old.host_id, old.cpu_model) != (new.host_id, new.cpu_model):
        return False
    return True if old.host == new.host else None


def _one_redaction(old: str, new: str) -> bool:
    """Tell whether the names of both were taken out together: then equal placeholders are one name."""
    a, b = (PLACEHOLDER.fullmatch(one) for one in (old, new))
    return a is not None and b is not None and a["tag"] == b["tag"]


def _records(trial: Trial) -> list[Mapping[str, Any]]:
    """Give the environments of a trial's sessions; none where nothing is known of them."""
    if trial.manifest.origin == "imported" or not (trial.path / ENVIRONMENT).exists():
        return []
    try:
        return [row for _, row in records_of(trial.path / ENVIRONMENT, EnvironmentShape)]
    except StoreError:
        if trial.finished:
            raise
        return []  # its first line is being written


def _drift(records: list[Mapping[str, Any]]) -> int | None:
    if not records:
        return None
    return sum(len(diff(a, b)) for a, b in itertools.pairwise(records))


_OF_ONE = {"variants": "variants-of-one-trial", "benchmarks": "benchmarks-of-one-trial"}


def structure_cautions(
    old: Trial,
    new: Trial,
    sides: tuple[TrialSide, TrialSide],
    only: Sequence[Mapping[str, tuple[str, ...]]],
    *,
    same: bool,
) -> Iterator[Caution]:
    """Say where the trials are one, share runs, or have not the same things to compare."""
    if same:
        yield Caution("same-trial", "both are one trial, which always agrees with itself")
    else:
        shared = sorted(_names(old) & _names(new))
        if shared:
            yield Caution(
                "runs-shared",
                f"both hold runs of trial {figures.listed(shared)}: their sessions are not "
                "independent, and a difference looks smaller than it is",
                tuple(shared),
            )
    lone = lone_pair(*sides)
    common = [name for name in sides[0].variants if name in sides[1].variants]
    if sides[0].baseline != sides[1].baseline and lone is None:
        used = next((one.baseline for one in sides if one.baseline in common), None)
        said = "no variant is the baseline of both" if used is None else f"{used} is taken in both"
        yield Caution(
            "baselines-differ",
            f"the baseline is {sides[0].baseline} in {sides[0].label} and {sides[1].baseline} in "
            f"{sides[1].label}: {said}",
            (sides[0].baseline, sides[1].baseline),
        )
    if lone is not None:
        yield Caution(
            "variants-renamed",
            f"each trial has one variant, {lone[0]} and {lone[1]}: they are taken for the same, and "
            "only how fast their runs were is compared",
            lone,
        )
    for side, rest in zip(sides, only, strict=True):
        for what, names in rest.items():
            if names and not (lone is not None and what == "variants"):
                yield Caution(
                    _OF_ONE[what],
                    f"only {side.label} has the {what if len(names) > 1 else what.removesuffix('s')}: "
                    f"{figures.listed(names, 8)} take{'s' * (len(names) == 1)} no part",
                    (side.label, *names),
                )
    if len(common) == 1:
        yield Caution(
            "one-variant",
            f"both trials have one variant in common, {common[0]}: there is no speedup to compare, "
            "only how fast its runs were",
            (common[0],),
        )
    if not common and lone is None:
        yield Caution("no-common-results", "the trials have no variant in common")
    elif not set(sides[0].benchmarks) & set(sides[1].benchmarks):
        yield Caution("no-common-results", "the trials have no benchmark in common")
    if (common or lone) and not same:
        yield Caution(
            "levels-confounded",
            "the levels of two trials differ by all that differed between them, such as host, hour "
            "and kernel: they tell nothing of a program by itself",
        )


def lone_pair(old: TrialSide, new: TrialSide) -> tuple[str, str] | None:
    """Give the variants of two trials that have one each, of different names; else None."""
    if len(old.variants) == len(new.variants) == 1 and old.variants != new.variants:
        return old.variants[0], new.variants[0]
    return None


def _names(trial: Trial) -> set[str]:
    """Give the names of the trials in which the runs were measured."""
    own = {trial.manifest.trial}
    return {part.trial for part in trial.manifest.merged_from} or own


def hidden_cautions(count: int) -> Iterator[Caution]:
    """Say how much of the environments cannot be compared, because names were taken out."""
    if count:
        several = "things" if count > 1 else "thing"
        yield Caution(
            "environment-redacted",
            f"names were taken out of a trial: of {count} {several} in the environments nobody can tell "
            "whether they differ",
        )


def side_cautions(old: Trial, new: Trial, labels: tuple[str, str]) -> Iterator[Caution]:
    """Say what holds for the runs of each trial; what holds for both is said once."""
    theirs = {(caution, caution.text) for caution in new.cautions}
    shared = [caution for caution in old.cautions if (caution, caution.text) in theirs]
    yield from shared
    for trial, label in ((old, labels[0]), (new, labels[1])):
        yield from (caution.of(label) for caution in trial.cautions if caution not in shared)
