"""Numbers as text: decimal signs, separators, and the lines of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .decimals import (
        NUMBER as NUMBER,
        Decimal as Decimal,
        commas_of as commas_of,
        is_numeric as is_numeric,
        number_in as number_in,
        two_readings as two_readings,
    )
    from .separators import Cell as Cell
    from .text_table import (
        Dress as Dress,
        Layout as Layout,
        TextTable as TextTable,
        read_text as read_text,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "decimals": "NUMBER Decimal commas_of is_numeric number_in two_readings",
            "separators": "Cell",
            "text_table": "Dress Layout TextTable read_text",
        },
    )
