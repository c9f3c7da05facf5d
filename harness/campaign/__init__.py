"""From YAML text to a checked campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .identity import (
        RULE as RULE,
        first_defaults as first_defaults,
        identity_of as identity_of,
    )
    from .load import campaign_name as campaign_name, load_campaign as load_campaign
    from .model import (
        NO_IDENTITY as NO_IDENTITY,
        Build as Build,
        Campaign as Campaign,
        Cell as Cell,
        CheckPolicy as CheckPolicy,
        Command as Command,
        CounterEvent as CounterEvent,
        Counting as Counting,
        Isolation as Isolation,
        MetricRule as MetricRule,
        Order as Order,
    )
    from .own import OwnDefaults as OwnDefaults, own_defaults as own_defaults
    from .part import one_block as one_block, one_cell as one_cell
    from .resolved import (
        resolved_text as resolved_text,
        stored_defaults as stored_defaults,
        stored_own_defaults as stored_own_defaults,
    )
    from .schema.defaults import Table as Table
    from .schema.quantities import MAX_SECONDS as MAX_SECONDS, seconds_of as seconds_of
    from .source.json_path import JsonPathError as JsonPathError, find as find
    from .starter import starter_text as starter_text
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "identity": "RULE first_defaults identity_of",
            "load": "campaign_name load_campaign",
            "model": "NO_IDENTITY Build Campaign Cell CheckPolicy Command CounterEvent Counting Isolation MetricRule Order",
            "own": "OwnDefaults own_defaults",
            "part": "one_block one_cell",
            "resolved": "resolved_text stored_defaults stored_own_defaults",
            "schema.defaults": "Table",
            "schema.quantities": "MAX_SECONDS seconds_of",
            "source.json_path": "JsonPathError find",
            "starter": "starter_text",
        },
    )
