"""Certificates as files: written atomically, read back, and which one holds for a trial."""

from __future__ import annotations

import json
import os
import re
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.host_record import read_host_record
from ..data.trial import Trial
from ..errors import StoreError
from ..pages.model import Caution
from ..record.shapes import ShapeError, opened, parse, shaped

if TYPE_CHECKING:
    from .result import Certificate

OLD_DAYS = 90  # a certificate that is older still counts, and its age is said
_LOST, _TIMES_MORE = 0.01, 3.0  # of a CPU: when a host is told to be less quiet than it was
_UNKNOWN = "unknown"  # what a runner writes for a machine without an id: two of them may differ
_SAFE = re.compile(r"[^A-Za-z0-9]+")


def write_certificate(certificate: Certificate, folder: Path) -> Path:
    """Write a certificate into a folder, and give its path.

    The name is ``HOST-TIME.json``: the first 12 characters of the machine's id and when it was made.
    The file appears whole or not at all, and never replaces another.
    """
    stamp = _SAFE.sub("", certificate.created).removesuffix("Z")
    stem = f"{_SAFE.sub('', certificate.machine.id)[:12] or 'unknown'}-{stamp}"
    text = json.dumps(certificate.to_dict(), indent=2, allow_nan=False) + "\n"
    part: str | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd, part = tempfile.mkstemp(prefix=".certificate-", dir=folder)
        with open(fd, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor has no path
            file.write(text)
            file.flush()
            os.fsync(fd)
            os.fchmod(fd, 0o644)
        for number in range(1, 1000):
            path = folder / (f"{stem}.json" if number == 1 else f"{stem}-{number}.json")
            try:
                os.link(part, path)
            except FileExistsError:
                continue
            return path
    except OSError as error:
        raise StoreError(
            f"the certificate cannot be written: {error.strerror}",
            str(folder),
            "name another folder: --dir FOLDER",
        ) from None
    finally:
        if part is not None:
            Path(part).unlink(missing_ok=True)
    raise StoreError("the folder is full of certificates of this second", str(folder))


def read_certificate(path: Path) -> Certificate:
    """Read one certificate."""
    with opened(path) as file:
        try:
            data: Any = parse(file.read().strip())
            return _certificate(data)
        except (ShapeError, OSError) as error:
            raise StoreError(
                f"this is not a readable certificate: {error}",
                str(path),
                "remove the file, and make another: fairtrial calibrate TRIAL",
            ) from None


def read_certificates(folder: Path) -> tuple[tuple[Certificate, ...], tuple[Caution, ...]]:
    """Read the certificates of a folder, the oldest first, and say which cannot be read."""
    found, cautions = [], []
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError:
        paths = []
    for path in paths:
        try:
            found.append(read_certificate(path))
        except StoreError as error:
            cautions.append(
                Caution("certificate-damaged", f"a certificate is left out: {error}", (path.name,))
            )
    found.sort(key=lambda one: one.created)
    return tuple(found), tuple(cautions)


def newest_for(
    trial: Trial, folder: Path, *, metric: str = "wall", now: datetime | None = None
) -> tuple[Certificate | None, tuple[str, ...], tuple[str, ...]]:
    """Find the certificate that speaks of a trial, with what voids it and what a reader should know.

    It is the newest that holds, otherwise the newest of all, None where there is none.

    Notes
    -----
    Another machine, another CPU model, another class of design or another metric void a
    certificate. Another kernel or governor, a CPU of which others take much more, an age above 90 days, benchmarks that it does not know,
    fewer sessions or fewer runs a cell than the trial has are said.
    """
    certificates, _ = read_certificates(folder)
    told = [(one, *differences(one, trial, metric=metric, now=now)) for one in certificates]
    for one, voids, warns in reversed(told):
        if not voids:
            return one, voids, warns
    return told[-1] if told else (None, (), ())


def differences(
    certificate: Certificate, trial: Trial, *, metric: str = "wall", now: datetime | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say what voids a certificate for a trial, and what a reader should know of it."""
    from .result import design_of, machine_of

    here, design = machine_of(trial), design_of(trial)
    there, known = certificate.machine, certificate.design
    voids = [
        f"{what}: {first or 'unknown'} there, {second or 'unknown'} here"
        for what, first, second, differs in (
            (
                "another machine",
                there.name,
                here.name,
                here.id in ("", _UNKNOWN) or there.id != here.id,
            ),
            ("another CPU", there.cpu_model, here.cpu_model, there.cpu_model != here.cpu_model),
            ("another design", known.kind, design.kind, known.kind != design.kind),
            ("another metric", certificate.metric, metric, certificate.metric != metric),
        )
        if differs
    ]
    warns = [
        f"{what}: {first or 'unknown'} there, {second or 'unknown'} here"
        for what, first, second in (
            ("another kernel", there.kernel, here.kernel),
            ("another governor", there.governor, here.governor),
        )
        if first != second
    ]
    days = _age(certificate.created, now)
    if days is None:
        warns.append("its age is unknown")
    elif days > OLD_DAYS:
        warns.append(f"it is {days} days old")
    look, known_lost = read_host_record(trial.path).most_lost, certificate.lost_share
    lost = None if look is None or look.value is None else look.value / 100
    if lost is not None and known_lost is not None and lost >= max(_LOST, _TIMES_MORE * known_lost):
        warns.append(
            f"others took {100 * known_lost:.2f} % of a CPU there, {100 * lost:.2f} % here"
        )
    others = [name for name in design.benchmarks if name not in known.benchmarks]
    if others:
        warns.append(f"{len(others)} of {len(design.benchmarks)} benchmarks are not in it")
    if known.sessions < design.sessions:
        warns.append(f"{known.sessions} sessions there, {design.sessions} here")
    if known.runs < design.runs:
        warns.append(f"{known.runs} runs a cell and session there, {design.runs} here")
    return tuple(voids), tuple(warns)


def _age(created: str, now: datetime | None) -> int | None:
    try:
        then = datetime.fromisoformat(created)
    except ValueError:
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return ((now or datetime.now(UTC)) - then) // timedelta(days=1)


def _certificate(data: object) -> Certificate:
    """Make a certificate of its JSON; cautions stand there as texts beside their codes."""
    from .result import Certificate

    if not isinstance(data, dict) or data.get("method") != Certificate.method:
        raise ShapeError("it is another result")
    if data.get("schema") != Certificate.schema:
        raise ShapeError(f"its schema is {data.get('schema')!r}, not {Certificate.schema}")
    texts, codes = data.get("cautions"), data.get("caution_codes")
    if not (isinstance(texts, list) and isinstance(codes, list) and len(texts) == len(codes)):
        raise ShapeError("its cautions have lost their codes")
    told = [{"code": c, "text": t, "about": []} for c, t in zip(codes, texts, strict=True)]
    return shaped(Certificate, {**data, "cautions": told})
