"""All that a campaign would execute, with the files behind it, as a person is shown before it acts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from analysis.words import shown

from ..wording import about, counted, size

__all__ = ["Intent", "Kind", "Program", "Step"]

Kind = Literal["build", "setup", "before each run", "run", "after each run", "cleanup", "finish"]
Place = Literal["bundle", "this machine", "made by the build", "missing"]

_SHORT = 12  # digits of a hash on a screen


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command that would be executed.

    Attributes
    ----------
    kind : str
        What for, such as ``build`` or ``run``.
    of : tuple of str
        The variants (of a build) or cells, ``BENCHMARK:VARIANT``; empty of what belongs to all.
    argv : tuple of str
        Its arguments.
    cwd, stdin : str
        Where, below the new folder or whole; what it reads, "" for nothing.
    variables : mapping of str to str
        Environment variables that the campaign sets for it.
    """

    kind: Kind
    of: tuple[str, ...]
    argv: tuple[str, ...]
    cwd: str
    stdin: str = ""
    variables: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "kind": self.kind,
            "of": list(self.of),
            "argv": list(self.argv),
            "cwd": self.cwd,
            "stdin": self.stdin or None,
            "variables": dict(self.variables),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A file that would be executed, or is named by a command that would be.

    Attributes
    ----------
    name : str
        As the command names it.
    place : str
        ``bundle``, ``this machine``, ``made by the build`` or ``missing``.
    path : str or None
        Where it lies: below the new folder, or whole.
    bytes, sha256 : int or None, str or None
        Its size and hash now; None where it is not there, or cannot be read.
    measured_sha256 : str or None
        The hash that the authors' program had when it was measured, where that is known.
    """

    name: str
    place: Place
    path: str | None = None
    bytes: int | None = None
    sha256: str | None = None
    measured_sha256: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        """Write it for a person."""
        where = f" {shown(self.path)}" if self.path not in {None, self.name} else ""
        told = f"{shown(self.name)}: {self.place}{where}"
        if self.bytes is not None:
            told += f", {size(self.bytes)}"
        if self.sha256 is not None:
            told += f", SHA-256 {self.sha256[:_SHORT]}…"
        if self.measured_sha256 is None:
            return told
        if self.sha256 == self.measured_sha256:
            return f"{told}, the same as was measured"
        return f"{told}; SHA-256 {self.measured_sha256[:_SHORT]}… was measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What the rerun of one trial would do.

    Attributes
    ----------
    trial, campaign : str
        The trial that was measured, and its campaign's file below the new folder.
    sessions, sessions_measured, runs : int
        Sessions that would be measured, and that were; runs that would be, warm-ups included.
    seconds : float or None
        How long the runs took the authors, scaled to these sessions; None where unknown.
    steps : tuple of Step
        Every command, in the order in which they come.
    programs : tuple of Program
        The file behind each, and the files among their arguments.
    variables : mapping of str to str
        Environment variables that are set for all of them.
    keeps : str or tuple of str
        Which of your own variables they see: ``all``, ``none``, or names.
    reads : tuple of str
        Files outside of the bundle that would be read.
    """

    trial: str
    campaign: str
    sessions: int
    sessions_measured: int
    runs: int
    seconds: float | None
    steps: tuple[Step, ...]
    programs: tuple[Program, ...]
    variables: Mapping[str, str]
    keeps: str | tuple[str, ...]
    reads: tuple[str, ...]

    def unsaid(self, page: str) -> list[str]:
        """Give the commands, each as a line, that a page does not name on a line of its own."""
        said = set(page.split("\n"))
        lines = dict.fromkeys(shown(shlex.join(step.argv)) for step in self.steps)
        return [line for line in lines if line not in said]

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "trial": self.trial,
            "campaign": self.campaign,
            "sessions": self.sessions,
            "sessions_measured": self.sessions_measured,
            "runs": self.runs,
            "seconds": self.seconds,
            "steps": [step.to_dict() for step in self.steps],
            "programs": [program.to_dict() for program in self.programs],
            "variables": dict(self.variables),
            "keeps": self.keeps if isinstance(self.keeps, str) else list(self.keeps),
            "reads": list(self.reads),
        }

    def __str__(self) -> str:
        """Write it for a person."""
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Say everything that would be executed, a line each."""
        took = "" if self.seconds is None else f", {about(self.seconds)} as it took the authors"
        yield (
            f"{shown(self.trial)}: {counted(self.sessions, 'session')} of {self.sessions_measured}, "
            f"{counted(self.runs, 'run')}{took}"
        )
        yield f"  campaign    {shown(self.campaign)}"
        seen = self.keeps if isinstance(self.keeps, str) else ", ".join(self.keeps)
        yield f"  they see    {shown(seen)} of your environment variables"
        if self.variables:
            yield f"  variables   {_set(self.variables)}"
        yield "  commands"
        for step in self.steps:
            whose = _whose(step.of)
            yield f"    {step.kind}{f' of {whose}' if whose else ''}, in {shown(step.cwd)}"
            env = f"{_set(step.variables)} " if step.variables else ""
            read = f" < {shown(step.stdin)}" if step.stdin else ""
            yield f"        {env}{shown(shlex.join(step.argv))}{read}"
        yield "  files behind them"
        for program in self.programs:
            yield f"    {program}"
        for path in self.reads:
            yield f"    reads {shown(path)}, which is not in the bundle"


def _set(variables: Mapping[str, str]) -> str:
    return " ".join(f"{shown(name)}={shown(shlex.quote(text))}" for name, text in variables.items())


def _whose(of: tuple[str, ...]) -> str:
    shown_ones = ", ".join(shown(name) for name in of[:3])
    return shown_ones if len(of) <= 3 else f"{shown_ones} and {len(of) - 3} more"
