"""Files of a bundle that are made here: the software that it takes, LICENSE and CITATION.cff."""

from __future__ import annotations

from ...errors import FairtrialError, UsageError
from .about import ABOUT, About
from .documents import LICENSES, citation_text, license_text
from .libraries import libraries_of_this, lock_text
from .staging import Staging
from .wheel import WHEEL, wheel_of_this

__all__ = ["write_software", "write_texts"]

_LICENSE, _CITATION = "LICENSE", "CITATION.cff"
_TEXTS_OF_LICENCES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "COPYING.txt")


def write_software(staging: Staging) -> None:
    """Pack the lock, and the code that judges here."""
    lock = lock_text(libraries_of_this(staging.names))
    staging.write("software/requirements.txt", lock.encode())
    try:
        code = wheel_of_this()
    except FairtrialError as error:
        staging.miss(f"software/{WHEEL}", error.what)
        return
    try:  # it may be too large; a full disk is no property of the bundle, and ends it
        staging.write(f"software/{WHEEL}", code)
    except UsageError as error:
        staging.miss(f"software/{WHEEL}", error.what)


def write_texts(about: About, staging: Staging) -> None:
    """Write LICENSE and CITATION.cff, and list what they lack."""
    metadata = about.metadata
    if about.path is None:
        return
    for name, value in (
        ("title", metadata.title),
        ("authors", metadata.authors),
        ("license", metadata.license),
        ("doi", metadata.doi),
    ):
        if not value:
            staging.miss(f"{ABOUT}: {name}", "it is not said there")
    beside = [about.path.parent / name for name in _TEXTS_OF_LICENCES]
    text = next((path for path in beside if path.is_file()), None)
    if text is not None:
        staging.copy_if_possible(_LICENSE, text, _LICENSE)
    elif (short := license_text(metadata)) is not None:
        staging.write(_LICENSE, short.encode())
        staging.miss(
            "the licence's text", f"no file {_LICENSE} lies beside {ABOUT}; its name is said"
        )
    if metadata.license is not None and metadata.license not in LICENSES:
        staging.miss(
            f"{_CITATION}: license", f"{metadata.license} is no usual SPDX name of a licence here"
        )
    citation = citation_text(metadata)
    if citation is None:
        staging.miss(_CITATION, f"it needs a title and authors, in {ABOUT}")
    else:
        staging.write(_CITATION, citation.encode())
