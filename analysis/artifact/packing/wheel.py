"""Fairtrial's own wheel: the code that judges here, packed from its files, without a network.

Source: the binary distribution format, PyPA specifications, version 1.0; the recording of installed
projects for ``RECORD``.
"""

from __future__ import annotations

import base64
import importlib.metadata
import io
from collections.abc import Mapping
from pathlib import Path

from ...errors import StoreError
from ...version import VERSION
from ..archive import Content, of_bytes, weigh, write_archive

__all__ = ["WHEEL", "wheel_of_this"]

WHEEL = f"fairtrial-{VERSION}-py3-none-any.whl"

_PACKAGES = ("analysis", "harness")
_INFO = f"fairtrial-{VERSION}.dist-info"
_TAGS = """\
Wheel-Version: 1.0
Generator: fairtrial bundle
Root-Is-Purelib: true
Tag: py3-none-any
"""
_COPIED = ("METADATA", "entry_points.txt")


def wheel_of_this() -> bytes:
    """Pack the two packages as they are executed here, with what their installation says of them.

    The same files give the same bytes.

    Raises
    ------
    StoreError
        If fairtrial is executed without being installed, or its installation speaks of another version.
    """
    files = {**_code(), **_metadata(), f"{_INFO}/WHEEL": _TAGS.encode()}
    record = f"{_INFO}/RECORD"
    weighed = [weigh(Content(name=name, pieces=of_bytes(data))) for name, data in files.items()]
    lines = [
        f"{one.content.name},sha256={_urlsafe(one.sha256)},{one.bytes}"
        for one in sorted(weighed, key=lambda one: one.content.name.encode())
    ]
    text = "\n".join([*lines, f"{record},,", ""]).encode()
    weighed.append(weigh(Content(name=record, pieces=of_bytes(text))))
    out = io.BytesIO()
    write_archive(out, weighed)
    return out.getvalue()


def _code() -> Mapping[str, bytes]:
    root = Path(__file__).parents[3]
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for package in _PACKAGES
        for path in sorted((root / package).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }


def _metadata() -> Mapping[str, bytes]:
    try:
        installed = importlib.metadata.distribution("fairtrial")
    except importlib.metadata.PackageNotFoundError:
        installed = None
    if installed is None or installed.version != VERSION:
        said = "it is not installed" if installed is None else f"version {installed.version} is"
        raise StoreError(
            f"fairtrial {VERSION} is executed, and {said}",
            fix="install it: pip install fairtrial, or pip install -e . in its source",
        )
    found = {}
    for name in _COPIED:
        text = installed.read_text(name)
        if text is None:
            raise StoreError(
                f"fairtrial's installation has no {name}", fix="install fairtrial again"
            )
        found[f"{_INFO}/{name}"] = text.encode()
    for file in installed.files or ():
        parts = file.parts
        if len(parts) > 2 and parts[0].endswith(".dist-info") and parts[1] == "licenses":
            found["/".join((_INFO, *parts[1:]))] = Path(str(file.locate())).read_bytes()
    return found


def _urlsafe(sha256: str) -> str:
    return base64.urlsafe_b64encode(bytes.fromhex(sha256)).rstrip(b"=").decode()
