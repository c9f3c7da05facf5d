"""What a launcher knows already: each program is sent once, a run of it is a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .exchange import Request, message_of

_MOST = 512  # what the launcher keeps counts in its memory, below which no target's can be seen


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """A request as it was sent. It is kept, so that its id stays its own."""

    request: Request
    env: dict[bytes, bytes]
    handle: int


class Announced:
    """The requests that one launcher has, by their handles.

    There are at most so many; then the oldest makes room, and its handle names another.
    """

    def __init__(self) -> None:
        self._sent: dict[int, _Sent] = {}

    def handle(self, request: Request) -> tuple[int, dict[str, Any] | None]:
        """Give a request's handle, and the message that announces it where it is new or changed.

        Its environment may change from one execution to the next; all else is frozen.
        """
        known = self._sent.get(id(request))
        if known is not None and known.env == request.env:
            return known.handle, None
        if known is not None:
            number = known.handle
        elif len(self._sent) < _MOST:
            number = len(self._sent)
        else:
            number = self._sent.pop(next(iter(self._sent))).handle
        self._sent[id(request)] = _Sent(request=request, env=dict(request.env), handle=number)
        return number, {**message_of(request), "handle": number}
