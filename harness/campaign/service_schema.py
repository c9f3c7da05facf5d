"""The shape of the services of a campaign: long-lived processes beside the runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from .model import Ready, Service, ServiceEach, StopSignal
from .nested_kinds import Key, Mapped, Section, cpus
from .scalar_kinds import choice, duration, pattern, switch
from .target_schema import COMMAND, ENVIRONMENT, TEXT, TIMEOUT
from .templates import VALUE_NAME

_NAME = rf"{VALUE_NAME.pattern[:-1]}{{0,49}}"
_NAME_NEEDS = (
    "a name of letters, digits, _ and -, beginning with a letter or _: at most 50 characters"
)


def _one_sign(given: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    if "output" in given and "command" in given:
        yield "command", "cannot stand beside 'output': one sign is enough", "delete one of them"


READY = Section(
    "ReadySection",
    "When a service is ready: as soon as a process of it listens on its port, unless this says otherwise.",
    {
        "output": Key(TEXT, "a regular expression that a line of its output matches"),
        "command": Key(
            COMMAND, "a command that ends with exit code 0; it is asked again until it does"
        ),
        "port": Key(TEXT, "a fixed port, 1 to 65535, in place of one that is free"),
        "timeout": Key(TIMEOUT, "longest time until it is ready"),
    },
    model=Ready,
    rules=[_one_sign],
    more={"not": {"required": ["output", "command"]}},
)

SERVICE = Section(
    "ServiceSection",
    "A long-lived process beside the runs.",
    {
        "command": Key(
            COMMAND,
            "the program and its arguments; it stays in the foreground",
            required=True,
        ),
        "cwd": Key(
            TEXT,
            "working directory, relative to the campaign file's folder",
            otherwise="the file's folder",
        ),
        "env": Key(ENVIRONMENT, "environment variables: name -> text"),
        "cpus": Key(
            cpus("auto"),
            "`auto`: those that neither runs nor fairtrial use; or a CPU, `[2, 3]` or `2-3`",
        ),
        "share_cpus": Key(
            switch(), "whether its CPUs may be those of the runs or of fairtrial itself"
        ),
        "ready": Key(READY, "when it is ready"),
        "stop": Key(
            choice(*get_args(StopSignal)), "the signal that asks it to end: `TERM`, `INT` or `QUIT`"
        ),
        "grace": Key(duration(), "time from that signal to SIGKILL"),
        "each": Key(
            choice(*get_args(ServiceEach)),
            "`session`: it stands during a session; `run`: it is started before and ended after"
            " each run of its variant",
        ),
    },
    model=Service,
)
SERVICES = Mapped(
    SERVICE,
    key=pattern(_NAME, _NAME_NEEDS),
    names={"pattern": f"^({_NAME})$"},
)
