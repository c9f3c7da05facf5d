"""The key of the hashes that stand for values of variables: one for each user of a host.

A plain hash of a short secret can be searched; with a key that never leaves the user's state folder
it cannot, and the same value still has the same hash in the next session.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import os
import secrets
import shlex
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_BYTES = 32
_WRONG = "delete it, and the next trial makes a new one"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableKey:
    """A key, or why there is none: `problem`, with `where` and `fix`."""

    secret: bytes | None = None
    problem: str | None = None
    where: str | None = None
    fix: str | None = None

    @property
    def name(self) -> str | None:
        """What tells keys apart and says nothing about them; None without a key."""
        return None if self.secret is None else self._hmac(b"fairtrial")[:16]

    def hash_of(self, name: str, value: str) -> str | None:
        """Give the HMAC-SHA256 of a variable, None without a key."""
        if self.secret is None:
            return None
        return self._hmac(os.fsencode(name) + b"=" + os.fsencode(value))

    def _hmac(self, message: bytes) -> str:
        assert self.secret is not None
        return hmac.new(self.secret, message, hashlib.sha256).hexdigest()


def variable_key(environment: Mapping[str, str]) -> VariableKey:
    """Read this user's key, ``$XDG_STATE_HOME/fairtrial/key``; make it when there is none.

    A file that others could have read or written is not used, and nothing is raised: the key says
    what is wrong.
    """
    folder = _folder(environment)
    if folder is None:
        return VariableKey(problem="neither XDG_STATE_HOME nor HOME names a folder", where="$HOME")
    path = folder / "key"
    try:
        try:
            return _read(path)
        except FileNotFoundError:
            _make(path)
            return _read(path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return _unusable(path, "it is a symbolic link", _WRONG)
        return _unusable(path, f"{error.strerror}", f"make {shlex.quote(str(folder))} writable")


def _folder(environment: Mapping[str, str]) -> Path | None:
    state, home = environment.get("XDG_STATE_HOME", ""), environment.get("HOME", "")
    if state.startswith("/"):
        return Path(state) / "fairtrial"
    there = home.startswith("/") and Path(home).is_dir()  # root would make it, whatever it is
    return Path(home) / ".local" / "state" / "fairtrial" if there else None


def _read(path: Path) -> VariableKey:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return _unusable(path, "it is no regular file", _WRONG)
        if found.st_uid != os.geteuid():
            return _unusable(path, "it belongs to another user", _WRONG)
        if stat.S_IMODE(found.st_mode) & 0o177:
            mode = f"its mode is {stat.S_IMODE(found.st_mode):04o}, not 0600"
            return _unusable(path, mode, _WRONG)
        data = os.read(fd, _BYTES + 1)
    finally:
        os.close(fd)
    if len(data) != _BYTES:
        return _unusable(path, f"it does not hold {_BYTES} bytes", _WRONG)
    return VariableKey(secret=data)


def _make(path: Path) -> None:
    """Write a new key whole, or not at all; another process may have been faster."""
    above = next(folder for folder in path.parents if folder.exists())
    if os.geteuid() == 0 and above.stat().st_uid != 0:
        raise PermissionError(errno.EPERM, "root leaves no file in the folder of another user")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".key-{secrets.token_hex(8)}")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as file:  # noqa: PTH123 - a descriptor
            os.fchmod(fd, 0o600)
            file.write(secrets.token_bytes(_BYTES))
            file.flush()
            os.fsync(fd)
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(fresh)
    finally:
        fresh.unlink()


def _unusable(path: Path, problem: str, fix: str) -> VariableKey:
    return VariableKey(problem=problem, where=str(path), fix=fix)
