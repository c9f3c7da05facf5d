"""How results are set for a reader; knows no method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .caution import Caution as Caution, merged as merged
    from .model import (
        Block as Block,
        Cell as Cell,
        Column as Column,
        Command as Command,
        Figure as Figure,
        Page as Page,
        Section as Section,
        Sentence as Sentence,
        Table as Table,
        Value as Value,
        page_of as page_of,
    )
    from .progress import progress_on as progress_on
    from .result import (
        Result as Result,
        cautions_to_dict as cautions_to_dict,
        plain as plain,
        short as short,
    )
    from .word import Word as Word, said as said, word_of as word_of
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "caution": "Caution merged",
            "model": "Block Cell Column Command Figure Page Section Sentence Table Value page_of",
            "progress": "progress_on",
            "result": "Result cautions_to_dict plain short",
            "word": "Word said word_of",
        },
    )
