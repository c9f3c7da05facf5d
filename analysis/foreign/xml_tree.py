"""XML of foreign tools: parsed without fetching anything, and without entities of its own."""

from __future__ import annotations

from xml.etree import ElementTree as ET
from xml.parsers import expat

from .opening import Opened
from .parsing import fail

__all__ = ["xml_of"]


def xml_of(opened: Opened) -> ET.Element:
    """Parse a whole XML file; a DOCTYPE that only names an external definition is passed over.

    Raises
    ------
    AnalysisError
        If it is no XML, is cut off, or brings an internal subset or an entity of its own.
    """
    builder = ET.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.ordered_attributes = False

    def doctype(_name: str, _system: str | None, _public: str | None, internal: bool) -> None:  # noqa: FBT001 - expat's order
        if internal:
            raise _RefusedError("a DOCTYPE with an internal subset")

    def entity(*_about: object) -> None:
        raise _RefusedError("an entity of its own")

    def external(*_about: object) -> int:
        return 1  # passed over: nothing is ever fetched

    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = entity
    parser.ExternalEntityRefHandler = external
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    data: bytes | str = opened.data
    if opened.encoding is not None:
        data = opened.text()
    try:
        parser.Parse(data, True)  # noqa: FBT003 - expat's own
        return builder.close()
    except _RefusedError as refused:
        raise fail(
            opened,
            f"the file holds {refused}, which is refused",
            "results need none: take it out if you trust the file",
            at=f"{parser.CurrentLineNumber}",
        ) from None
    except (LookupError, ValueError) as error:
        raise fail(
            opened, f"its encoding cannot be read: {error}", "name it with --encoding", at="1"
        ) from None
    except (expat.ExpatError, AssertionError) as error:
        line = getattr(error, "lineno", 0)
        cut = "no element found" in str(error) or "unclosed" in str(error)
        what = "the file is cut off" if cut else f"it is no XML: {error}"
        raise fail(opened, what, "copy the file again", at=f"{line}") from None


class _RefusedError(Exception):
    """Something that a file of results has no business with."""
