"""What a foreign file holds: one entry for each benchmark, variant and metric, nothing invented.

A format's reader gives a `ForeignFile`. It knows nothing of variants that a person chose, of sessions
or of trials: that is decided behind it, for all formats alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

from ..record import Better

__all__ = ["BARE", "ForeignCell", "ForeignFile", "Loss", "writable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCell:
    """The raw values of one metric of one benchmark, from one file and one variant of it.

    Attributes
    ----------
    benchmark : str
        As the file names it.
    variant : str or None
        What this format takes for the variant; None where that is the file itself.
    metric : str
        What was measured: ``time`` for a wall time, else the file's own word.
    unit : str
        ``s`` for every time and ``B`` for every size: the values are converted. Other units as they
        stand; "" where the file does not tell.
    better : {"lower", "higher"} or None
        None where the file does not tell.
    processes : tuple of tuple of float
        The values that count, those of each process in an inner tuple, in their order. No warm-ups,
        no failed runs. Where processes are unknown all values stand in one.
    known : bool
        Whether the file tells which values stem from which process.
    labels : tuple of str or None
        The file's own names of the processes: one for each of `processes` where they are known, else
        one for each value, each of which is a run. None where the file names none.
    blocks : tuple of int or None
        The block of each run, from 1: one for each of `processes` where they are known, else one for
        each value. Runs of one session and one block were executed side by side. None where the file
        knows none.
    inner : int or None
        How many iterations each value is the mean of (the most); None where the file does not tell,
        1 where a value is one measurement.
    warmups : int or None
        Warm-up values that were left out; None where the file does not tell whether there were any.
    failed : int or None
        Failed runs, which have no value here; None where the file does not tell.
    session : str or None
        The file's own name of the occasion on which it was measured, such as a start time.
    keys : mapping of str to str
        Everything by which cells can be told apart, such as parameters: what ``--variant`` and
        ``--benchmark`` choose from.

    Raises
    ------
    ValueError
        If there are not as many names as processes.
    """

    benchmark: str
    variant: str | None = None
    metric: str = "time"
    unit: str = "s"
    better: Better | None = "lower"
    processes: tuple[tuple[float, ...], ...]
    known: bool = False
    labels: tuple[str, ...] | None = None
    blocks: tuple[int, ...] | None = None
    inner: int | None = None
    warmups: int | None = None
    failed: int | None = None
    session: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Hold names and processes together: a name in the wrong place would join strangers."""
        runs = len(self.processes) if self.known else len(self.values)
        for what, given in (("names", self.labels), ("blocks", self.blocks)):
            if given is not None and len(given) != runs:
                raise ValueError(f"{len(given)} {what} of {runs} processes")

    @property
    def values(self) -> tuple[float, ...]:
        """All values in their order."""
        return tuple(chain.from_iterable(self.processes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One thing that a file cannot tell, and what follows from that.

    Attributes
    ----------
    code : str
        What it is, in small letters with hyphens.
    text : str
        One sentence, such as "the values stem from one process: variation between processes cannot be
        estimated".
    """

    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignFile:
    """One file, or one folder, as its reader found it.

    Attributes
    ----------
    format : str
        The format's name in the registry.
    source : str
        The path as it was given, or ``-``.
    cells : tuple of ForeignCell
        At least one, in the file's order. Cells of one name are kept apart.
    losses : tuple of Loss
        What the file cannot tell.
    notes : tuple of Loss
        What was met and left out, or looks odd: each becomes a caution.
    variant_rule : str
        Which key is the variant, in words: ``the command``, ``the file's name``.
    facts : mapping of str to str
        What the file says of the host and the tool, such as ``cpu_model``.
    """

    format: str
    source: str
    cells: tuple[ForeignCell, ...]
    losses: tuple[Loss, ...] = ()
    notes: tuple[Loss, ...] = ()
    variant_rule: str = "the file's name"
    facts: Mapping[str, str] = field(default_factory=dict)


def writable(name: str) -> str:
    """Give a name as UTF-8 can hold it: halves of pairs stem from file names that are none."""
    return name.encode(errors="backslashreplace").decode()


# what a bare table of numbers cannot tell
BARE = (
    Loss(code="no-unit", text="neither unit nor direction stands in the file"),
    Loss(
        code="processes-unknown",
        text="which values stem from one process is not in the file: each is taken as a run",
    ),
    Loss(code="no-sessions", text="on which occasion a run was made is not in the file"),
)
