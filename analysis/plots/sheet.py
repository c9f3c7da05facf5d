"""What a picture of a paper is set on: its width, its letters."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UsageError
from .letters import OWN

__all__ = ["Sheet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """How wide a picture is, and how it is lettered.

    Attributes
    ----------
    width : float
        In mm; a column of a paper has about 85, two have 178.
    font_size : float
        Of names and numbers, in points; nothing is smaller than 0.8 of it.
    font_family : str
        One that is installed; the default is the same everywhere.
    """

    width: float = 178.0
    font_size: float = 9.0
    font_family: str = OWN

    def check(self) -> None:
        """Refuse what cannot be drawn.

        Raises
        ------
        UsageError
            If a size is out of its range, or there is no such font.
        """
        if not 40 <= self.width <= 1000:
            raise UsageError(
                f"a picture is 40 to 1000 mm wide, not {self.width:g}", fix="write --width 85mm"
            )
        if not 4 <= self.font_size <= 40:
            raise UsageError(f"letters have 4 to 40 points, not {self.font_size:g}")
        if self.font_family == OWN:
            return
        from matplotlib.font_manager import FontProperties, findfont

        try:
            findfont(FontProperties(family=[self.font_family]), fallback_to_default=False)
        except ValueError:
            raise UsageError(
                f"there is no font {self.font_family!r} here",
                fix="name one that is installed, such as 'DejaVu Sans', 'DejaVu Serif' or 'STIXGeneral'",
            ) from None
