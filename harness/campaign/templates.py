"""What the texts of a campaign may hold: placeholders and what fills them in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from analysis.record.yaml_reader import Faults, Location, quote

from .model import Command
from .scalar_kinds import nearest

VALUE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
PORT_NAME = re.compile(rf"({VALUE_NAME.pattern})\.port")
SEED_NAME = "layout_seed"  # has a value in builds of each session and in variables alone
_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}|[{}]")


class TemplateError(ValueError):
    """A text is no template; `part` is what is wrong in it."""

    def __init__(self, what: str, part: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.part, self.fix = what, part, fix


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A parsed template: texts and names in turn, beginning and ending with a text."""

    texts: tuple[str, ...]
    names: tuple[str, ...]

    def fill(self, values: Mapping[str, str]) -> str:
        """Put the values in; what is filled in is not looked at again."""
        parts = [self.texts[0]]
        for name, text in zip(self.names, self.texts[1:], strict=True):
            parts += (values[name], text)
        return "".join(parts)


def parse_template(text: str) -> Template:
    """Parse a text with placeholders."""
    texts = [""]
    names: list[str] = []
    end = 0
    for match in _TOKEN.finditer(text):
        texts[-1] += text[end : match.start()]
        end = match.end()
        token, name = match.group(), match["name"]
        if name is not None:
            if not VALUE_NAME.fullmatch(name) and not PORT_NAME.fullmatch(name):
                raise TemplateError(
                    f"{quote(token)} is not a placeholder",
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


_SHELL_SIGNS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "2>", "2>&1", "&>"})

# A text, a list of arguments, or a text for the shell.
_Command = str | list[str] | Mapping[str, str]


class Filler:
    """Fills templates for one campaign; each template is parsed and reported once.

    `notes` collects what is only odd; `misplaced` says of names that stand for something
    elsewhere what is wrong with them at a place where they have no value, and the remedy.
    """

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.notes: list[str] = []
        self.misplaced: dict[str, tuple[str, str]] = {}
        self._parsed: dict[Location, list[Template]] = {}
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
            self.faults.report(place, "the command begins with an empty text", "name a program")
        return Command(argv=tuple(argv), mark=self.faults.document.where(path))

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
            misplaced = _misplaced_seed(path) if name == SEED_NAME else self.misplaced.get(name)
            if misplaced is not None:
                self.faults.report(path, *misplaced, part=f"{{{name}}}")
                continue
            near = nearest(name, known)
            fix = f"did you mean '{{{near}}}'? Known here: " if near else "known here: "
            fix += ", ".join(known)
            if not known:
                fix = "no variant and no benchmark belongs to it; a brace is written '{{'"
            what = f"unknown placeholder '{{{name}}}'"
            if len(missing) < len(self._seen[path]):
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                what = f"'{{{name}}}' has no value {next(iter(missing))}{more}"
            self.faults.report(path, what, fix, part=f"{{{name}}}")

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
            self.faults.report(
                path, f"the command cannot be split: {error}".lower(), "close the quotes"
            )
            words = ["-"]
        if not words:
            self.faults.report(path, "the command is empty", "name a program")
            words = ["-"]
        signs = [word for word in words if word in _SHELL_SIGNS]
        if signs:
            self.notes.append(
                f"{self.faults.document.where(path)}: '{signs[0]}' is an argument here;"
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
                    self.faults.report(path, error.what, error.fix, part=error.part)
                    templates.append(Template(texts=("-",), names=()))
            self._parsed[path] = templates
        return self._parsed[path]


def _misplaced_seed(path: Location) -> tuple[str, str]:
    """Say where the seed of a session may stand: what is wrong at a place, and the remedy."""
    said = f"'{{{SEED_NAME}}}' is the seed of a session"
    if "build" in (path[0], *path[2:3]) and "artifacts" not in path:
        fix = "write build: {each: session, run: ...}, or delete it"
        return f"{said}, and this build is executed once for all of them", fix
    fix = "it may stand in 'env', and in the 'run' of a build with 'each: session'"
    return f"{said}, and cannot stand here", fix
