"""Manual pages, made from the parsers: fairtrial(1), and one for each command.

They hold nothing of the day or the machine: the same version gives the same bytes.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from analysis.registry import commands
from analysis.version import VERSION
from harness.commands.command_parser import (
    EXIT_CODES,
    GROUPS,
    PROMISE,
    CommandParser,
    HelpFormatter,
    blocks,
    parser_of,
)
from harness.commands.first_steps import SCHEMAS

_GAP = re.compile(r" {3,}")
_SIGNS = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def pages() -> dict[str, str]:
    """Give the file name and the text of each page."""
    known = commands()
    found = {"fairtrial.1": _overview()}
    for name, parser in parser_of(list(known)).commands.items():
        found[f"fairtrial-{name}.1"] = _page(name, parser)
    return found


def _overview() -> str:
    known = commands()
    lines = [
        *_head("fairtrial", "measure programs and judge speedups"),
        *(".SH SYNOPSIS", ".B fairtrial", r"\fICOMMAND\fR ...", ".br"),
        *(".B fairtrial help", r"[\fICOMMAND\fR | \fBexit\-codes\fR | \fBjson\fR \fICOMMAND\fR]"),
        *(".SH DESCRIPTION", _text(PROMISE.replace("\n", " "))),
        ".SH COMMANDS",
    ]
    for group in GROUPS:
        lines.append(f".SS to {group}")
        for name, command in known.items():
            if command.group == group:
                lines += [".TP", f"\\fBfairtrial\\-{_text(name)}\\fR(1)", _text(command.summary)]
    lines += [".SH EXIT STATUS", *_exit_codes()]
    lines += [
        ".SH FILES",
        *(".TP", r"\fIruns/NAME/\fR", "a trial: campaign, plan, measurements, environment; text"),
        *(".TP", rf"\fIshare/{_text(SCHEMAS)}/COMMAND.schema.json\fR"),
        _text("below the installation: the JSON Schema of what a command prints with --json"),
    ]
    return "\n".join(lines) + "\n"


def _page(name: str, parser: CommandParser) -> str:
    """Give the page of a command."""
    described = list(blocks(parser.description or ""))
    shown = [one for one in parser._actions if one.help is not argparse.SUPPRESS]
    words = [one for one in shown if not one.option_strings]
    form = HelpFormatter(parser.prog, width=10_000)
    synopsis = [f".B fairtrial {_text(name)}", r"[\fIOPTION\fR]..."]
    synopsis += [rf"\fI{_text(form._format_args(one, _name(one)))}\fR" for one in words]
    lines = [
        *_head(f"fairtrial-{name}", commands()[name].summary),
        *(".SH SYNOPSIS", *synopsis, ".SH DESCRIPTION"),
    ]
    for _, block in described:
        lines += [".PP"] if not block else [_text(" ".join(block))]
    for group in parser._action_groups:
        actions = [one for one in group._group_actions if one in shown]
        if not actions:
            continue
        title = {"positional arguments": "arguments"}.get(group.title or "", group.title or "")
        lines.append(f".SH {_text(title.upper())}")
        for action in actions:
            lines += [".TP", _heading(form, action)]
            said = form._expand_help(action) if action.help else ""
            lines.append(_text(" ".join(said.split())))
    lines += _epilog(parser.epilog or "")
    if not any(line.startswith(".SH EXIT STATUS") for line in lines):
        lines += [".SH EXIT STATUS", *_exit_codes()]
    lines += [".SH SEE ALSO", r"\fBfairtrial\fR(1)"]
    return "\n".join(lines) + "\n"


def _heading(form: HelpFormatter, action: argparse.Action) -> str:
    """Give an argument as the heading of its paragraph: -o, --output FILE."""
    if not action.option_strings:
        return rf"\fI{_text(_name(action))}\fR"
    names = ", ".join(rf"\fB{_text(one)}\fR" for one in action.option_strings)
    if action.nargs == 0:
        return names
    between = "" if action.nargs == "?" else " "
    return rf"{names}{between}\fI{_text(form._format_args(action, _name(action)))}\fR"


def _name(action: argparse.Action) -> str:
    if action.choices is not None and action.metavar is None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    plain = action.dest.upper() if action.option_strings else action.dest
    return str(action.metavar or plain) if not isinstance(action.metavar, tuple) else plain


def _epilog(text: str) -> Iterator[str]:
    """Set examples as such, and what else stands below a help as paragraphs."""
    for shown, block in blocks(text):
        if block == ["examples:"]:
            yield ".SH EXAMPLES"
        elif shown:
            for line in block:
                words, said = (*_GAP.split(line.strip(), maxsplit=1), "")[:2]
                yield from (".TP", rf"\fB{_text(words)}\fR", _text(said))
        elif block and block[0].startswith("exit code"):
            yield from (".SH EXIT STATUS", _text(" ".join(block)))
        elif block:
            yield from (".PP", _text(" ".join(block)))


def _exit_codes() -> Iterator[str]:
    for code, said in EXIT_CODES.items():
        yield from (".TP", rf"\fB{code}\fR", _text(said))


def _head(name: str, said: str) -> Iterator[str]:
    yield f'.TH {_text(name).upper()} 1 "" "fairtrial {VERSION}" "User Commands"'
    yield from (".SH NAME", rf"{_text(name)} \- {_text(said)}")


def _text(text: str) -> str:
    """Write a text as troff reads it: every sign as itself, also at the beginning of a line."""
    signs = (_SIGNS.get(one, one if one.isascii() else rf"\[u{ord(one):04X}]") for one in text)
    written = "".join(signs)
    return rf"\&{written}" if written.startswith(".") else written
