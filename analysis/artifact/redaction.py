"""Takes names out of a bundle's folder, before anything is computed or hashed."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..errors import FairtrialError, StoreError
from ..importers.reader import open_trial
from ..record.fleet import FLEET
from ..record.trial_files import CAMPAIGN, MANIFEST
from .contents import FLEET_PLACE, RedactionRecord
from .describing import Redacted
from .redacted import (
    decoded,
    encoded,
    kept_names,
    learn_fields,
    learn_machine,
    learn_trial,
    own_fields,
    plain_text,
    redact_fleet,
    redact_trial,
    yaml_text,
)
from .redacted_names import Known, Redactions, Scrubber

_FOREIGN = frozenset({"campaigns", "container", "sources", "trials"})  # other files are made here


def redact_folder(root: Path, wanted: Redactions, known: Known | None = None) -> Redacted:
    """Take names out of all files of a bundle's folder.

    First every file is read for the names that it says, then each is written anew where it holds one
    of them. What a campaign's programs read is not altered, nor what is binary: that they hold a name
    is listed.
    """
    try:
        return _redacted(root, wanted, known or Known())
    except OSError as error:
        raise StoreError(
            f"names cannot be taken out: {error.strerror or error}",
            str(error.filename or root),
            "free some space in the folder for temporary files ($TMPDIR)",
        ) from error


def _redacted(root: Path, wanted: Redactions, known: Known) -> Redacted:
    files = _files(root)
    places = [(path, path.relative_to(root).parts) for path in files]
    trials = [
        path.parent
        for path, parts in places
        if len(parts) == 3 and parts[0] == "trials" and parts[-1] == MANIFEST
    ]
    kept = set().union(*map(kept_names, trials), _foreign_names(root))
    # what tells this redaction from others: the identities of its trials
    digests = (hashlib.sha256((trial / MANIFEST).read_bytes()).digest() for trial in trials)
    tag = hashlib.sha256(b"".join(digests)).hexdigest()[:8]
    scrubber = Scrubber(wanted.kinds, kept, tag)
    for kind, name in wanted.named:
        if kind == "paths":
            scrubber.learn_homes(name)
            scrubber.learn_folder(name)
        else:
            scrubber.learn(kind, name)
    _learn(scrubber, root, files, trials, known)
    before: dict[str, str] = {}

    def write(path: Path, data: bytes) -> None:
        before[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
        path.write_bytes(data)

    fleet = root / FLEET_PLACE / FLEET
    if fleet.is_file():
        redact_fleet(scrubber, fleet, write)
    for trial in trials:
        redact_trial(scrubber, trial, write)
    for path in files:
        where = path.relative_to(root)
        foreign = where.parts[0] == "sources"
        if not (foreign or (where.parts[0] == "campaigns" and _is_campaign(where))):
            continue
        data = path.read_bytes()
        text = decoded(data)
        if text is None:
            continue
        if foreign:
            after = plain_text(scrubber, own_fields(scrubber, text))
        else:
            after = yaml_text(scrubber, text)
        if after != text:
            write(path, encoded(after))
    record = RedactionRecord(
        what=wanted.kinds,
        replaced=scrubber.replaced,
        files={name: before[name] for name in sorted(before, key=str.encode)},
    )

    left = functools.partial(_list_left, scrubber)
    return Redacted(record=record, scrub=scrubber.text, left=left)


def _files(root: Path) -> list[Path]:
    found = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    return sorted(found, key=lambda path: path.relative_to(root).as_posix().encode())


def _is_campaign(where: Path) -> bool:
    """Tell whether a file is a campaign, at ``campaigns/TRIAL/campaign.yaml``."""
    return len(where.parts) == 3 and where.name == CAMPAIGN


def _foreign_names(root: Path) -> Iterator[str]:
    """Give what files of other tools call their benchmarks and variants."""
    place = root / "sources"
    for path in sorted(place.iterdir()) if place.is_dir() else ():
        try:
            manifest = open_trial(path, better="lower").manifest
        except FairtrialError:
            continue  # a file that a command reads in its own way, or none at all
        yield from (*manifest.variants, *manifest.benchmarks, *manifest.metrics)


def _learn(
    scrubber: Scrubber, root: Path, files: list[Path], trials: list[Path], known: Known
) -> None:
    """Read the names that the files say, before any is written anew; then those that somebody knows."""
    for trial in trials:
        learn_trial(scrubber, trial)
    texts = []
    for path in files:
        where = path.relative_to(root)
        if where.parts[0] == "campaigns" and not _is_campaign(where):
            continue  # data of a program may speak of anybody
        text = decoded(path.read_bytes())
        if text is not None:
            texts.append(text)
            for trial in trials:
                learn_machine(scrubber, trial, text)
            if where.parts[0] == "sources":
                learn_fields(scrubber, text)
    known.tell(scrubber, texts)
    for text in texts:
        scrubber.learn_homes(text)  # by now it is known whose they may be


def _list_left(scrubber: Scrubber, root: Path, told: Mapping[str, bytes]) -> tuple[str, ...]:
    """List what still holds a name: by file, and outputs by trial; and texts that lie in no file yet."""
    for path in _files(root):
        where = path.relative_to(root)
        if where.suffix == ".whl":
            continue  # our own code
        scrubber.look(where.as_posix(), "names of files")
        name = where.as_posix()
        if where.parts[0] == "trials" and len(where.parts) > 3:
            name = "/".join((*where.parts[:3], "..."))
        ours = where.parts[0] not in _FOREIGN
        _look(scrubber, path.read_bytes(), where.as_posix(), name, ours=ours)
    for name, data in told.items():
        _look(scrubber, data, name, name, ours=True)
    return scrubber.left


def _look(scrubber: Scrubber, data: bytes, file: str, name: str, *, ours: bool) -> None:
    text = decoded(data)
    if text is None:
        scrubber.leave(file, "binary, names in it are not replaced")
        text = data.decode("utf-8", "surrogateescape")
    scrubber.look(text, name, ours=ours)
