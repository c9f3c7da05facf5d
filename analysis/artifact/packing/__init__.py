"""How a bundle is packed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .bundle import pack_bundle as pack_bundle
    from .request import Redacted as Redacted, Request as Request
    from .result import Bundled as Bundled
else:
    __getattr__, __dir__ = hands_on(
        __name__, {"bundle": "pack_bundle", "request": "Redacted Request", "result": "Bundled"}
    )
