"""criterion.rs: the folder ``target/criterion``, one of its ``sample.json``, or a ``raw.csv``.

A sample is the total time of so many iterations; its value is their ratio. All samples of one
benchmark stem from one process. Saved baselines are variants: ``new`` is the last result, ``base`` the
one before, and ``change`` holds no data. They were measured one after the other, with a build between
them, so each is an occasion of its own. Names stand in ``benchmark.json``, else they are the folders'.
cargo-criterion prints the same as messages (``--message-format=json``); its own files are binary.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.opening import Opened, files_in, open_foreign, open_in_folder
from .parsing import ForeignCell, ForeignFile, foreign_file, in_base_unit, one_process

_SAMPLE, _NAMES = "sample.json", "benchmark.json"
_IN_FOLDER = re.compile(r"sample\.json\Z|measurement_.*\.cbor\Z", re.DOTALL)
_RAW = "group,function,value,"
_PRINTED = re.compile(
    r"^\S?.*\btime:\s+\[[0-9.]+ [a-zµμ]+ [0-9.]+ [a-zµμ]+ [0-9.]+ [a-zµμ]+\]", re.MULTILINE
)
_HOME = Path("target/criterion")
_COMPLETE = "benchmark-complete"


@dataclass(slots=True)
class _Sample:
    """What one sample is called, its values, and of how many iterations each is the mean."""

    name: str
    baseline: str | None = None
    unit: str = "ns"
    keys: dict[str, str] = field(default_factory=dict)
    values: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def add(self, opened: Opened, time: object, iterations: object, at: str, at_count: str) -> None:
        """Add the total time of so many iterations, each with its place."""
        count = opened.value(iterations, at_count)
        opened.require(count > 0, "a sample of 0 iterations", at=at_count)
        self.values.append(opened.value(time, at) * in_base_unit(self.unit)[0] / count)
        self.counts.append(int(count))


def knows_criterion(opened: Opened) -> bool:
    """Tell by samples in the folder, by the keys of a sample, or by a header or message."""
    if opened.is_folder:
        return any(_IN_FOLDER.match(path.name) for path in files_in(_home(opened)))
    head = opened.head()
    if _is_raw(head) or ('"reason"' in head and _COMPLETE in head) or _is_summary(head):
        return True
    if not opened.looks_like_json() or '"iters"' not in head:
        return False
    return _pair_of(opened.structure()) != []


def _is_raw(head: str) -> bool:
    first = head.lstrip("\ufeff").split("\n", 1)[0]
    return first.startswith(_RAW) and "iteration_count" in first


def _is_summary(head: str) -> bool:
    """Tell by the keys of estimates, or by what criterion prints: three times, no samples."""
    if head.lstrip().startswith("{"):
        return '"point_estimate"' in head and '"median_abs_dev"' in head
    return _PRINTED.search(head) is not None


def _home(opened: Opened) -> Opened:
    """Give the folder of criterion in a project's; the build beside it has too many files."""
    if opened.path is not None and (opened.path / _HOME).is_dir():
        return open_foreign(str(Path(opened.source) / _HOME), encoding=opened.encoding)
    return opened


