"""Folders of results: asv's and criterion.rs's, or one file of them."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import os
import re
from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..data.opening import Opened, files_in, open_foreign, open_in_folder
from ..errors import FairtrialError
from ..record.run_numbers import Better
from .parsing import (
    FORMATS,
    ForeignCell,
    ForeignFile,
    count_of,
    foreign_file,
    in_base_unit,
    text_of,
    texts_of,
    within,
)

_BENCHMARKS = "benchmarks.json"
_MOST = 100_000  # combinations of one benchmark
_DIGITS = 12  # of a version's hash
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_RESULT = re.compile(r"\.json(\.(gz|bz2|xz|zst|zstd|lz))?$")


class _Kind(NamedTuple):
    """What is the same of a benchmark in each file: the names of its combinations, and what is measured."""

    names: tuple[str, ...]
    keys: tuple[dict[str, str], ...]
    metric: str
    unit: str
    factor: float
    better: Better | None


_Meaning = tuple[str | None, str | None, tuple[str, ...]]  # a benchmark's type, unit and parameters
_UNSAID: _Meaning = (None, None, ())


def knows_asv(opened: Opened) -> bool:
    """Tell by the keys of a result file."""
    if not opened.is_folder:
        data = opened.structure()
        results = within(data, "results")
        return within(data, "commit_hash") is not None and isinstance(results, dict)
    for path in files_in(opened):
        with suppress(FairtrialError):  # that it cannot be read may matter when all are read
            if _result(opened, path) is not None:
                return True
    return False


def _result(opened: Opened, path: Path) -> Opened | None:
    """Open a file of the folder that is a result; None for another one."""
    if not _RESULT.search(path.name) or path.name in (_BENCHMARKS, "machine.json"):
        return None
    one = open_in_folder(opened, path)
    keys = (b'"commit_hash"', b'"results"')  # of one that is cut off, reading says where
    return one if one.looks_like_json() and all(key in one.data for key in keys) else None


def read_asv(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, combination of parameters, and commit; one file is held at a time."""
    met = Counter({"single": 0, "skipped": 0, "left-out": 0})
    if opened.is_folder:
        results = ((_result(opened, path), str(path)) for path in files_in(opened))
        files = [_cells(one, session, met) for one, session in results if one is not None]
        if not files:
            raise opened.fail("there is no result of asv in the folder", "name the folder results/")
    else:
        files = [_cells(opened, None, met)]
    keys = [about for about, _ in files]
    several = [key for key in ("env_name", "machine") if len({one.get(key) for one in keys}) > 1]
    cells = [cell for _, own in files for cell in own]
    if several:
        ends = ["".join(f", {about.get(key, '?')}" for key in several) for about in keys]
        pairs = [(cell, end) for (_, own), end in zip(files, ends, strict=True) for cell in own]
        cells = [replace(cell, variant=f"{cell.variant}{end}") for cell, end in pairs]
    some = any(cell.processes or cell.failed for cell in cells)
    opened.require(some, "no result is a number", "was every benchmark skipped?", at="")
    rule = ["the commit", *(key.replace("env_name", "environment") for key in several)]
    facts = {"host": keys[0].get("machine"), "environment": keys[0].get("env_name")}
    if len(files) == 1:
        facts |= {"date": keys[0].get("date"), "commit": keys[0]["commit"]}
    return foreign_file("asv", cells, met, met, variant_rule=" and ".join(rule), facts=facts)


