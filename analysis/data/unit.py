"""What methods that infer by sessions take for a session: a session, or a host of a fleet."""

from __future__ import annotations

from typing import Literal

__all__ = ["Unit"]

Unit = Literal["host", "session"]
