"""How a command line is read and its help set: one parser class for every command, made of its table.

A mistake is a `UsageError` that says what was meant, instead of the whole usage; no help is wider
than 80 columns; no option name is broken at a hyphen. The first screen of a person who does not know
the tool is here too, so nothing but argparse is imported.
"""

from __future__ import annotations

import argparse
import contextlib
import os.path
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from analysis.errors import UsageError
from analysis.options import execute, made, options_of, whole_sentence
from analysis.registry import TABLE, commands

if TYPE_CHECKING:
    from analysis.record.trial_files import Manifest

GROUPS = ("measure", "judge", "understand", "share")

PROMISE = (
    "Measure programs repeatedly and independently, and claim only the speedups\n"
    "that the evidence supports."
)

EXIT_CODES = {
    0: "done",
    1: "done, but runs failed or are missing, a gate said no, or a bundle differs",
    2: "the command line or the campaign is wrong",
    3: "this host cannot measure as it was asked to, or why finds no difference",
    4: "a program could not be started or built",
    5: "a trial or a bundle is damaged, newer than this version, or changed",
    6: "the data do not allow this analysis",
    7: "undecided: a gate, or a rerun, needs more runs",
    70: "a bug in fairtrial",
    130: "interrupted; everything measured is kept",
}

_FIRST = """\
Is it faster? Measure it, and get an answer that holds.

two commands, now
  fairtrial compare 'gzip -6 -k -c data' 'gzip -1 -k -c data'
a suite of benchmarks
  fairtrial init campaign.yaml    write a campaign to start from
  fairtrial run campaign.yaml     measure it
  fairtrial verdict               see what the evidence supports
everything else
  fairtrial --help
"""


def whole_help() -> str:
    """Give what ``fairtrial --help`` prints: the commands in four groups."""
    width = max(map(len, commands()))
    lines = ["usage: fairtrial COMMAND ...", "", *PROMISE.splitlines()]
    for group in GROUPS:
        lines += ["", group]
        lines += [
            f"  {name:<{width}}  {command.summary}"
            for name, command in commands().items()
            if command.group == group
        ]
    lines += [
        "",
        "fairtrial COMMAND --help     what a command takes, with examples",
        "fairtrial help exit-codes    what the exit codes mean",
        "fairtrial help json COMMAND  the JSON Schema of what its --json prints",
        "fairtrial --version          the version",
    ]
    return "\n".join(lines) + "\n"


def exit_codes() -> str:
    """Give what ``fairtrial help exit-codes`` prints."""
    return "exit codes\n" + "".join(f"{code:>5}  {text}\n" for code, text in EXIT_CODES.items())


def first_screen(folder: Path) -> str:
    """Give what ``fairtrial`` alone prints: three ways in, and the newest trial of a folder."""
    return _FIRST + _newest(folder)


def _newest(folder: Path) -> str:
    """Name the newest trial and what comes next with it; nothing where none can be read."""
    places = sorted(folder.glob("*/manifest.json"))
    if not places:
        return ""
    from analysis.errors import StoreError
    from analysis.record.manifest import read_manifest
    from analysis.words import next_lines

    found = []
    for place in places:
        with contextlib.suppress(StoreError, OSError):
            manifest = read_manifest(place.parent)
            found.append((manifest.started, manifest.trial, place.parent, manifest))
    if not found:
        return ""
    *_, trial, manifest = max(found, key=lambda one: one[:2])
    state, command = _way_on(trial, manifest)
    return "\n".join((f"newest trial: {trial}, {state}", *next_lines(command))) + "\n"


def _way_on(trial: Path, manifest: Manifest) -> tuple[str, tuple[str, ...]]:
    """Give the state of a trial in a word, and the words of the command that comes next."""
    from ..trial.ending import command_to_continue
    from ..trial.folder import is_written_now

    if manifest.status == "complete" or manifest.origin == "imported":
        return "complete", ("fairtrial", "verdict", str(trial))
    if manifest.status == "running" and is_written_now(trial):
        return "measuring", ("fairtrial", "status", str(trial))
    state = "killed" if manifest.status == "running" else manifest.status
    return state, command_to_continue(manifest, trial)


_WIDEST = 80  # columns
_GAP = re.compile(r" {3,}")  # between an example and what it does
_WORD = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+")  # of a command line, with its quotes
_DEEPER = " " * 6


