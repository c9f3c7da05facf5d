"""Who called: under sudo, pkexec or doas what is executed belongs to them, not to root."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import UsageError

_OF_SUDO = ("SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND", "SUDO_PS1", "SUDO_PROMPT")
_OF_OTHERS = ("PKEXEC_UID", "DOAS_USER")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The user for whom something is executed; `name` is None for one without an account."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    name: str | None = None
    home: str | None = None
    shell: str | None = None

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Give the variables of what is executed: those given, with the caller's own account."""
        kept = {key: value for key, value in given.items() if key not in (*_OF_SUDO, *_OF_OTHERS)}
        if self.name is not None and self.home is not None:
            kept |= {"USER": self.name, "LOGNAME": self.name, "HOME": self.home}
            kept |= {"SHELL": self.shell or "/bin/sh"}
            kept.pop("MAIL", None)
        runtime = f"/run/user/{self.uid}"
        if "XDG_RUNTIME_DIR" not in kept and os.path.isdir(runtime):  # noqa: PTH112 - never raises
            kept["XDG_RUNTIME_DIR"] = runtime
        return kept


def caller_of(environment: Mapping[str, str]) -> Caller | None:
    """Tell for whom root acts; None when nobody else called: this process is the caller itself.

    Raises
    ------
    UsageError
        If the variables of sudo name nobody.
    """
    if os.geteuid() != 0:
        return None
    if "SUDO_UID" in environment:
        uid = _number(environment, "SUDO_UID")
        account = _account(uid)
        given = "SUDO_GID" in environment
        gid = _number(environment, "SUDO_GID") if given else _group(account, "SUDO_UID")
    elif "PKEXEC_UID" in environment:
        account = _account(_number(environment, "PKEXEC_UID"))
        uid, gid = _number(environment, "PKEXEC_UID"), _group(account, "PKEXEC_UID")
    elif "DOAS_USER" in environment:
        try:
            account = pwd.getpwnam(environment["DOAS_USER"])
        except (KeyError, ValueError):
            raise _nobody("DOAS_USER", environment) from None
        uid, gid = account.pw_uid, account.pw_gid
    else:
        return None
    if uid == 0:
        return None  # root called itself
    if account is None:
        return Caller(uid=uid, gid=gid, groups=(gid,))
    return Caller(
        uid=uid,
        gid=gid,
        groups=tuple(os.getgrouplist(account.pw_name, gid)),
        name=account.pw_name,
        home=account.pw_dir,
        shell=account.pw_shell,
    )


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment[name]
    if not (text.isascii() and text.isdigit() and int(text) < 2**32 - 1):
        raise _nobody(name, environment)
    return int(text)


def _account(uid: int) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        return None


def _group(account: pwd.struct_passwd | None, name: str) -> int:
    if account is None:
        raise UsageError(f"the user that {name} names has no account, so no group either", name)
    return account.pw_gid


def _nobody(name: str, environment: Mapping[str, str]) -> UsageError:
    return UsageError(
        f"{name} names nobody: {environment[name]!r}; nothing is executed as root in their place",
        name,
        "execute it with sudo, or as root without that variable",
    )
