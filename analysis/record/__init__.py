"""The records of a trial directory, schemas 1 and 2. Standard library only.

The runner writes them and the judge reads them: one definition for both. Each record is a frozen
dataclass with `to_dict` (JSON types only, keys in the stored order). A line of
``measurements.jsonl`` ends with the key ``crc32``: the unsigned CRC-32 of the line's bytes
without that key (that is, of ``{...}`` with ``,"crc32":N`` taken out, and without the newline).
What is read back is held against the types of these dataclasses, by `analysis.shapes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on
from ..run_numbers import (
    BUILTIN_METRICS as BUILTIN_METRICS,
    Better as Better,
    Measurement as Measurement,
    MetricInfo as MetricInfo,
    Outcome as Outcome,
)
from ..shapes import ShapeError as ShapeError, check as check, parse as parse, shaped as shaped

if TYPE_CHECKING:
    from .changes import (
        Change as Change,
        describe_changes as describe_changes,
        diff as diff,
        findings_of as findings_of,
    )
    from .disturbance import (
        MOST_REPEATS as MOST_REPEATS,
        Disturbances as Disturbances,
        DisturbanceTally as DisturbanceTally,
        is_disturbed as is_disturbed,
        judged_row as judged_row,
        waited_ns as waited_ns,
    )
    from .energy import (
        ENERGY as ENERGY,
        ENERGY_METRICS as ENERGY_METRICS,
        NET_ENERGY as NET_ENERGY,
        RESOLUTION_S as RESOLUTION_S,
        STEADY as STEADY,
        IdlePower as IdlePower,
        is_steady as is_steady,
    )
    from .fleet import (
        FLEET as FLEET,
        FLEET_SCHEMA as FLEET_SCHEMA,
        Fleet as Fleet,
        FleetHost as FleetHost,
        fleet_text as fleet_text,
        is_fleet as is_fleet,
        read_fleet as read_fleet,
        trial_place as trial_place,
        write_fleet as write_fleet,
    )
    from .fleet_progress import (
        HostProgress as HostProgress,
        HostState as HostState,
        host_state as host_state,
        is_held as is_held,
        read_host as read_host,
        read_hosts as read_hosts,
        require_campaign as require_campaign,
        why_so as why_so,
        with_plans as with_plans,
    )
    from .kinds import (
        CAMPAIGN as CAMPAIGN,
        CERTIFICATES as CERTIFICATES,
        ENVIRONMENT as ENVIRONMENT,
        FINDINGS as FINDINGS,
        IMPORT as IMPORT,
        MANIFEST as MANIFEST,
        MEASUREMENTS as MEASUREMENTS,
        OUTPUTS as OUTPUTS,
        PLAIN_SCHEMA as PLAIN_SCHEMA,
        PLAN as PLAN,
        REPEATING_SCHEMA as REPEATING_SCHEMA,
        RESOLVED as RESOLVED,
        SCHEMA as SCHEMA,
        Appended as Appended,
        CheckStatus as CheckStatus,
        EnvironmentShape as EnvironmentShape,
        Finding as Finding,
        GivenUp as GivenUp,
        Manifest as Manifest,
        MergedTrial as MergedTrial,
        PlannedRun as PlannedRun,
        RowShape as RowShape,
        SessionEnd as SessionEnd,
        StopReason as StopReason,
        StopRule as StopRule,
        TrialStatus as TrialStatus,
    )
    from .lines import (
        RESTORE as RESTORE,
        checksum_holds as checksum_holds,
        encode as encode,
        encode_checked as encode_checked,
        lines_of as lines_of,
        opened as opened,
        records_of as records_of,
    )
    from .manifest import (
        manifest_text as manifest_text,
        read_manifest as read_manifest,
        utc_now as utc_now,
    )
    from .new_folder import (
        appearing as appearing,
        sync_place as sync_place,
        write_hashed as write_hashed,
    )
    from .placeholder import PLACEHOLDER as PLACEHOLDER, placeholder_of as placeholder_of
    from .question import (
        Question as Question,
        asked_now as asked_now,
        asked_since as asked_since,
        one_question as one_question,
        questions_of as questions_of,
    )
    from .targets import packed_targets as packed_targets, whole_targets as whole_targets
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "changes": "Change describe_changes diff findings_of",
            "disturbance": "MOST_REPEATS DisturbanceTally Disturbances is_disturbed judged_row waited_ns",
            "energy": "ENERGY ENERGY_METRICS NET_ENERGY RESOLUTION_S STEADY IdlePower is_steady",
            "fleet": "FLEET FLEET_SCHEMA Fleet FleetHost fleet_text is_fleet read_fleet trial_place write_fleet",
            "fleet_progress": "HostProgress HostState host_state is_held read_host read_hosts require_campaign "
            "why_so with_plans",
            "kinds": "CAMPAIGN CERTIFICATES ENVIRONMENT FINDINGS IMPORT MANIFEST MEASUREMENTS OUTPUTS PLAIN_SCHEMA PLAN "
            "REPEATING_SCHEMA RESOLVED SCHEMA "
            "Appended CheckStatus EnvironmentShape Finding GivenUp Manifest MergedTrial PlannedRun RowShape "
            "SessionEnd StopReason StopRule TrialStatus",
            "lines": "RESTORE checksum_holds encode encode_checked lines_of opened records_of",
            "manifest": "manifest_text read_manifest utc_now",
            "new_folder": "appearing sync_place write_hashed",
            "placeholder": "PLACEHOLDER placeholder_of",
            "question": "Question asked_now asked_since one_question questions_of",
            "targets": "packed_targets whole_targets",
        },
    )