class HelpFormatter(argparse.HelpFormatter):
    """Sets a help in at most 80 columns: text is filled, examples are kept as lines."""

    def __init__(self, prog: str, **settings: Any) -> None:  # noqa: ANN401 - argparse's own
        super().__init__(prog, **settings)
        self._width = min(self._width, _WIDEST - 2)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines: list[str] = []
        for shown, block in blocks(text):
            if shown:
                lines += _examples(block, width)
            else:
                lines += textwrap.wrap(
                    " ".join(" ".join(block).split()), width, break_on_hyphens=False
                )
                lines += [] if block else [""]
        return "\n".join(f"{indent}{line}" for line in lines)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        metavar = self._get_default_metavar_for_optional(action)
        return f"{', '.join(action.option_strings)} {self._format_args(action, metavar)}"

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        if action.option_strings and action.nargs == "?":  # never as the next word
            return f"[={action.metavar or default_metavar}]"
        return super()._format_args(action, default_metavar)

    def _expand_help(self, action: argparse.Action) -> str:
        return whole_sentence(action.help or "")

    def format_help(self) -> str:
        """Give the help; what an option takes behind '=' alone stands without a space."""
        return re.sub(r" (\[=\w+\])((?=  ) )?", r"\1\2\2", super().format_help())


def blocks(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Split a text into paragraphs and runs of examples, which are indented; a heading stands alone."""
    block: list[str] = []
    shown = False
    for line in text.splitlines():
        if block and (line.startswith("  ") != shown or not line or block[-1].endswith(":")):
            yield shown, block
            block = []
        shown = line.startswith("  ")
        if line:
            block.append(line)
        else:
            yield False, []
    if block:
        yield shown, block


def _examples(lines: Sequence[str], width: int) -> list[str]:
    """Set examples with their explanations on the right, or all with it below where one has no room for it."""
    pairs = [(*_GAP.split(line.strip(), maxsplit=1), "")[:2] for line in lines]
    column = max((len(words) for words, text in pairs if text), default=0)
    one_line = [f"  {words:<{column}}    {text}".rstrip() for words, text in pairs]
    if max(map(len, one_line)) <= width:
        return one_line
    found: list[str] = []
    for words, text in pairs:
        found += _pasted(words, width)
        found += textwrap.wrap(
            text, width, initial_indent=_DEEPER, subsequent_indent=_DEEPER, break_on_hyphens=False
        )
    return found


def _pasted(words: str, width: int) -> list[str]:
    r"""Wrap a command line with ' \\' so that it can be pasted: never between quotes."""
    lines = [""]
    for word in _WORD.findall(words):
        longer = f"{lines[-1]} {word}" if lines[-1] else f"  {word}"
        if len(longer) > width - 2 and lines[-1]:
            lines += [f"{_DEEPER}{word}"]
        else:
            lines[-1] = longer
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


class CommandParser(argparse.ArgumentParser):
    """Reads a command line. A parser that it makes for a command is one of these as well.

    `elsewhere` holds, for options that other tools have, what to write here instead. What stands
    behind ``--`` is `tail`, where that is named, and else a word like others.
    """

    def __init__(self, *words: Any, **settings: Any) -> None:  # noqa: ANN401 - argparse's own
        settings.setdefault("formatter_class", HelpFormatter)
        super().__init__(*words, **settings)
        self.elsewhere: dict[str, str] = {}
        self.tail = ""
        self.commands: dict[str, CommandParser] = {}

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Read a whole command line.

        Raises UsageError if it is wrong: with what was meant, if something is like it.
        """
        asked = self.commands.get(words[0], self) if words else self
        found: argparse.Namespace
        try:
            found, extra = self.parse_known_args(words)
        except UsageError:
            # a mistyped option is the cause of what is missing without it
            unknown = next(asked.unknown(words), None)
            if unknown is None:
                raise
            raise asked.refused(unknown) from None
        if extra:
            raise asked.refused(extra[0])
        return found

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - argparse's own
        """Read what is known of a command line."""
        words = list(args or ())
        cut = words.index("--") if self.tail and "--" in words else len(words)
        found, extra = super().parse_known_args([*self._with_equals(words[:cut])], namespace)
        if self.tail:
            setattr(found, self.tail, tuple(words[cut + 1 :]))
        return found, extra

    def error(self, message: str) -> NoReturn:
        """Refuse a command line in argparse's words."""
        fix = f"{self.prog} --help shows what it takes"
        if message.endswith("expected one argument"):
            fix = f"write its value behind it, with = where it begins with a dash; {fix}"
        raise UsageError(message, self.prog, fix)

    def options(self) -> list[str]:
        """Give the options that the help shows."""
        shown = (one for one in self._actions if one.help is not argparse.SUPPRESS)
        return [name for action in shown for name in action.option_strings]

    def unknown(self, words: Iterable[str]) -> Iterator[str]:
        """Give the long options of a command line that are none of this command."""
        known = [name for action in self._actions for name in action.option_strings]
        for word in words:
            if word == "--":
                return
            name = word.partition("=")[0]
            asks = name.startswith("--") and " " not in word
            if asks and not any(one.startswith(name) for one in known):
                yield word

    def refused(self, word: str) -> UsageError:
        """Give the error about a word that this command does not take."""
        from .run import nearest

        if not word.startswith("-") or word == "-":
            what = f"there is a word too many: {word!r}"
            fix = f"put options first, and quotes around what belongs together: {self.prog} --help"
            return UsageError(what, self.prog, fix)
        option = word.partition("=")[0]
        if option in self.elsewhere:
            return UsageError(f"{option}: {self.elsewhere[option]}", self.prog)
        near = nearest(option, self.options())
        if near is not None:
            return UsageError(f"no option '{option}': did you mean {near}?", self.prog)
        fix = f"{self.prog} --help lists its options"
        if os.path.lexists(word):
            from analysis.words import quoted

            fix = f"write {quoted(f'./{word}')} for the file of that name; {fix}"
        if " " not in self.prog:  # before the command
            fix = f"options stand behind their command: {self.prog} COMMAND {option}"
        return UsageError(f"no option '{option}'", self.prog, fix)

    def _with_equals(self, words: Sequence[str]) -> Iterator[str]:
        """Give the words; an option that would take the next one as its value stands with its '='."""
        names = [name for action in self._actions for name in action.option_strings]
        alone = {name for a in self._actions if a.nargs == "?" for name in a.option_strings}
        for place, word in enumerate(words):
            if word == "--":
                yield from words[place:]
                return
            meant = {word} if word in names else {one for one in names if one.startswith(word)}
            closed = word.startswith("--") and len(meant) == 1 and meant <= alone
            yield f"{word}=" if closed else word


def _add_command(adding: Any, name: str) -> None:  # noqa: ANN401 - argparse has no name for it
    """Add a command: its function's docstring is its help, and the rows of its parameters its options."""
    found = made(name)
    said = found.said()
    about, _, codes = said[""].partition("\nexit code:")
    below = [f"exit code:{codes}".rstrip()] * bool(codes)
    if "Examples" in said:
        lines = (f"  fairtrial {name} {line}" for line in said["Examples"].rstrip().splitlines())
        below = ["\n".join(("examples:", *lines)), *below]
    parser = adding.add_parser(name, description=" ".join(about.split()), epilog="\n".join(below))
    parser.elsewhere, parser.tail = found.elsewhere, found.tail
    titles: dict[str, Any] = {"": parser}
    forms = parser.add_mutually_exclusive_group() if found.alternatives else parser
    for option in options_of(name):
        if option.title not in titles:
            titles[option.title] = parser.add_argument_group(option.title)
        among = option.settings.get("dest") in found.alternatives
        place = forms if among else titles[option.title]
        place.add_argument(*option.names, **option.settings)
    parser.set_defaults(run=partial(execute, name))


def parser_of(names: Sequence[str]) -> CommandParser:
    """Give a parser that knows these commands."""
    parser = CommandParser(prog="fairtrial")
    parser.add_argument("--version", action="store_true", help="print the version")
    adding = parser.add_subparsers(prog="fairtrial", metavar="COMMAND", required=True)
    for name in names:
        _add_command(adding, name)
        parser.commands[name] = adding.choices[name]
    return parser


def parser_for(word: str) -> CommandParser:
    """Give the parser of a command line that begins with a word: it knows that command alone.

    Raises UsageError if there is no such command or option; with the one that was meant, if one is
    like it.
    """
    if word in TABLE or word in commands():
        return parser_of([word])
    parser = parser_of([])
    if word.startswith("-"):
        raise parser.refused(word)
    from .run import nearest

    near = nearest(word, [*commands(), "help"])
    if near is not None:
        raise UsageError(f"no command '{word}': did you mean {near}?")

    groups = f"{', '.join(GROUPS[:-1])} and {GROUPS[-1]}"
    raise UsageError(f"no command '{word}'", fix=f"fairtrial --help lists those to {groups}")
