"""What readers share: the cells that they give, JSON with places of mistakes, values and units.

A format's reader gives a `ForeignFile`. It knows nothing of variants that a person chose, of sessions
or of trials: that is decided behind it, for all formats alike.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any

from ..data.number_text import Decimal, is_numeric, number_in
from ..pages.model import Caution, cautions_of
from ..record.run_numbers import Better
from ..registry import shipped

_FORMATS = shipped("analysis/importers/formats.toml")
_HEADINGS = shipped("analysis/importers/headings.toml")
FORMATS, _WORDS = (
    dict[str, Any](tomllib.loads(one.read_text("utf-8"))) for one in (_FORMATS, _HEADINGS)
)
_NONE: Mapping[str, Any] = MappingProxyType({})


# frozen it takes twice as long to make, and a tree has a million
@dataclass(slots=True, kw_only=True)
class ForeignCell:
    """The raw values of one metric of one benchmark, from one file and one variant of it.

    `benchmark`: As the file names it. `variant`: What this format takes for the variant; None where
    that is the file itself. `metric`: What was measured: ``time`` for a wall time, else the file's
    own word. `unit`: ``s`` for every time and ``B`` for every size: the values are converted. Other
    units as they stand; "" where the file does not tell. `better`: None where the file does not
    tell. `processes`: The values that count, those of each process in an inner tuple, in their
    order. No warm-ups, no failed runs. Where processes are unknown all values stand in one.
    `known`: Whether the file tells which values stem from which process. `labels`: The file's own
    names of the processes: one for each of `processes` where they are known, else one for each
    value, where each is a run. None where the file names none. `blocks`: The block of each run,
    from 1: one for each of `processes` where they are known, else one for each value. Runs of one
    session and one block were executed side by side. None where the file knows none.
    `warmups`: Warm-up values that were left out; None where the file
    does not tell whether there were any. `failed`: Failed runs, which have no value here; None
    where the file does not tell. `cut`: Of the failed runs those that a time limit ended, each with the lower
    bound of its value and the limit in seconds, None where the file has none, and its block or 0. `session`: The file's own name of the occasion on which it was
    measured, such as a start time. `keys`: Everything by which cells can be separated, such as
    parameters: what ``--variant`` and ``--benchmark`` choose from. `definition`: What the file says of how it is
    measured, such as the version of the benchmark's code: where it differs, another thing is measured.
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
    warmups: int | None = None
    failed: int | None = None
    cut: tuple[tuple[float | None, float | None, int], ...] = ()
    session: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    definition: str = ""

    def __post_init__(self) -> None:
        """Hold names and processes together: a name in the wrong place would join strangers."""
        if self.labels is None and self.blocks is None:  # nearly always
            return
        for what, given in (("names", self.labels), ("blocks", self.blocks)):
            if given is not None:
                runs = len(self.processes) if self.known else len(self.values)
                if len(given) != runs:
                    raise ValueError(f"{len(given)} {what} of {runs} processes")

    @property
    def values(self) -> tuple[float, ...]:
        """All values in their order."""
        return tuple(chain.from_iterable(self.processes))


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignFile:
    """One file, or one folder, as its reader found it.

    `format`: The format's name in the registry. `source`: The path as it was given, or ``-``; both are
    filled in by `read_foreign` where the reader leaves them empty.
    `cells`: At least one, in the file's order. Cells of one name are kept apart. `losses`: What the
    file cannot tell. `notes`: What was met and left out, or looks odd: each becomes a caution.
    `variant_rule`: Which key is the variant, in words: ``the command``, ``the file's name``.
    `read_as`: Of a table, as what each column was read: a sentence.
    `settings`: Of a table, the settings that are the same in all rows.
    `facts`: What the file says of the host and the tool, such as ``cpu_model``, and of the whole file its
    ``date`` or ``commit``.
    """

    format: str = ""
    source: str = ""
    cells: tuple[ForeignCell, ...]
    losses: tuple[Caution, ...] = ()
    notes: tuple[Caution, ...] = ()
    variant_rule: str = "the file's name"
    read_as: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


def foreign_file(
    name: str,
    cells: Iterable[ForeignCell],
    holding: Mapping[str, object] = _NONE,
    texts: Mapping[str, object] = _NONE,
    *,
    notes: Iterable[Caution] = (),
    **about: Any,  # noqa: ANN401 - of a `ForeignFile`
) -> ForeignFile:
    """Make a `ForeignFile` with the losses and notes that ``formats.toml`` has for a format, as `losses_of`."""
    lost, noted = (losses_of(of, holding, texts) for of in (name, f"{name}-notes"))
    about["facts"] = {key: text for key, text in about.get("facts", {}).items() if text}
    return ForeignFile(cells=tuple(cells), losses=lost, notes=(*notes, *noted), **about)


