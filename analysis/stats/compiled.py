"""Compiled kernels: one decorator, one cache folder, and a word to the user while they are compiled.

Only modules that hold kernels import this one, and they are imported when a kernel is needed:
other commands pay neither the import nor the compilation.

Machine code is kept by what it was made from: the kernel's code, that of all that it calls, the
numbers that they name, the compiler's versions and the processor. Where the file stands and what
else it holds do not count, so another clone or environment finds it, and a change of one kernel
leaves the others theirs.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

import llvmlite
import numba
from numba.core import event
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.serialize import dumps

from ..announcing import meanwhile, note, still
from .workers import VARIABLE, cache

_OPTIONS: dict[str, bool | str] = {"nogil": True, "error_model": "numpy"}
# what only kernels call needs no way in from the interpreter: an eighth of the time to compile
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_WITH_PARTS = numba.__version__.startswith(
    "0.68."
)  # `_Part` builds on what other versions may change
_Function = TypeVar("_Function", bound=Callable[..., Any])


CACHE = cache()
_lost: list[str] = []  # why machine code could not be kept, which is said once
_homeless: list[bool] = []  # whether it was said that there is no folder


def _content(function: FunctionType) -> str:
    """Spell what machine code is made from: a function's code and all that it reaches."""
    known: dict[FunctionType, int] = {}
    texts = []

    def code(one: CodeType, names: dict[str, Any]) -> list[Any]:
        consts = [code(c, names) if isinstance(c, CodeType) else c for c in one.co_consts]
        used = {name: value(names[name]) for name in one.co_names if name in names}
        return [one.co_code.hex(), one.co_names, one.co_varnames, one.co_freevars, consts, used]

    def value(one: Any) -> Any:  # noqa: ANN401 - whatever a kernel names
        one = getattr(one, "py_func", getattr(one, "_defn", one))  # of a kernel, of an intrinsic
        if isinstance(one, FunctionType):
            if one not in known:
                known[one] = len(known)
                texts.append((known[one], code(one.__code__, one.__globals__)))
            return "function", known[one]
        if isinstance(one, ModuleType | type):
            return one.__name__, getattr(one, "_fields", ())
        return type(one).__name__, repr(one)

    value(function)
    return repr(texts)


class _Kept(NullCache):  # type: ignore[misc]
    """The machine code of one kernel: a file for each set of types, with its checksum in front.

    A damaged file is compiled again, and a full disk stops nobody.
    """

    def __init__(self, function: FunctionType, folder: Path) -> None:
        self._function, self._folder = function, folder
        self._parts: str | None = None

    def _file(self, sig: Any, context: Any) -> Path:  # noqa: ANN401 - numba's types
        if self._parts is None:
            self._parts = _content(self._function)
        key = (
            *(self._function.__module__, self._parts, sorted(_OPTIONS.items())),
            *(str(sig), [getattr(one, "fields", ()) for one in sig]),
            *(numba.__version__, llvmlite.__version__, sys.implementation.cache_tag),
            context.codegen().magic_tuple(),  # the processor's name and what it can do
        )
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:24]
        return self._folder / f"{self._function.__name__}-{digest}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401
        target_context.refresh()
        try:
            kept = self._file(sig, target_context).read_bytes()
            if hashlib.sha256(kept[32:]).digest() != kept[:32]:
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(kept[32:]))  # noqa: S301 - our own file
        except Exception:  # noqa: BLE001 - whatever it is, compiling mends it
            return None

    def save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401
        packed = dumps(data._reduce())
        file = self._file(sig, data.target_context)
        own = file.with_name(f"{file.name}.{os.getpid()}")
        try:
            own.write_bytes(hashlib.sha256(packed).digest() + packed)
            own.replace(file)
        except OSError as error:
            with suppress(OSError):
                own.unlink()
            why = error.strerror or type(error).__name__
            if why not in _lost:
                _lost.append(why)
                note(f"the compiled statistics could not be kept in {self._folder}: {why}")


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """The code of what only kernels call: it is optimised and becomes machine code in each of them, once."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002 - numba's argument
        return 0

    @property
    def codegen(self) -> _Part:
        return self

    def set_env(self, *_: Any) -> None:  # noqa: ANN401
        """Leave out what code without Python's objects has no use for."""


class _PartCompiler(Compiler):  # type: ignore[misc]
    def compile_extra(self, func: FunctionType) -> Any:  # noqa: ANN401
        self.state.library = _Part(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


def kernel(function: _Function) -> _Function:
    """Compile a function of arrays and numbers on its first call, and keep the machine code.

    Floating point stays strict (no fast-math: reassociation has wrecked results silently); division
    by zero gives inf and nan as in numpy; the interpreter's lock is released, so threads run side
    by side. A kernel with an underscore in front is `inner`.
    """
    if function.__name__.startswith("_"):
        return inner(function)
    done: Any = numba.njit(function, **_OPTIONS)
    if CACHE.folder is not None:
        done._cache = _Kept(done.py_func, CACHE.folder)  # as numba does for cache=True
    compiled: _Function = done
    return compiled


def inner(function: _Function) -> _Function:
    """Compile a function that kernels call, and nobody else, as a part of each of them.

    By itself it would be optimised again for each level of calls: half of the time that all takes.
    """
    part = {"pipeline_class": _PartCompiler} if _WITH_PARTS else {}
    compiled: _Function = numba.njit(function, **part, **_OPTIONS, **_INNER)
    return compiled


class _Listener(event.Listener):  # type: ignore[misc]  # numba's types are not read
    """Says that kernels are compiled; one that calls others is one compilation."""

    def __init__(self) -> None:
        self._depth = 0  # a lock of numba's holds while this is counted
        self._under_way = ExitStack()

    def on_start(self, event: Any) -> None:  # noqa: ANN401, ARG002 - numba's event
        self._depth += 1
        if self._depth > 1:
            still()
            return
        once = "once, about 6 s" if CACHE.folder is not None else "about 6 s"
        self._under_way.enter_context(meanwhile(f"compiling the statistics, {once}"))
        if CACHE.folder is None and not _homeless:
            _homeless.append(True)
            note(
                f"the statistics are compiled on every use, because {CACHE.why}; name a folder in ${VARIABLE}"
            )

    def on_end(self, event: Any) -> None:  # noqa: ANN401, ARG002 - numba's event
        self._depth -= 1
        if not self._depth:
            self._under_way.close()


event.register("numba:compile", _Listener())
