"""Compiled kernels: one decorator, one cache folder, and a word to the user before a long compile.

Only modules that hold kernels import this one, and they are imported when a kernel is needed:
other commands pay neither the import nor the compilation.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

from ..registry import KERNELS, shipped

_VARIABLE = "FAIRTRIAL_CACHE"
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """Where compiled kernels are kept: `folder`, or None and `why` there is none."""

    folder: Path | None
    why: str | None = None


def kernel_sources() -> list[Path]:
    """List the files that hold kernels, as the registry has them."""
    return [shipped(f"{name.replace('.', '/')}.py") for name in KERNELS]


def _choose() -> Cache:
    """Take the first folder that can be written: $FAIRTRIAL_CACHE, the user's cache, none."""
    asked = os.environ.get(_VARIABLE) or os.environ.get("NUMBA_CACHE_DIR")
    if asked:
        candidates = [Path(asked).absolute()]
    else:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path.home() raises without a home
        candidates = [Path(home) / "fairtrial" / "kernels"] if Path(home).is_absolute() else []
    for place in candidates:
        digest = hashlib.sha256()
        for source in (Path(__file__), *kernel_sources()):
            digest.update(source.read_bytes())
        folder = place / digest.hexdigest()[:12]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            why = f"{place} cannot be written ({error.strerror})"
        else:
            return Cache(folder=folder)
    return Cache(folder=None, why=why if candidates else "there is no home folder")


CACHE = _choose()
if CACHE.folder is not None:
    vars(numba.config)["CACHE_DIR"] = str(CACHE.folder)  # numba computes its settings' names


_lost: list[str] = []  # why machine code could not be kept
_announced: list[bool] = []  # whether a process has said already that it compiles


class _Checked(CompileResultCacheImpl):  # type: ignore[misc]
    """Machine code in a file together with its checksum, so that no damaged code is ever run."""

    def reduce(self, cres: Any) -> tuple[bytes, bytes]:  # noqa: ANN401 - numba's compile result
        packed = dumps(super().reduce(cres))
        return hashlib.sha256(packed).digest(), packed

    def rebuild(self, target_context: Any, payload: tuple[bytes, bytes]) -> Any:  # noqa: ANN401
        digest, packed = payload
        if hashlib.sha256(packed).digest() != digest:
            raise ValueError("damaged machine code")
        return super().rebuild(target_context, pickle.loads(packed))  # noqa: S301 - our own file


class _Kept(FunctionCache):  # type: ignore[misc]
    """The compiler's cache of a function, except that a damaged file or a full disk stops nobody."""

    _impl_class = _Checked

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401 - numba's types
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - a torn pickle may raise anything; compiling mends it
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _lost.append(error.strerror or type(error).__name__)


def kernel(function: _Function) -> _Function:
    """Compile a function of arrays and numbers on its first call, and keep the machine code.

    Floating point stays strict (no fast-math: reassociation has wrecked results silently); division
    by zero gives inf and nan as in numpy; the interpreter's lock is released, so threads run side
    by side.
    """
    done: Any = numba.njit(function, nogil=True, error_model="numpy")
    if CACHE.folder is not None:
        done._cache = _Kept(function)  # as numba does for cache=True
    compiled: _Function = done
    return compiled


class _Listener(event.Listener):  # type: ignore[misc]  # numba's types are not read
    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def on_start(self, event: Any) -> None:  # noqa: ANN401, ARG002 - numba's event
        if not _announced:
            _announced.append(True)
            say = self._say
            kept = (
                f"once; kept in {CACHE.folder}"
                if CACHE.folder is not None
                else f"on every use, because {CACHE.why}; name a folder in ${_VARIABLE}"
            )
            say(f"compiling the numeric kernels, some seconds, {kept}")

    def on_end(self, event: Any) -> None:  # noqa: ANN401 - numba's event
        pass


@contextmanager
def announcing(say: Callable[[str], None]) -> Iterator[None]:
    """Call `say` with one sentence when kernels must be compiled inside this context.

    That is said once a process, whatever is compiled later. And with another, at its end, when they could not be kept.
    """
    _lost.clear()
    try:
        with event.install_listener("numba:compile", _Listener(say)):
            yield
    finally:
        if _lost:
            say(f"the compiled kernels could not be kept in {CACHE.folder}: {_lost[0]}")