def hosts_in(names: Iterable[str]) -> str:
    """Say on which host something was measured, or on how many; "" where none is known."""
    hosts = {*names}
    return f"{len(hosts)} hosts" if len(hosts) > 1 else "".join(hosts)


def losses_of(
    name: str, holding: Mapping[str, object] = _NONE, texts: Mapping[str, object] = _NONE
) -> tuple[Caution, ...]:
    """Give the losses of a format; those that `holding` names only where it says so."""
    every = FORMATS["losses"].get(name, {}).items()
    return cautions_of({c: text.format(**texts) for c, text in every if holding.get(c, True)})


TIMES, SIZES = (
    {name: factor for one, (factor, names) in FORMATS[of].items() for name in (one, *names.split())}
    for of in ("times", "sizes")
)
# cells without a value, in small letters
MISSING = frozenset(("", "na", "n/a", "null", "none", "-", "--"))
_MEASURED = re.compile(r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?) ?([a-zA-Zµμ]{1,12})", re.ASCII)
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d\d(?:\.\d+)?)", re.ASCII)
_SPANS = re.compile(r"(?:(\d+)h ?)?(\d+)m ?(\d+(?:\.\d+)?)s", re.ASCII)
_SPELT = 3  # letters from which a unit may have capitals: MS and Ms are none of ours
_MOST = 2**63


def in_base_unit(unit: str) -> tuple[float, str]:
    """Give the factor into seconds or bytes, and that unit; (1, the unit) for every other one.

    Words may have capitals (``Seconds``), symbols may not.
    """
    plain = unit.lower() if len(unit) >= _SPELT and unit not in SIZES else unit
    for base, factors in (("s", TIMES), ("B", SIZES)):
        if plain in factors:
            return factors[plain], base
    return 1.0, unit


@lru_cache(256)
def base_of(unit: str) -> tuple[float, str]:
    """Give the factor and the unit as `in_base_unit`; a time or a size an operation is one of each."""
    per = next((end for end in ("/op", "/iter") if unit.endswith(end)), "")
    factor, base = in_base_unit(unit.removesuffix(per))
    if per and base not in ("s", "B"):
        return 1.0, unit
    return factor, base + "/op" * (per != "" and base == "B")


def parted(text: str) -> tuple[str, str]:
    """Part a number from its unit of a time or a size, as in ``1.2 s``; "" for none."""
    match = _MEASURED.fullmatch(text.strip())
    return (match[1], match[2]) if match and in_base_unit(match[2])[1] in ("s", "B") else (text, "")


def quantity_in(text: str, decimal: Decimal | None = None) -> tuple[float, str] | None:
    """Give a number and its unit, ``1.2 s``, ``1m2.3s`` or ``0:01:02.30``, in seconds or bytes; None for another text."""
    if match := _CLOCK.fullmatch(text.strip()) or _SPANS.fullmatch(text.strip()):
        hours, minutes, seconds = match.groups()
        return int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds), "s"
    plain, words = parted(text)
    number = number_in(plain, decimal)
    if number is None or math.isnan(number):
        return None
    factor, unit = in_base_unit(words)
    return number / round(1 / factor) if factor < 1 else number * factor, unit


def is_quantity(text: str) -> bool:
    """Tell whether a text is a number in any notation, perhaps with its unit."""
    return is_numeric(parted(text)[0]) or quantity_in(text) is not None


def all_numbers(texts: Sequence[str] | set[str]) -> bool:
    """Tell whether the cells of a column that hold something hold numbers."""
    there = [text for text in texts if text.strip().lower() not in MISSING]
    return bool(there) and all(number_in(text) is not None for text in there)


def within(data: object, *keys: str) -> Any:  # noqa: ANN401 - any JSON
    """Give what stands at these keys of objects in each other; None where there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def objects_in(found: object) -> list[dict[str, Any]]:
    """Give the objects of a list; none where there is no list."""
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def object_of(found: object) -> dict[str, Any]:
    """Give a JSON object; an empty one for what is none."""
    return found if isinstance(found, dict) else {}


def text_of(value: object) -> str | None:
    """Give a plain value as the text of a key; None for null and for what has parts."""
    if value is None or not isinstance(value, (str, int, float)):
        return None
    return value if isinstance(value, str) else json.dumps(value)


def texts_of(found: object) -> dict[str, str]:
    """Give the plain values of a JSON object as keys of a cell."""
    items = object_of(found).items()
    return {name: text for name, value in items if (text := text_of(value)) is not None}


def number_or_text(text: str) -> float | str:
    """Give the number that a text is, else the text itself: `value_of` refuses it with its place."""
    value = number_in(text)
    return text if value is None else value


def count_of(value: object) -> int | None:
    """Take a whole number of something; None for what is none, or is absurd."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < _MOST else None


# --- Headings in their plain form, and the words that they and cells have (``headings.toml``).

