"""The four files that the original Speedup-Test tool writes: where they stand, and how they get there.

Section 6.2.5 of the report: ``PREFIX.out`` holds the results, ``.warning`` the warnings, ``.report``
the report, ``.status`` how it ended.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....errors import AnalysisError, UsageError
from ..result import SpeedupSuite
from .config import LeftOut, NothingLeftError
from .texts import failure_text, report_text, results_text, status_text
from .warning_file import warning_text, warnings_of

__all__ = ["OriginalFiles"]

_ENDINGS = (".out", ".report", ".status", ".warning")


@dataclass(frozen=True, slots=True)
class OriginalFiles:
    """The four files below one prefix.

    Raises
    ------
    UsageError
        If nothing can be written there; better known before anything is computed.
    """

    prefix: str

    def __post_init__(self) -> None:
        what, fix = None, "name another prefix with -o"
        folder = Path(self.prefix).parent
        try:
            taken = [name for name in self.names if Path(name).is_dir()]
        except OSError as error:
            taken, what = [], f"the results cannot be written: {error.strerror}"
        if not self.prefix or self.prefix.endswith(os.sep):
            what, fix = "this is no prefix of file names", "write -o FOLDER/NAME"
        elif not folder.is_dir():
            what = f"there is no folder {str(folder)!r}"
            fix = "make it, or name another prefix with -o"
        elif not os.access(folder, os.W_OK | os.X_OK):
            what = f"the results cannot be written: folder {str(folder)!r} is not writable"
        elif taken:
            what = f"the results cannot be written: {taken[0]!r} is a directory"
        if what is not None:
            raise UsageError(what, self.prefix or "-o", fix)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files, sorted."""
        return tuple(self.prefix + ending for ending in _ENDINGS)

    def write(
        self, title: str, suite: SpeedupSuite, left_out: Sequence[LeftOut], *, elapsed_s: float
    ) -> None:
        """Write all four.

        Parameters
        ----------
        title : str
            What was analysed, such as the configuration's path.
        suite : SpeedupSuite
            What was found.
        left_out : sequence of LeftOut
            The benchmarks of a configuration that were not judged.
        elapsed_s : float
            How long it took.

        Raises
        ------
        UsageError
            If they cannot be written; nothing has changed then.
        """
        warnings = {
            name: warnings_of(test) for test in suite.benchmarks if (name := test.name) is not None
        }
        self._put(
            {
                ".out": results_text(suite),
                ".warning": warning_text(title, left_out, warnings),
                ".report": report_text(title, suite),
                # the last one put in place: it says how it ended
                ".status": status_text(elapsed_s),
            }
        )

    def write_failure(self, title: str, error: AnalysisError) -> None:
        """Write ``.warning`` and ``.status`` after an analysis that failed.

        Parameters
        ----------
        title : str
            What was to be analysed.
        error : AnalysisError
            Why it failed.

        Raises
        ------
        UsageError
            If they cannot be written; nothing has changed then.
        """
        left_out = error.left_out if isinstance(error, NothingLeftError) else ()
        self._put(
            {
                ".warning": warning_text(title, left_out, {}),
                ".status": failure_text(str(error)),
            }
        )

    def _put(self, texts: Mapping[str, str]) -> None:
        """Write all files beside their places first, then put them there: each is whole or not there."""
        mark = f".{os.getpid()}.part"
        fresh = {
            Path(f"{self.prefix}{ending}{mark}"): Path(self.prefix + ending) for ending in texts
        }
        try:
            for path, text in zip(fresh, texts.values(), strict=True):
                with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
            for path, place in fresh.items():
                path.replace(place)
        except OSError as error:
            raise UsageError(
                f"the results cannot be written: {error.strerror}",
                self.prefix,
                "make room, or name another prefix with -o",
            ) from None
        finally:
            for path in fresh:
                with contextlib.suppress(OSError):  # most are gone, and rightly so
                    path.unlink()
