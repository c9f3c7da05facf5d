"""Scripts with which shells complete a command line, made by shtab from the parser of all commands.

shtab is needed when fairtrial is built, and never when it is used: nothing is imported at a Tab.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import shtab

from analysis.registry import commands
from harness.commands.command_parser import CommandParser, parser_of

SHELLS = ("bash", "zsh", "fish")

# names of trials, then files: trials of other tools are files
_TRIALS = {
    "bash": """
_fairtrial_trials_or_files() {
  local place
  for place in runs/*/manifest.json runs/*/fleet.json; do
    place=${place%/*}
    [[ -d $place && $place == "$1"* ]] && printf '%s\n' "$place"
  done
  compgen -f -- "$1"
}
""",
    "zsh": """
_fairtrial_trials() {
  local -a places
  places=(runs/*/manifest.json(N:h) runs/*/fleet.json(N:h))
  compadd -f -a places
  _files
}
""",
    "fish": """
function __fairtrial_trials
  for place in runs/*/manifest.json runs/*/fleet.json
    string replace -r '/[^/]*$' '' $place
  end
  __fish_complete_path (commandline -ct)
end
""",
}
# shtab lets bash treat as file names what a function with _file in its name gives
_TRIAL = {
    "bash": "_fairtrial_trials_or_files",
    "zsh": "_fairtrial_trials",
    "fish": "(__fairtrial_trials)",
}

# what a word is: the names of arguments whose word is a trial or a file of another tool
_SOURCES = {
    *("source", "sources", "more", "candidate", "baseline", "first", "second", "matrix"),
    *("trial", "trials", "fleet", "diff", "also"),
}
_FOLDERS = {"DIR", "FOLDER"}
_FILES = {"FILE", "ARTIFACT", "PREFIX", "CAMPAIGN"}


def script(shell: str) -> str:
    """Give the script of a shell: bash, zsh or fish."""
    text: str = shtab.complete(_parser(), shell=shell, preamble=_TRIALS)
    return text.rstrip("\n") + "\n"


def _parser() -> CommandParser:
    """Give the parser of all commands as shtab wants it: with a line for each, and what words are."""
    known = commands()
    parser = parser_of(list(known))
    (adding,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    topics = adding.add_parser("help", help="a command, what exit codes mean, or a JSON Schema")
    topics.add_argument(
        "topic", nargs="?", choices=[*known, "exit-codes", "json"], help="a command"
    )
    for name, command in parser.commands.items():
        said = known[name].summary.replace("%", "%%")
        adding._choices_actions.append(adding._ChoicesPseudoAction(name, (), said))
        command.description = said  # which zsh and fish show next to the name
        for action in command._actions:
            _tell(action)
    return parser


def _tell(action: argparse.Action) -> None:
    """Say to shtab what the word of an argument is."""
    if action.nargs == 0 or action.choices is not None:
        return
    option = bool(action.option_strings)
    name = str(action.metavar or action.dest.upper())
    if action.dest in _SOURCES and not (option and name in {"NAME", "V"}):
        vars(action)["complete"] = _TRIAL
    elif name in _FOLDERS:
        vars(action)["complete"] = shtab.DIRECTORY
    elif name in _FILES or action.type is Path:
        vars(action)["complete"] = shtab.FILE
