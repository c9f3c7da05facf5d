"""What is said of a trial beside its values: damage, drift, cells given up, where it stems from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .damage import damaged as damaged, misstated as misstated, sequential as sequential
    from .drift import drift_cautions as drift_cautions
    from .given_up import given_up_cautions as given_up_cautions
    from .imported import always_said as always_said, imported_cautions as imported_cautions
    from .merged import merged_cautions as merged_cautions
    from .names import name_cautions as name_cautions
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "damage": "damaged misstated sequential",
            "drift": "drift_cautions",
            "given_up": "given_up_cautions",
            "imported": "always_said imported_cautions",
            "merged": "merged_cautions",
            "names": "name_cautions",
        },
    )
