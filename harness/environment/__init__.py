"""What a reader needs to repeat a trial, and what differs between its sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .differences import compare_environments as compare_environments
    from .inputs import (
        describe_inputs as describe_inputs,
        digest_of as digest_of,
        signature_of as signature_of,
    )
    from .key_file import VariableKey as VariableKey, variable_key as variable_key
    from .snapshot import capture as capture
    from .variables import Concealed as Concealed
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "differences": "compare_environments",
            "inputs": "describe_inputs digest_of signature_of",
            "snapshot": "capture",
            "key_file": "VariableKey variable_key",
            "variables": "Concealed",
        },
    )
