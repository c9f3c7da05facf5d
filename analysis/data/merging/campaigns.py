"""Whether two trials are of one campaign, whatever its seed, its sessions and who may read them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...record.trial_files import Manifest, Stored
from ..protocol import is_free_setting, setting_leaves

_STATED = (
    "campaign_name", "variants", "benchmarks", "baseline", "metrics", "runs", "warmup", "stop",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCampaign:
    """What is held against another trial's: fields of the manifest, and all settings that are not free.

    `identity` is the rule of the campaign's identity with the identity itself. `settings` maps the keys
    with dots of ``resolved.json`` to values; None for a trial that does not hold them.
    """

    identity: tuple[int, str]
    stated: Mapping[str, Any]
    settings: Mapping[str, Any] | None

    @classmethod
    def of(cls, manifest: Manifest, resolved: Mapping[str, Any] | None) -> StatedCampaign:
        """Take it from a trial; `resolved` is what its campaign came to, None where that is unknown."""
        leaves = None if resolved is None else dict(setting_leaves(dict(resolved)))
        return cls(
            identity=(manifest.campaign_identity, manifest.campaign_sha256),
            stated={name: _stated(manifest, name) for name in _STATED},
            settings=leaves and {key: leaves[key] for key in leaves if not is_free_setting(key)},
        )

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types, of which `from_dict` makes one that is as this one."""
        return {
            "identity": list(self.identity),
            "stated": {name: _plain(value) for name, value in self.stated.items()},
            "settings": None if self.settings is None else dict(self.settings),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StatedCampaign:
        """Make one of JSON types; compare it with others that were made so."""
        rule, digest = data["identity"]
        stated = {name: data["stated"][name] for name in _STATED}
        settings = data["settings"]
        if not isinstance(settings, Mapping | None):
            raise TypeError("settings")
        return cls(identity=(rule, digest), stated=stated, settings=settings)


def campaign_differences(a: StatedCampaign, b: StatedCampaign) -> Iterator[str]:
    """Say what differs between the campaigns of two trials; nothing where they are one."""
    for name in _STATED:
        old, new = a.stated[name], b.stated[name]
        if old != new:
            yield f"{name} is {_said(old)} and {_said(new)}"
    same = a.identity == b.identity
    if a.settings is None or b.settings is None:
        if not same:
            yield "their identities (campaign_sha256) differ"
        return
    for key in dict.fromkeys((*a.settings, *b.settings)):
        if key not in a.settings or key not in b.settings:
            # one version of fairtrial has a key that the other lacks: the identity leaves defaults out
            if not same:
                yield f"{key} stands in one of them only"
        elif a.settings[key] != b.settings[key]:
            old, new = _apart(a.settings[key], b.settings[key])
            yield f"{key} is {_said(old)} and {_said(new)}"


def _stated(manifest: Manifest, name: str) -> object:
    """Give a field; of the metrics without those of meters: which can be had is the host's, that day."""
    value = getattr(manifest, name)
    if name != "metrics":
        return value
    return {key: info for key, info in value.items() if "source" not in info}


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON types
    return json.loads(json.dumps(value.to_dict() if isinstance(value, Stored) else value))


def _apart(a: object, b: object) -> Sequence[object]:
    """Give what differs in two settings: of lists, such as the builds, the first two objects without what is equal."""
    pairs = zip(a, b, strict=False) if isinstance(a, list) and isinstance(b, list) else ()
    for old, new in pairs:
        if old != new and isinstance(old, dict) and isinstance(new, dict):
            same = [
                key
                for key in old
                if key not in {"benchmark", "variant"} and old[key] == new.get(key)
            ]
            return [{key: one[key] for key in one if key not in same} for one in (old, new)]
    return a, b


def _said(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
