"""Placeholders in the texts of a campaign: ``{name}`` is a value, ``{{`` and ``}}`` are braces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .excerpt import quote

VALUE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}|[{}]")


class TemplateError(ValueError):
    """A text is no template; `part` is what is wrong in it."""

    def __init__(self, what: str, part: str, fix: str) -> None:
        super().__init__(what)
        self.what = what
        self.part = part
        self.fix = fix


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A parsed template: texts and names in turn, beginning and ending with a text."""

    texts: tuple[str, ...]
    names: tuple[str, ...]

    def fill(self, values: Mapping[str, str]) -> str:
        """Put the values in; what is filled in is not looked at again.

        Raises
        ------
        KeyError
            If a name has no value.
        """
        parts = [self.texts[0]]
        for name, text in zip(self.names, self.texts[1:], strict=True):
            parts += (values[name], text)
        return "".join(parts)


def parse_template(text: str) -> Template:
    """Parse a text with placeholders.

    Raises
    ------
    TemplateError
        If a brace stands alone, or a placeholder is no name.
    """
    texts = [""]
    names: list[str] = []
    end = 0
    for match in _TOKEN.finditer(text):
        texts[-1] += text[end : match.start()]
        end = match.end()
        token, name = match.group(), match["name"]
        if name is not None:
            if not VALUE_NAME.fullmatch(name):
                raise TemplateError(
                    f"{quote(token)} is no placeholder",
                    token,
                    "write {name}, or double the braces where they stand for themselves:"
                    f" {{{token}}}",
                )
            names.append(name)
            texts.append("")
        elif len(token) == 2:
            texts[-1] += token[0]
        else:
            raise TemplateError(
                f"the brace '{token}' stands alone", token, f"write '{token * 2}' for a brace"
            )
    texts[-1] += text[end:]
    return Template(texts=tuple(texts), names=tuple(names))