NAMES: dict[str, tuple[str, ...]] = {k: tuple(of.split()) for k, of in _WORDS["roles"].items()}
SAY: dict[str, tuple[str, ...]] = {k: tuple(of.split()) for k, of in _WORDS["words"].items()}
_CAMEL = re.compile(r"(?<=[a-z0-9])[A-Z][a-z]+")
SUFFIX = re.compile(r"^(.*?)(?:[ _]?[\[(](?:in )?([A-Za-zµμ/]+)\.?[\])]|[ _\-]([A-Za-zµμ]+))$")
_YES, _NO = SAY["yes"], SAY["no"]
_GOOD, _BAD = SAY["good"], tuple(word.replace("_", " ") for word in SAY["bad"])
FAILED, CUT = -math.inf, -sys.float_info.max


def plain_heading(heading: str) -> str:
    """Give a heading in small letters, with underscores for blanks, hyphens and ``camelCase``."""
    return re.sub(r"[ \-]+", "_", camel_parted(heading).lower())


def camel_parted(heading: str) -> str:
    """Put underscores where a heading has a capital within a word, but in units: ``elapsedMs``, ``memKiB``.

    Of one in capitals so is its unit: ``TIME_MS``.
    """
    heading = heading.strip()
    if heading.isupper() and (end := SUFFIX.match(heading)) and not is_unit(end[2] or end[3]):
        heading = heading.lower()
    return _CAMEL.sub(
        lambda m: "_" + (m[0] if m[0] in ("Ki", "Mi", "Gi", "Ti") else m[0].lower()), heading
    )


def last_key(heading: str) -> str:
    """Give a heading, plain; of an object within another the inner key."""
    return plain_heading(heading).rpartition(".")[2].rstrip("?")


def last_word(heading: str) -> str:
    """Give the last part of a plain heading."""
    return plain_heading(heading).rpartition("_")[2]


def is_unit(word: str) -> bool:
    """Tell whether a word is a unit of a time, or of a size."""
    return in_base_unit(word)[1] in ("s", "B")


@lru_cache(maxsize=256)  # asked for every group of rows
def is_good(heading: str, text: str) -> bool | None:
    """Tell whether a run counts, by the cell of the column that says it; None where nobody knows."""
    plain, column = text.strip().lower(), last_key(heading)
    number = _number(plain)
    if is_failed(plain):
        return False
    if column in SAY["messages"]:
        return plain in {*MISSING, "nan", *_NO, *_GOOD} or number == 0
    if column in SAY["negated"]:
        if plain in {*_NO, *_GOOD, ""} or number == 0:
            return True
        return False if plain in _YES or number is not None else None
    if number is not None and column in SAY["codes"]:
        return number == 0 or (column in SAY["http"] and number in range(200, 400))
    if number is not None:
        return {0: False, 1: True}.get(number) if column != "outcome" else None
    return True if plain in {*_YES, *_GOOD} else False if plain in _NO else None


def is_outcome(text: str) -> bool:
    """Tell whether a word says by itself, under any heading, what became of a run."""
    return text.strip().lower() in _GOOD or is_failed(text)


def float_of(text: str, units: set[str], decimal: Decimal | None = None) -> float:
    """Give the number that a cell is, NaN for an empty one, infinity for what is none; add its unit, "" for none.

    A word in the place of a value says what became of the run: `FAILED`, or `CUT`.
    """
    if text.strip().lower() in MISSING:
        return math.nan
    value = number_in(text, decimal)
    found = quantity_in(text, decimal) if value is None or math.isnan(value) else (value, "")
    if found is not None:
        units.add(found[1])
        return abs(found[0]) if math.isinf(found[0]) else found[0]
    return CUT if is_cut(text) else FAILED if is_failed(text) else math.inf


def is_failed(text: str) -> bool:
    """Tell whether a word, perhaps with a reason behind it, says that the run failed: ``error: no space``."""
    return re.split(r"[:(,;]| by ", text.strip().lower())[0].strip() in _BAD or is_cut(text)


def is_cut(text: str) -> bool:
    """Tell whether a time limit ended a run, by the same cell: ``timeout``, or ``timeout of 10.0 s``."""
    return re.match(r"(timeout|timed?[ _-](out|limit)|t/o)\b", text.strip().lower()) is not None


@lru_cache(maxsize=256)
def is_warmup(text: str) -> bool | None:
    """Tell whether a run is a warm-up; an empty cell says no; None where nobody knows."""
    plain = text.strip().lower()
    number = _number(plain)
    if plain in {*_YES, *SAY["warm"]} or number == 1:
        return True
    return False if plain in {*_NO, *SAY["counted"], ""} or number == 0 else None


def _number(plain: str) -> int | None:
    """Give the whole number that a text is; where cells are missing, tools write 1.0 for 1."""
    whole = plain.removesuffix(".0")
    return int(whole) if whole.lstrip("+-").isdecimal() and len(whole) < 20 else None
