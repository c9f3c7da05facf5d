"""Fill in the templates of a campaign, and remember what is wrong with them."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence

from ...errors import Problem
from ..model import Command
from ..schema.kinds import nearest
from ..source.templates import Template, TemplateError, parse_template
from ..source.yaml_marks import Document, Location

_SHELL_SIGNS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "2>", "2>&1", "&>"})

# A text, a list of arguments, or a text for the shell.
_Command = str | list[str] | Mapping[str, str]


class Filler:
    """Fills templates for one campaign; each template is parsed and reported once.

    `problems` collects what is wrong, `notes` what is only odd.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self._parsed: dict[Location, list[Template]] = {}
        self._reported: set[tuple[Location, str]] = set()
        # By place, and by place and name: in which cells (dicts, used as ordered sets).
        self._seen: dict[Location, dict[str, None]] = {}
        self._missing: dict[tuple[Location, str], dict[str, None]] = {}
        self._known: dict[tuple[Location, str], tuple[str, ...]] = {}

    def text(self, path: Location, text: str, values: Mapping[str, str], who: str) -> str:
        """Fill in the text that stands at `path`; `who` names the variant and benchmark."""
        template = self._templates(path, [text])[0]
        return self._fill(path, template, values, who)

    def command(
        self, path: Location, given: _Command, values: Mapping[str, str], who: str
    ) -> Command:
        """Make the command that stands at `path`."""
        argv: list[str]
        if isinstance(given, list):
            argv = [
                self.text((*path, index), argument, values, who)
                for index, argument in enumerate(given)
            ]
        elif isinstance(given, str):
            argv = [self._fill(path, part, values, who) for part in self._split(path, given)]
        else:
            argv = ["/bin/sh", "-c", self.text((*path, "shell"), given["shell"], values, who)]
        if argv and not argv[0]:
            place = (*path, 0) if isinstance(given, list) else path
            self._report(place, "the command begins with an empty text", "name a program")
        return Command(argv=tuple(argv), mark=self.document.where(path))

    def steps(
        self,
        path: Location,
        given: str | Mapping[str, str] | Sequence[_Command] | None,
        values: Mapping[str, str],
        who: str,
    ) -> tuple[Command, ...]:
        """Make the commands that stand at `path`: a list of them, one, or none."""
        if isinstance(given, str | Mapping):
            return (self.command(path, given, values, who),)
        return tuple(
            self.command((*path, index), step, values, who)
            for index, step in enumerate(given or ())
        )

    def finish(self, silent: Collection[str]) -> None:
        """Report the placeholders that have no value, but for the names in `silent`."""
        for (path, name), missing in self._missing.items():
            if name in silent:
                continue
            known = self._known[path, name]
            if not known:
                fix = "no variant and no benchmark belongs to it; a brace is written '{{'"
            else:
                near = nearest(name, known)
                fix = f"did you mean '{{{near}}}'? Known here: " if near else "known here: "
                fix += ", ".join(known)
            what = f"unknown placeholder '{{{name}}}'"
            if len(missing) < len(self._seen[path]):
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                what = f"'{{{name}}}' has no value {next(iter(missing))}{more}"
            self._report(path, what, fix, part=f"{{{name}}}")

    def _fill(self, path: Location, template: Template, values: Mapping[str, str], who: str) -> str:
        self._seen.setdefault(path, {})[who] = None
        missing = [name for name in dict.fromkeys(template.names) if name not in values]
        for name in missing:
            self._missing.setdefault((path, name), {})[who] = None
            self._known.setdefault((path, name), tuple(values))
        return "-" if missing else template.fill(values)

    def _split(self, path: Location, text: str) -> list[Template]:
        """Split a command into arguments first, so that a value with blanks stays one."""
        if path in self._parsed:
            return self._parsed[path]
        try:
            words = shlex.split(text)
        except ValueError as error:
            self._report(path, f"the command cannot be split: {error}".lower(), "close the quotes")
            words = ["-"]
        if not words:
            self._report(path, "the command is empty", "name a program")
            words = ["-"]
        signs = [word for word in words if word in _SHELL_SIGNS]
        if signs:
            self.notes.append(
                f"{self.document.where(path)}: '{signs[0]}' is an argument here;"
                " for a shell write {shell: TEXT}"
            )
        return self._templates(path, words)

    def _templates(self, path: Location, texts: Sequence[str]) -> list[Template]:
        if path not in self._parsed:
            templates = []
            for text in texts:
                try:
                    templates.append(parse_template(text))
                except TemplateError as error:
                    self._report(path, error.what, error.fix, part=error.part)
                    templates.append(Template(texts=("-",), names=()))
            self._parsed[path] = templates
        return self._parsed[path]

    def _report(self, path: Location, what: str, fix: str, part: str | None = None) -> None:
        if (path, what) not in self._reported:
            self._reported.add((path, what))
            self.problems.append(self.document.problem(path, what, fix, part=part))
