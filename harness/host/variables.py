"""What is stored of environment variables and texts about them: no secrets, hashes by a key of the user's own.

Nobody can say which variable holds a secret; which ones explain a timing is known. So values are stored by
a list of what is allowed; of any other variable its name, and a hash by which a later session sees that it
changed. The key never leaves the user's state folder: a plain hash of a short secret could be searched.
"""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import hashlib
import hmac
import os
import re
import secrets
import shlex
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HIDDEN = "<redacted>"

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|PRIVATE|SIGNATURE|BEARER|JWT|WEBHOOK|DSN"
    r"|CONNECTION_?STRING|PWD?$|(?:^-*D?|[_.-])(?:PWD?[_.-]|SIG$)|(?:[_.-]|^-*D)PIN$",
    re.IGNORECASE,
)
_FOLDERS = {"PWD", "OLDPWD"}  # which a shell sets
# Values that are secrets whatever their name: well-known prefixes of tokens.
_SECRET_VALUE = re.compile(
    r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|[rs]k_(?:live|test)_|pypi-|npm_|hf_|AKIA|ASIA|AIza|eyJ)"
    r"[A-Za-z0-9_.-]{12,}|(?<=\bhooks\.slack\.com/services/)\S+"
    r"""|(?<=\bbearer )(?!<redacted>)[^\s"']{8,}""",
    re.IGNORECASE,
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY")
# A word as a shell reads it: what is quoted, or follows a backslash, is part of it, blanks included.
_WORD = re.compile(
    r"""(?:"(?:\\.|[^"\\])*+(?:"|\\?\Z)|'[^']*+(?:'|\Z)|\\.|\\\Z|[^\s"'\\])++""", re.DOTALL
)
_OPTION = re.compile(r"(?<![\w-])(?P<name>--?[\w.-]++)\s+(?!-)")
_USER_OPTION = re.compile(r"(?<![\w-])(?:--user|--proxy-user|-u|-U)(?:\s+|=)(?!-)(?=\S{1,256}:)")
_NETRC = re.compile(r"\bpassword\s+", re.IGNORECASE)
# Up to the last @: a password may hold one, and a slash. What follows a colon may be a port.
_URL_LOGIN = re.compile(
    r"""(?<=://)(?:[^\s/?#"']{0,1024}|[^\s/?#"'@:]{0,256}:(?![0-9]+/)[^\s"']{0,1024})@"""
)
# NAME=value or --name=value inside a longer text, such as CFLAGS or the boot arguments; Make and CMake
# write := += ?= and :TYPE= too. And name: value, as in YAML, in JSON and in the head of a request.
_NAMED = re.compile(
    r"""(?<![\w.-])(?P<name>[\w.-]++)"""
    r"""(?:[ \t]*+(?::\w*+|[+?!]|::)?=[ \t]*+|(?P<ended>["']?)[ \t]*+(?P<colon>:)(?:[ \t]++|(?=["'])))"""
)
_SCHEME = re.compile(r"(?:basic|bearer|digest|negotiate|token)[ \t]+", re.IGNORECASE)
_LINE = re.compile(r"[^\n]*")
_UP_TO = {quote: re.compile(rf"(?:\\.|[^\\{quote}])*+", re.DOTALL) for quote in "\"'"}


def names_a_secret(name: str) -> bool:
    """Tell whether a variable or an option speaks of a key, a token, a password and the like."""
    return name not in _FOLDERS and _SECRET_NAME.search(name) is not None


