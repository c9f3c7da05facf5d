"""Every subcommand: where it is made, its group and its line in the help, and its parser."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.errors import UsageError
from analysis.registry import COMMANDS, Command, function

from .command_parser import CommandParser
from .help_page import GROUPS

# the subcommands of the runner, in the order of the help
RUNNER: dict[str, Command] = {
    "compare": Command(
        "harness.commands.compare:add",
        "measure",
        "two or more commands, now; the first is the baseline",
    ),
    "init": Command(
        "harness.commands.first_steps:add_init", "measure", "write a campaign to start from"
    ),
    "run": Command("harness.commands.run:add", "measure", "measure a campaign, or go on with one"),
    "bisect": Command(
        "harness.commands.bisect_command:add",
        "measure",
        "find the commit that changed a program's time",
    ),
    "why": Command(
        "harness.commands.why:add",
        "understand",
        "in which functions a slower variant takes longer",
    ),
    "status": Command(
        "harness.commands.submit:add_status",
        "measure",
        "how far a trial or a fleet is, and how to go on",
    ),
    "doctor": Command(
        "harness.commands.first_steps:add_doctor",
        "measure",
        "check this host, and say how to mend it",
    ),
    "tune": Command(
        "harness.commands.tune:add", "measure", "change what the doctor named, and put it back"
    ),
    "submit": Command(
        "harness.commands.submit:add_submit",
        "measure",
        "measure a campaign on many hosts, through Slurm",
    ),
    "cancel": Command("harness.commands.submit:add_cancel", "measure", "end the jobs of a fleet"),
    "reproduce": Command(
        "harness.commands.reproduce:add",
        "share",
        "check a bundle: compute it again, or measure it again",
    ),
    "completion": Command(
        "harness.commands.completion:add",
        "share",
        "print the completion script of bash, zsh or fish",
    ),
}


def commands() -> dict[str, Command]:
    """Give all subcommands by name, in the order of the help."""
    return {**COMMANDS, **RUNNER}


def parser_of(names: Sequence[str]) -> CommandParser:
    """Give a parser that knows these commands."""
    parser = CommandParser(prog="fairtrial")
    parser.add_argument("--version", action="store_true", help="print the version")
    adding = parser.add_subparsers(metavar="COMMAND", required=True)
    known = commands()
    for name in names:
        function(known[name].place)(adding)
        parser.commands[name] = adding.choices[name]
    return parser


def parser_for(word: str) -> CommandParser:
    """Give the parser of a command line that begins with a word: it knows that command alone.

    Raises
    ------
    UsageError
        If there is no such command or option; with the one that was meant, if one is like it.
    """
    known = commands()
    if word in known:
        return parser_of([word])
    parser = parser_of([])
    if word.startswith("-"):
        raise parser.refused(word)
    from .going_on import nearest

    near = nearest(word, [*known, "help"])
    if near is not None:
        raise UsageError(f"no command '{word}': did you mean {near}?")
    groups = f"{', '.join(GROUPS[:-1])} and {GROUPS[-1]}"
    raise UsageError(f"no command '{word}'", fix=f"fairtrial --help lists those to {groups}")
