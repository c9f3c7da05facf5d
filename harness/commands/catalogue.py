"""Every subcommand: where it is made, its group and its line in the help, and its parser."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial
from typing import Any

from analysis.errors import UsageError
from analysis.options import COMMANDS, FUNCTIONS, execute, options_of
from analysis.registry import load

from .command_parser import CommandParser
from .help_page import GROUPS


def _add_command(adding: Any, name: str, module: str) -> None:  # noqa: ANN401 - argparse has no name for it
    """Add a command: its function's docstring is its help, and the rows of its parameters its options."""
    load(module)
    made = FUNCTIONS[name]
    first, _, rest = (made.function.__doc__ or "").partition("\n")
    about, _, examples = f"{first}\n{textwrap.dedent(rest)}".partition("\nExamples\n--------\n")
    about, _, codes = about.partition("\nexit code:")
    below = [f"exit code:{codes}".rstrip()] * bool(codes)
    if examples:
        lines = (f"  fairtrial {name} {line}" for line in examples.rstrip().splitlines())
        below = ["\n".join(("examples:", *lines)), *below]
    parser = adding.add_parser(name, description=" ".join(about.split()), epilog="\n".join(below))
    parser.elsewhere, parser.tail = made.elsewhere, made.tail
    titles: dict[str, Any] = {"": parser}
    forms = parser.add_mutually_exclusive_group() if made.alternatives else parser
    for option in options_of(name):
        if option.title not in titles:
            titles[option.title] = parser.add_argument_group(option.title)
        among = option.settings.get("dest") in made.alternatives
        place = forms if among else titles[option.title]
        vars(place.add_argument(*option.names, **option.settings)).update(option.marks)
    parser.set_defaults(run=partial(execute, name))


def parser_of(names: Sequence[str]) -> CommandParser:
    """Give a parser that knows these commands."""
    parser = CommandParser(prog="fairtrial")
    parser.add_argument("--version", action="store_true", help="print the version")
    adding = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in names:
        _add_command(adding, name, COMMANDS[name].module)
        parser.commands[name] = adding.choices[name]
    return parser


def parser_for(word: str) -> CommandParser:
    """Give the parser of a command line that begins with a word: it knows that command alone.

    Raises
    ------
    UsageError
        If there is no such command or option; with the one that was meant, if one is like it.
    """
    if word in COMMANDS:
        return parser_of([word])
    parser = parser_of([])
    if word.startswith("-"):
        raise parser.refused(word)
    from .going_on import nearest

    near = nearest(word, [*COMMANDS, "help"])
    if near is not None:
        raise UsageError(f"no command '{word}': did you mean {near}?")
    groups = f"{', '.join(GROUPS[:-1])} and {GROUPS[-1]}"
    raise UsageError(f"no command '{word}'", fix=f"fairtrial --help lists those to {groups}")
