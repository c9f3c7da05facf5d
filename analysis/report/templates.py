"""Jinja as the report uses it: strict, escaping, and compiled once."""

from __future__ import annotations

import hashlib
import marshal
import os
from contextlib import suppress
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

__all__ = ["environment"]

_OPTIONS = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}


def environment(folder: Path) -> jinja2.Environment:
    """Give an environment for the templates in a folder: everything that they set is escaped."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=_Compiled(),
        **_OPTIONS,  # type: ignore[arg-type]
    )


class _Compiled(jinja2.BytecodeCache):
    """Keeps compiled templates in the user's cache: compiling takes a tenth of a second.

    As with kernels, a file is found by what it was made from, and has its checksum in front. Where
    none can be written, templates are compiled each time.
    """

    def __init__(self) -> None:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path.home() raises without a home
        root = os.environ.get("FAIRTRIAL_CACHE") or f"{home}/fairtrial"
        self.folder = Path(root) / "templates"

    def get_source_checksum(self, source: str) -> str:
        """Give the name of the file: what compiling depends on."""
        made_from = repr((source, _OPTIONS, jinja2.__version__, MAGIC_NUMBER))
        return hashlib.sha256(made_from.encode()).hexdigest()[:32]

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a compiled template, if there is one."""
        with suppress(OSError):
            kept = (self.folder / bucket.checksum).read_bytes()
            if hashlib.sha256(kept[32:]).digest() == kept[:32]:
                bucket.code = marshal.loads(kept[32:])  # noqa: S302 - our own file

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write a compiled template."""
        code = marshal.dumps(bucket.code)
        draft = self.folder / f"{bucket.checksum}.{os.getpid()}"
        with suppress(OSError):
            if self.folder.is_absolute():
                self.folder.mkdir(parents=True, exist_ok=True)
                draft.write_bytes(hashlib.sha256(code).digest() + code)
                draft.replace(self.folder / bucket.checksum)