def read_criterion(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark and saved baseline."""
    if opened.is_folder:
        home = _home(opened)
        samples = [
            _named(open_in_folder(home, path), home)
            for path in files_in(home)
            if path.name == _SAMPLE and path.parent.name != "change"
        ]
    elif _is_raw(opened.head()):
        samples = list(_of_csv(opened))
    elif _COMPLETE in opened.head():
        samples = list(_of_messages(opened))
    elif _is_summary(opened.head()):
        fix = "name the folder target/criterion, or the sample.json in it"
        raise opened.fail("it holds estimates of means, no samples", fix)
    else:
        named = opened.path is not None and _plain(opened.path.parent / _NAMES)
        samples = [_named(opened, None) if named else _sample(opened, _Sample(opened.stem))]
    fix = "name the folder target/criterion; of cargo-criterion keep what 'cargo criterion --message-format=json' prints"
    opened.require(samples != [], "there is no sample in the folder", fix, at="")
    most = max(max(sample.counts) for sample in samples) or 1
    saved = any(sample.baseline for sample in samples)
    named = any(sample.baseline is not None for sample in samples)
    return foreign_file(
        cells=map(_cell, samples),
        variant_rule="the saved baseline's name" if named else "the file's name",
        losses={
            "one-process": one_process(f"means of up to {most} iterations from one process"),
            "unequal-means": any(len({*one.counts}) > 1 for one in samples)
            and "values are means of different numbers of iterations",
            "no-sessions": "when a benchmark was executed is not in the files"
            + ": each saved baseline is taken for an occasion of its own" * saved,
            "warm-ups-unknown": "the warm-up is not in the files",
        },
    )


def _named(opened: Opened, above: Opened | None) -> _Sample:
    """Read a sample in criterion's own folders, whose names are the baseline's and the benchmark's."""
    path = Path(opened.path or opened.source)
    folder = path.resolve().parent
    keys: dict[str, str] = {}
    if _plain(path.parent / _NAMES):
        keys = _keys(open_foreign(str(path.parent / _NAMES)))
    parts = [keys.get(key, "") for key in ("group_id", "function_id", "value_str")]
    name = keys.get("full_id") or "/".join(part for part in parts if part)
    if not name and above is not None and above.path is not None:
        bench = folder.parent
        root = above.path.resolve()
        inside = bench.is_relative_to(root) and bench != root
        name = bench.relative_to(root).as_posix() if inside else bench.name
    return _sample(opened, _Sample(name or folder.parent.name, folder.name, keys=keys))


def _keys(opened: Opened) -> dict[str, str]:
    data = opened.json()
    opened.require(isinstance(data, dict), "it is not an object", at="")
    keys = {key: str(value) for key, value in data.items() if type(value) in (str, int, float)}
    if isinstance(work := data.get("throughput"), dict):
        keys["throughput"] = ", ".join(f"{value} {unit}" for unit, value in work.items())
    return keys


def _pair_of(data: object) -> list[Any]:
    """Give iterations and times of a sample; versions before 0.3 wrote them as two lists."""
    if isinstance(data, dict):
        data = [data.get("iters"), data.get("times")]
    if isinstance(data, list) and len(data) == 2 and all(isinstance(one, list) for one in data):
        return data
    return []


def _sample(opened: Opened, sample: _Sample) -> _Sample:
    pair = _pair_of(opened.json())
    if not pair or not len(pair[0]) == len(pair[1]) > 0:
        raise opened.fail("it does not hold as many times as iterations")
    for k, (count, time) in enumerate(zip(*pair, strict=True)):
        sample.add(opened, time, count, f"times[{k}]", f"iters[{k}]")
    return sample


def _cell(sample: _Sample) -> ForeignCell:
    unit = in_base_unit(sample.unit)[1]
    return ForeignCell(
        benchmark=sample.name,
        variant=sample.baseline,
        metric="time" if unit == "s" else unit,
        unit=unit,
        better="lower" if unit == "s" else None,
        processes=(tuple(sample.values),),
        known=True,
        inner=max(sample.counts),
        session=sample.baseline,
        keys=sample.keys | ({} if sample.baseline is None else {"baseline": sample.baseline}),
    )


def _of_csv(opened: Opened) -> Iterator[_Sample]:
    found: dict[tuple[str, ...], _Sample] = {}
    ours = opened.path is not None and _plain(opened.path.parent / _NAMES)
    baseline = opened.path.resolve().parent.name if ours and opened.path else None
    reader = csv.DictReader(io.StringIO(opened.text(), newline="\n"))
    for row in opened.rows(reader, fix="copy the file again"):
        line = f"{reader.line_num}"
        try:
            early = "sample_time_nanos" in row  # before 0.3
            unit = "ns" if early else row["unit"]
            total = float(row["sample_time_nanos" if early else "sample_measured_value"])
            count = float(row["iteration_count"])
            key = (*(row[name] or "" for name in ("group", "function", "value")), unit)
        except (TypeError, ValueError, KeyError):
            what = "the line is cut off or damaged"
            raise opened.fail(what, "copy the file again", at=line) from None
        if key not in found:
            keys = dict(zip(("group", "function", "value"), key, strict=False))
            if (number := row.get("throughput_num")) and (kind := row.get("throughput_type")):
                keys["throughput"] = f"{number} {kind}"
            found[key] = _Sample("/".join(filter(None, key[:3])), baseline, unit, keys)
        found[key].add(opened, total, count, line, line)
    opened.require(found != {}, "there is no row of values", "is the file whole?", at="")
    yield from found.values()


def _plain(path: Path) -> bool:
    """Tell whether there is such a file; no link is followed."""
    return path.is_file() and not path.is_symlink()


def _of_messages(opened: Opened) -> Iterator[_Sample]:
    for number, line in enumerate(opened.text().split("\n"), 1):
        if _COMPLETE not in line:
            continue
        try:
            data = json.loads(line)
            pairs = list(zip(data["measured_values"], data["iteration_count"], strict=True))
            name, unit = str(data["id"]), str(data["unit"])
        except (ValueError, KeyError, TypeError, RecursionError):
            pairs = []
        if not pairs:
            raise opened.fail("the message is damaged", "is the file cut off?", at=f"{number}")
        sample = _Sample(name, unit=unit, keys={"id": name})
        for time, count in pairs:
            sample.add(opened, time, count, f"{number}", f"{number}")
        yield sample
