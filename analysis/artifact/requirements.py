"""What a rerun takes: libraries in exact versions, fairtrial's wheel, time, disk, memory and host.

Source: the binary distribution format, PyPA specifications, version 1.0; the recording of installed
projects for ``RECORD``.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.metadata
import io
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeVar

from ..data.host_record import SessionEnvironment, read_environments
from ..errors import StoreError
from ..record.shapes import opened
from ..record.trial_files import MEASUREMENTS, Manifest
from ..registry import shipped
from ..version import VERSION
from .archive import of_bytes, weigh, write_archive
from .contents import Needs

if TYPE_CHECKING:
    from .gathering import CopiedSource

T = TypeVar("T")

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")
_READERS = {".zst": "zstandard", ".zstd": "zstandard", ".parquet": "pyarrow"}  # of sources


def libraries_of_this(sources: Iterable[str] = ()) -> dict[str, str]:
    """Give the versions of what fairtrial requires, and of what reads these sources, as installed here."""
    endings = {PurePath(name).suffix for name in sources}
    names = [library for ending, library in _READERS.items() if ending in endings]
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        lines = importlib.metadata.requires("fairtrial") or ()
        names += [name for line in lines if "extra" not in line for name in _NAME.findall(line)]
    found = {}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[re.sub(r"[-_.]+", "-", name).lower()] = importlib.metadata.version(name)
    return dict(sorted(found.items()))


def lock_text(libraries: Mapping[str, str]) -> str:
    """Give ``requirements.txt``."""
    head = (
        f"# Python {platform.python_version()}; what 'fairtrial' used here. Install with\n"
        "#   pip install -r requirements.txt ./fairtrial-*.whl\n"
        "#   uv pip install -r requirements.txt ./fairtrial-*.whl\n"
    )
    return head + "".join(f"{name}=={version}\n" for name, version in libraries.items())


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
    """
    files = {**_code(), **_metadata(), f"{_INFO}/WHEEL": _TAGS.encode()}
    record = f"{_INFO}/RECORD"
    weighed = [weigh(name, of_bytes(data)) for name, data in files.items()]
    lines = []
    for one in sorted(weighed, key=lambda one: one.name.encode()):
        digest = base64.urlsafe_b64encode(bytes.fromhex(one.sha256)).rstrip(b"=").decode()
        lines.append(f"{one.name},sha256={digest},{one.bytes}")
    text = "\n".join([*lines, f"{record},,", ""]).encode()
    weighed.append(weigh(record, of_bytes(text)))
    out = io.BytesIO()
    write_archive(out, weighed)
    return out.getvalue()


def _code() -> Mapping[str, bytes]:
    root = shipped("")
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
    found = {f"{_INFO}/{name}": (installed.read_text(name) or "").encode() for name in _COPIED}
    for file in installed.files or ():
        parts = file.parts
        if len(parts) > 2 and parts[0].endswith(".dist-info") and parts[1] == "licenses":
            found["/".join((_INFO, *parts[1:]))] = Path(str(file.locate())).read_bytes()
    return found


_PEAK = re.compile(rb'"max_rss_bytes":(\d{1,18})')


def times_of(manifest: Manifest) -> float | None:
    """Give how long a trial took, in seconds; pauses between resumed parts count as well."""
    if manifest.origin == "imported":
        return None
    spans = [(part.started, part.finished) for part in manifest.merged_from] or [
        (manifest.started, manifest.finished)
    ]
    total = 0.0
    for started, finished in spans:
        if finished is None:
            return None
        try:
            span = datetime.fromisoformat(finished) - datetime.fromisoformat(started)
        except (ValueError, TypeError):
            return None
        total += span.total_seconds()
    return round(total, 3)


def needs_of(found: Sequence[CopiedSource], root: Path, disk_bytes: int) -> Needs:
    """Give what a rerun of all trials takes."""
    trials = [one for one in found if one.manifest is not None]
    times = [times_of(one.manifest) for one in trials if one.manifest is not None]
    known = [time for time in times if time is not None]
    records = [
        records[0] for one in trials if (records := read_environments(root / one.source.path))
    ]
    peaks = [peak for one in trials if (peak := _peak(root / one.source.path)) is not None]
    first = records[0] if records else None
    compilers = _value(first, "tools", "compilers", dict) or {}
    return Needs(
        disk_bytes=disk_bytes,
        run_s=round(sum(known), 3) if known and len(known) == len(times) else None,
        cpus=_cpus(_value(first, "cpu", "online", str) or ""),
        memory_bytes=_value(first, "memory", "total_bytes", int),
        max_rss_bytes=max(peaks, default=None),
        cpu_model=_value(first, "cpu", "model", str),
        architecture=_value(first, "kernel", "architecture", str),
        kernel=_value(first, "kernel", "release", str),
        distribution=_value(first, "kernel", "distribution", str),
        compilers={name: one for name, one in sorted(compilers.items()) if isinstance(one, str)},
    )


def _value(record: SessionEnvironment | None, section: str, key: str, kind: type[T]) -> T | None:
    value = None if record is None else record.sections.get(section, {}).get(key)
    return value if type(value) is kind else None


def _cpus(online: str) -> int | None:
    """Count a list of CPUs such as ``0-3,6``."""
    if not re.fullmatch(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*", online):
        return None
    parts = (part.partition("-") for part in online.split(","))
    return sum(int(last or first) - int(first) + 1 for first, _, last in parts)


def _peak(trial: Path) -> int | None:
    """Give the largest resident memory of any run; the rows are not parsed for it."""
    most = None
    with opened(trial / MEASUREMENTS) as file:
        for line in file:
            match = _PEAK.search(line)
            if match is not None:
                most = max(most or 0, int(match.group(1)))
    return most