def redact_text(text: str, home: str | None) -> str:
    """Take logins out of URLs, and secrets and the home directory out of a text."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")  # undecodable bytes
    if _PRIVATE_KEY.search(text):
        return HIDDEN
    text = _URL_LOGIN.sub(f"{HIDDEN}@", text)
    text = _SECRET_VALUE.sub(HIDDEN, text)
    text = _without_values(text)
    for pattern in (_USER_OPTION, _OPTION, _NETRC):
        # hide the word behind each match whose name, if it has one, speaks of a secret
        kept, done, at = [], 0, 0
        while (found := pattern.search(text, at)) is not None:
            at = found.end()
            if "name" in pattern.groupindex and not names_a_secret(found["name"]):
                continue
            if word := _WORD.match(text, at):
                kept.append(text[done:at] + HIDDEN)
                done = at = word.end()
        text = "".join(kept) + text[done:]
    if home and len(home.strip("/")) > 0:
        text = re.sub(rf"(?<![\w.-]){re.escape(home.rstrip('/'))}(?![\w.-])", "~", text)
    return text


def _without_values(text: str) -> str:
    """Hide what stands behind a name that speaks of a secret, and = or a colon."""
    kept, done, at = [], 0, 0
    while (found := _NAMED.search(text, at)) is not None:
        at = found.end()
        if not names_a_secret(found["name"]):
            continue
        before = text[found.start() - 1 : found.start()]
        whole = _WORD
        if before in _UP_TO and not found["ended"]:  # a quote that begins before the name
            whole = _UP_TO[before]
        elif found["colon"] and not found["ended"]:  # no name of JSON
            whole = _LINE
        if found["colon"] and (scheme := _SCHEME.match(text, at)):
            at = scheme.end()
        if value := whole.match(text, at):
            kept.append(text[done:at] + HIDDEN)
            done = at = value.end()
    return "".join(kept) + text[done:]


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
            return _unusable(path, "it is not a regular file", _WRONG)
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


# What they are about -> the names; a trailing * stands for any end. docs/environment.md shows it.
ALLOWED: Mapping[str, tuple[str, ...]] = {
    "places": ("PATH", "HOME", "PWD", "OLDPWD", "TMPDIR", "SHELL"),
    "language and time": ("LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "POSIXLY_CORRECT"),
    "loader and C library": (
        *("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW", "LD_AUDIT", "GLIBC_TUNABLES"),
        *("MALLOC_*", "JE_MALLOC_CONF", "TCMALLOC_*", "MIMALLOC_*"),
    ),
    "compilers": (
        *("CC", "CXX", "CPP", "LD", "AR", "AS", "NM", "RANLIB", "STRIP", "FC", "F77"),
        *("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "LIBS", "ASFLAGS", "FFLAGS"),
        *("FCFLAGS", "ARCHFLAGS", "MAKEFLAGS", "MFLAGS", "CPATH", "C_INCLUDE_PATH"),
        *("CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "PKG_CONFIG_PATH", "SOURCE_DATE_EPOCH"),
        *("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"),
    ),
    "threads and devices": (
        *("OMP_*", "GOMP_*", "KMP_*", "MKL_*", "OPENBLAS_*", "BLIS_*", "VECLIB_*", "NUMEXPR_*"),
        *("TBB_*", "RAYON_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
        "ROCR_VISIBLE_DEVICES",
    ),
    "Python": (
        *("PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONMALLOC"),
        *("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONUTF8", "PYTHONIOENCODING"),
        *("PYTHONNOUSERSITE", "PYTHON_GIL", "PYTHON_JIT", "VIRTUAL_ENV", "CONDA_PREFIX"),
        *("CONDA_DEFAULT_ENV", "NUMBA_NUM_THREADS", "NUMBA_CPU_NAME"),
    ),
    "Java and JavaScript": (
        *("JAVA_HOME", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"),
        *("NODE_ENV", "NODE_OPTIONS", "UV_THREADPOOL_SIZE"),
    ),
    "Go and Rust": (
        *("GOARCH", "GOOS", "GOAMD64", "GOARM64", "GOFLAGS", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"),
        *("GODEBUG", "GOROOT", "GOPATH", "GOTOOLCHAIN", "CGO_ENABLED", "CGO_CFLAGS", "CGO_LDFLAGS"),
        *("RUSTFLAGS", "RUSTC", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "CARGO_HOME"),
        *("CARGO_TARGET_DIR", "RUST_BACKTRACE", "RUST_MIN_STACK"),
    ),
    "R and Julia": (
        *("R_HOME", "R_LIBS", "R_LIBS_USER", "JULIA_NUM_THREADS", "JULIA_PROJECT"),
        "JULIA_DEPOT_PATH",
    ),
    "compressors": ("GZIP", "XZ_OPT", "XZ_DEFAULTS", "ZSTD_CLEVEL", "ZSTD_NBTHREADS"),
    "batch system": (
        *("SLURMD_NODENAME", "SLURM_CLUSTER_NAME", "SLURM_CPU_FREQ_REQ", "SLURM_CPUS_ON_NODE"),
        *("SLURM_CONF", "SLURM_JOBID", "SLURM_JOB_ACCOUNT", "SLURM_JOB_CPUS_PER_NODE"),
        *("SLURM_JOB_GID", "SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_JOB_NODELIST"),
        *("SLURM_JOB_PARTITION", "SLURM_JOB_QOS", "SLURM_JOB_UID", "SLURM_JOB_USER"),
        *("SLURM_NODELIST", "SLURM_RESTART_COUNT", "SLURM_SUBMIT_DIR", "SLURM_SUBMIT_HOST"),
        *("SLURM_TASK_PID", "SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN"),
        "SLURM_WORKING_CLUSTER",
    ),
    "fairtrial": ("FAIRTRIAL_PADDING",),
}
_IS_ALLOWED = re.compile(
    "|".join(fnmatch.translate(name) for names in ALLOWED.values() for name in names)
)
_SHORTEST = 4  # characters of a value that is looked for in texts; "1" stands everywhere
_LONG = 8  # characters of a value that is found inside words too, as in -pSECRET


def _sought(value: str) -> str:
    """Give a pattern for a value; a short one that is a word is no part of another word."""
    pattern = re.escape(value)
    if len(value) >= _LONG:
        return pattern
    return rf"(?<!\w){pattern}(?!\w)" if re.fullmatch(r"\w+", value) else pattern


def allowed(variables: Mapping[str, str]) -> dict[str, str]:
    """Give the variables whose values may be stored, sorted by name: none whose name speaks of a secret."""
    return {
        name: variables[name]
        for name in sorted(variables)
        if _IS_ALLOWED.match(name) and not names_a_secret(name)
    }


def stored_variables(
    variables: Mapping[str, str], key: VariableKey, home: str | None
) -> dict[str, Any]:
    """Give what is stored of environment variables, as JSON types."""
    shown = allowed(variables)
    hidden = sorted(variables.keys() - shown.keys())
    return {
        "variables": {name: redact_text(value, home) for name, value in shown.items()},
        "hidden_variables": {
            "key": key.name,
            "hashes": {name: key.hash_of(name, variables[name]) for name in hidden},
        },
    }


class Concealed:
    """Takes values that may not be stored out of texts of programs."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        hidden = variables.keys() - allowed(variables).keys()
        self._names = {
            variables[name]: name for name in sorted(hidden) if len(variables[name]) >= _SHORTEST
        }
        values = sorted(self._names, key=len, reverse=True)
        self._values = re.compile("|".join(map(_sought, values)) or r"(?!)")

    def text(self, text: str) -> str:
        """Give the text with each value replaced by its variable's name."""
        return self._values.sub(lambda match: f"<value of {self._names[match[0]]}>", text)