def _cells(
    opened: Opened, session: str | None, met: Counter[str]
) -> tuple[dict[str, str], list[ForeignCell]]:
    """Give what a result file says of all its cells, and the cells."""
    data = opened.json()
    results = within(data, "results")
    if not isinstance(results, dict):
        raise opened.fail("it has no results", "is it a result file of asv?")
    texts: Mapping[str, _Meaning] = {}
    # next to the file or one folder above it
    for folder in () if opened.path is None else (opened.path.parent.parent, opened.path.parent):
        if _plain(path := folder / _BENCHMARKS):
            texts = _meanings_in(path, path.stat().st_mtime_ns) or texts
    commit = text_of(data.get("commit_hash")) or "unknown"
    keys = texts_of(data.get("params")) | {"commit": commit}
    named = opened.stem.partition("-")[2]  # where version 1 has the environment alone
    keys |= texts_of({"env_name": data.get("env_name") or named or None})
    keys |= texts_of({"python": data.get("python")})
    with suppress(OverflowError, ValueError, OSError):  # beyond all calendars
        if made := count_of(data.get("date")):  # of the commit: asv counts milliseconds
            keys["date"] = datetime.fromtimestamp(made // 1000, UTC).isoformat()
    versions = within(data, "benchmark_version")
    cells: list[ForeignCell] = []
    for name, given in results.items():
        at = f"results[{name!r}]"
        row = _row(opened, given, data.get("result_columns"), at)
        version = (text_of(row.get("version") or within(versions, name)) or "")[:_DIGITS]
        way = f"version {version}" if version else ""
        kind, columns = _crossed(opened, name, row, texts.get(name, _UNSAID), at)
        metric, unit, better, factor = kind.metric, kind.unit, kind.better, kind.factor
        time = metric == "time"
        for k, (value, own) in enumerate(zip(*columns, strict=True)):
            values: tuple[float, ...] = ()
            if type(value) is float and math.isnan(value):
                met["skipped"] += 1
                continue
            if isinstance(own, list) and own:
                values = opened.values(own, f"{at}[{k}]", factor=factor)
            elif value is not None:
                if type(value) not in (int, float) or not (time or 0 <= value < math.inf):
                    met["left-out"] += 1
                    continue
                plain = factor == 1.0 and type(value) is float and 0 <= value < math.inf
                values = (value if plain else opened.value(value, f"{at}[{k}]", factor=factor),)
                met["single"] += time
            cells.append(
                ForeignCell(
                    benchmark=kind.names[k],
                    variant=commit,
                    metric=metric,
                    unit=unit,
                    better=better,
                    processes=(values,) if values else (),
                    failed=0 if values else 1,
                    session=session,
                    keys=ChainMap(kind.keys[k], keys),
                    definition=way,
                )
            )
    return keys, cells


def _row(opened: Opened, given: object, columns: object, at: str) -> dict[str, Any]:
    """Give a benchmark's columns by their names, whatever the version."""
    if isinstance(columns, list) and (given is None or isinstance(given, list)):
        named = all(isinstance(name, str) for name in columns)
        opened.require(named, "a column has no name", at="result_columns")
        return dict(zip(columns, given or (), strict=False))
    if columns is not None:
        raise opened.fail("a result does not fit its columns", at=at)
    return dict(given) if isinstance(given, dict) and "result" in given else {"result": given}


def _crossed(
    opened: Opened, name: str, row: Mapping[str, Any], about: _Meaning, at: str
) -> tuple[_Kind, list[list[Any]]]:
    """Give the combinations of a benchmark; then results and samples, an entry a combination."""
    axes = row.get("params") or []
    listed = isinstance(axes, list) and all(isinstance(axis, list) for axis in axes)
    opened.require(listed, "its parameters are not lists", at=at)
    count = math.prod(map(len, axes))
    result = row.get("result")
    result = result if result is None or isinstance(result, list) else [result]
    # null, alone or in a list: all of them failed
    given = (result, row.get("samples"))
    columns = [None if column == [None] else column for column in given]
    fit = all(c is None or (isinstance(c, list) and len(c) == count) for c in columns)
    what = f"its parameters have {count} combinations, its results do not fit"
    opened.require(fit and count <= _MOST, what, at=at)
    # what is no text has one: most are texts
    texts = [[one if type(one) is str else text_of(one) for one in axis] for axis in axes]
    return _kind(name, about, tuple(map(tuple, texts))), [c or [None] * count for c in columns]


@lru_cache(maxsize=8192)
def _kind(name: str, about: _Meaning, axes: tuple[tuple[str | None, ...], ...]) -> _Kind:
    """Name the combinations of a benchmark, once for all files; metric, unit and direction by its kind, else by its name."""
    kind, given, names = about
    names += tuple(f"param{k}" for k in range(len(names) + 1, len(axes) + 1))
    texts = [[_ADDRESS.sub("", one or "?") for one in axis] for axis in axes]
    keys = [dict(zip(names, row, strict=False)) for row in itertools.product(*texts)]
    factor, base = (1.0, None) if given is None else in_base_unit(given)
    begin = "".join(name.rpartition(".")[2].partition("_")[:2])
    known: dict[str | None, Any] = FORMATS["asv"]
    metric, unit, better = known.get(kind) or known.get(begin) or known["track"]
    parts = (", ".join(f"{n}={v}" for n, v in own.items()) for own in keys)
    return _Kind(
        names=tuple(f"{name}({texts})" if axes else name for texts in parts),
        keys=tuple({"name": name, **own} for own in keys),
        metric=metric,
        unit=unit if base is None else "" if base == "unit" else base,
        factor=factor,
        better=better or None,
    )


@lru_cache(maxsize=4)
def _meanings_in(path: Path, _changed: int) -> Mapping[str, _Meaning]:
    try:
        data = open_foreign(str(path)).json()
    except FairtrialError:
        return {}
    found = {}
    for name, one in data.items() if isinstance(data, dict) else ():
        names, unit = within(one, "param_names"), within(one, "unit")
        known = tuple(map(str, names)) if isinstance(names, list) else ()
        found[name] = text_of(within(one, "type")), unit if isinstance(unit, str) else None, known
    return found


_SAMPLE, _NAMES = "sample.json", "benchmark.json"
_IN_FOLDER = re.compile(r"sample\.json\Z|measurement_.*\.cbor\Z", re.DOTALL)
_RAW = re.compile("[\ufeff\n]*group,function,value,.*iteration_count")
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
        """Add the total time of `iterations` iterations, each with its place."""
        count = opened.value(iterations, at_count)
        opened.require(count > 0, "a sample of 0 iterations", at=at_count)
        self.values.append(opened.value(time, at) * in_base_unit(self.unit)[0] / count)
        self.counts.append(int(count))


def knows_criterion(opened: Opened) -> bool:
    """Tell by samples in the folder, by the keys of a sample, or by a header or message."""
    if opened.is_folder:
        return any(_IN_FOLDER.match(path.name) for path in files_in(_home(opened)))
    head = opened.head()
    if _RAW.match(head) or ('"reason"' in head and _COMPLETE in head) or _is_summary(head):
        return True
    if not opened.looks_like_json() or '"iters"' not in head:
        return False
    return _pair_of(opened.structure()) != []


def _is_summary(head: str) -> bool:
    """Tell by the keys of estimates, or by what criterion prints: three times, no samples."""
    if head.lstrip().startswith("{"):
        return '"point_estimate"' in head and '"median_abs_dev"' in head
    return _PRINTED.search(head) is not None


def _home(opened: Opened) -> Opened:
    """Give the folder of criterion in a project's; the build next to it has too many files."""
    if opened.path is not None and os.path.isdir(opened.path / _HOME):  # noqa: PTH112 - Path.is_dir() raises where nobody may look
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
    elif _RAW.match(opened.head()):
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
    baselines = [sample.baseline for sample in samples if sample.baseline is not None]
    saved = ": each saved baseline is taken for an occasion of its own" * any(baselines)
    holding = {"unequal-means": any(len({*one.counts}) > 1 for one in samples)}
    rule = "the saved baseline's name" if baselines else "the file's name"
    texts = {"most": most, "saved": saved}
    return foreign_file("criterion", map(_cell, samples), holding, texts, variant_rule=rule)


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
        session=sample.baseline,
        keys=sample.keys | ({} if sample.baseline is None else {"baseline": sample.baseline}),
    )


def _of_csv(opened: Opened) -> Iterator[_Sample]:
    found: dict[tuple[str, ...], _Sample] = {}
    ours = opened.path is not None and _plain(opened.path.parent / _NAMES)
    baseline = opened.path.resolve().parent.name if ours and opened.path else None
    text = opened.text()
    before = len(text) - len(text.lstrip("\n"))
    reader = csv.DictReader(io.StringIO(text[before:], newline="\n"))
    for row in opened.rows(reader, before=before, fix="copy the file again"):
        line = f"{before + reader.line_num}"
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
