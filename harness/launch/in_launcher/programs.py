"""The programs that the orchestrator has announced: each is converted once and then named by a number."""

from __future__ import annotations

import ctypes

from .environment import Environment, Padding, strings

_MOST_ENVIRONMENTS = 512  # as many programs as the orchestrator keeps announced


class Program:
    """One announced program: its message, and what posix_spawn wants of it.

    `failure` is the error of one that cannot be converted: its runs end with that.
    """

    def __init__(self, message: dict, argv: ctypes.Array, environment: Environment) -> None:  # type: ignore[type-arg]  # the message
        self.message = message
        self.path = message["path"]
        self.argv = argv
        self.environment = environment
        self.failure: OSError | None = None


class Programs:
    """All of them, by their handles. A handle that comes again names another program."""

    def __init__(self) -> None:
        self._programs: dict[int, Program] = {}
        self._environments: dict[tuple, Environment] = {}  # type: ignore[type-arg]  # of bytes
        self._paddings: dict[bytes, Padding] = {}

    def __getitem__(self, handle: int) -> Program:
        return self._programs[handle]

    def add(self, message: dict) -> None:  # type: ignore[type-arg]  # the message
        """Take in an announced program.

        Keys: handle, path, argv, env, cwd, stdin, stdout, stderr (bytes), limits (list of
        (resource, soft limit)), timeout_ms (-1: none), patience_ms (what the timeout is in all beyond
        that, of a program that is not measured), grace_ms, sweep, padded (the variable whose length each
        run tells, or None).
        """
        failure = None
        argv, environment = strings([]), Environment([], None)
        try:
            argv = strings(message["argv"])
            environment = self._environment(message.pop("env"), message["padded"])
        except OSError as error:
            failure = error
        program = self._programs[message["handle"]] = Program(message, argv, environment)
        program.failure = failure

    def _environment(self, variables: list, padded: bytes | None) -> Environment:  # type: ignore[type-arg]  # of bytes
        key = (padded, *variables)
        found = self._environments.get(key)
        if found is None:
            padding = None
            if padded is not None:
                padding = self._paddings.get(padded) or Padding(padded)
                self._paddings[padded] = padding
            found = Environment(variables, padding)
            if len(self._environments) >= _MOST_ENVIRONMENTS:
                self._environments.clear()
            self._environments[key] = found
        return found
