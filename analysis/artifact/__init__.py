"""Bundles: what was measured and concluded, packed so that others can check and repeat it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .archive import (
        MOST_BYTES as MOST_BYTES,
        MOST_ENTRIES as MOST_ENTRIES,
        Archive as Archive,
        open_archive as open_archive,
    )
    from .claims import (
        Claim as Claim,
        StoredClaim as StoredClaim,
        Weighing as Weighing,
        pointed as pointed,
        read_stored_claims as read_stored_claims,
        said_of as said_of,
        weigh_claim as weigh_claim,
    )
    from .contents import (
        BUNDLE as BUNDLE,
        SUMS as SUMS,
        Analysis as Analysis,
        BundleSource as BundleSource,
        Contents as Contents,
        Missing as Missing,
        RedactionRecord as RedactionRecord,
        read_contents as read_contents,
    )
    from .recomputing import (
        Recomputed as Recomputed,
        fault_of_command as fault_of_command,
        recompute as recompute,
    )
    from .tarball import read_tar as read_tar, unpack_tar as unpack_tar
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "archive": "MOST_BYTES MOST_ENTRIES Archive open_archive",
            "claims": "Claim StoredClaim Weighing pointed read_stored_claims said_of weigh_claim",
            "contents": "BUNDLE SUMS Analysis BundleSource Contents Missing RedactionRecord read_contents",
            "recomputing": "Recomputed fault_of_command recompute",
            "tarball": "read_tar unpack_tar",
        },
    )
