"""What differs between the campaigns and the plans of two trials, key by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from ..data import FREE_SETTINGS, Trial, setting_leaves, settings_of
from ..methods.multilevel import LookFields
from ..record import StopRule
from .result import CampaignChange, TrialSide

__all__ = ["campaign_changes", "plan_changes", "same_campaign", "side_of"]

_UNKNOWN_HOST = "unknown"
# of a side, what is said of its plan and what of how it went; names and places are no part of it
_PLAN = ("baseline", "seed", "planned_sessions", "runs", "warmup", "order", "stop")
_WENT = ("sessions", "executed", "failed", "status", "tool_version")


def side_of(trial: Trial, label: str, look: LookFields) -> TrialSide:
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
    """Tell whether both are trials of one campaign.

    Seed, sessions and who may read a trial are no part of it. Identities tell where one rule made
    them; of two rules, only what differs tells something.
    """
    one_rule = old.identity_rule == new.identity_rule
    if one_rule and old.identity == new.identity:
        return True
    if changes and all(change.key in FREE_SETTINGS for change in changes):
        return True
    return False if one_rule or any(change.only is None for change in changes) else None


def campaign_changes(old: Trial, new: Trial) -> tuple[CampaignChange, ...]:
    """Give the keys of the resolved campaigns that differ, in the old one's order.

    A key that only one has, while the identities agree, is one that a version of fairtrial does not
    know and that stands at its default: no difference. Empty where a trial does not say what its
    campaign came to.
    """
    a, b = (dict(setting_leaves(found)) if found else {} for found in _settings(old, new))
    if not a or not b:
        return ()
    m, n = old.manifest, new.manifest
    same = (m.campaign_identity, m.campaign_sha256) == (n.campaign_identity, n.campaign_sha256)
    return tuple(_differing(a, b, lone=not same))


def _settings(old: Trial, new: Trial) -> tuple[Mapping[str, object], Mapping[str, object]]:
    return settings_of(old.path), settings_of(new.path)


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
