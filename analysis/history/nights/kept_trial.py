"""What is kept of a trial once it was read: its values by benchmark and variant, and what it is of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...data.merging.campaigns import StatedCampaign
from ...record.run_numbers import Better
from ...record.shapes import shaped

Share = Callable[[Any], str]  # puts a part that many trials have aside, and gives its name
Shared = Callable[[str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantValues:
    """The values of one variant, an entry a benchmark; None where there is none.

    `log`: The mean over sessions of its mean log less the baseline's, larger = slower.
    `baseline_log`: The baseline's mean log over the same sessions. `own`: Its own mean log.
    `sessions`, `own_sessions`: How many `log` and `own` rest on. `programs`: The SHA-256 of the
    executable; None where it is unknown or not one over all sessions. `commit`: None likewise.
    """

    log: tuple[float | None, ...]
    baseline_log: tuple[float | None, ...]
    own: tuple[float | None, ...]
    sessions: tuple[int, ...]
    own_sessions: tuple[int, ...]
    programs: tuple[str | None, ...]
    commit: str | None


_COLUMNS = ("log", "baseline_log", "own", "sessions", "own_sessions")
_ALL = (*_COLUMNS, "programs")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTrial:
    """A trial as series need it.

    `began`: When it began (RFC 3339), by its manifest. `started_at`: When its first run started; None
    where nobody knows. `complete`, `sessions`, `planned`: Whether it is complete, and how many of its
    sessions are. `values`: By variant. `inputs`: For each benchmark the SHA-256 of what the runs read, by its path:
    what the campaign names, and the files among the baseline's arguments. `host_record`: The sections host, cpu, memory,
    kernel of the first session's environment, and the baseline's targets. `unsteady`: Benchmark and variant of cells of
    which too many runs reach no steady state, `cut`: of which a time limit ended some, `totals`: whose totals disagree
    with typical runs.
    """

    trial: str
    began: str
    started_at: str | None
    host: str
    host_id: str
    origin: str
    merged_from: tuple[str, ...]
    baseline: str
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    metric: str
    unit: str
    better: Better
    complete: bool
    sessions: int
    planned: int
    values: Mapping[str, VariantValues]
    inputs: tuple[Mapping[str, str], ...]
    campaign: StatedCampaign
    host_record: Mapping[str, Any]
    unsteady: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()

    def to_dict(self, share: Share) -> dict[str, Any]:
        """Give it as JSON types; `share` takes what is the same in many trials."""
        data = {name: getattr(self, name) for name in _PLAIN}
        data["values"] = {
            variant: {name: getattr(values, name) for name in _COLUMNS}
            | {"programs": share(values.programs), "commit": values.commit}
            for variant, values in self.values.items()
        }
        data["inputs"] = share(self.inputs)
        data["campaign"] = list(self.campaign.identity)
        data["stated"] = share(self.campaign.to_dict() | {"identity": None})
        data["host_record"] = share(self.host_record)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], shared: Shared) -> KeptTrial:
        """Make one of what `to_dict` gave; KeyError, TypeError or ValueError for anything else."""
        values = {
            variant: {**found, "programs": shared(found["programs"])}
            for variant, found in data["values"].items()
        }
        stated = {**shared(data["stated"]), "identity": data["campaign"]}
        parts = {name: shared(data[name]) for name in ("inputs", "host_record")}
        unsaid: dict[str, Any] = {"identity": [], "stated": {}, "settings": None}
        plain = {name: data[name] for name in _PLAIN}
        made = shaped(cls, {**plain, **parts, "values": values, "campaign": unsaid})
        columns = (getattr(one, name) for one in made.values.values() for name in _ALL)
        if any(len(column) != len(made.benchmarks) for column in (made.inputs, *columns)):
            raise ValueError("a column has another length")
        return replace(made, campaign=StatedCampaign.from_dict(stated))


_PLAIN = (
    *("trial", "began", "started_at", "host", "host_id", "origin", "merged_from", "baseline"),
    *("variants", "benchmarks", "metric", "unit", "better", "complete", "sessions", "planned"),
    *("unsteady", "cut", "totals"),
)


def plain_campaign(campaign: StatedCampaign) -> StatedCampaign:
    """Give a campaign as one that was kept has it: both are compared with each other."""
    return StatedCampaign.from_dict(campaign.to_dict())


def imported_campaign(name: str, metric: str, unit: str, better: str) -> StatedCampaign:
    """Give what stands for the campaign of another tool's results: what was measured, in which unit."""
    fields = ("variants", "benchmarks", "baseline", "runs", "warmup", "stop")
    stated = {
        "campaign_name": name,
        "metrics": {metric: {"unit": unit, "better": better}},
        **dict.fromkeys(fields),
    }
    return StatedCampaign(identity=(0, ""), stated=stated, settings=None)
