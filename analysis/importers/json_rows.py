"""The rows of JSON tools, `ROWS`, and the functions for what no path can say.

To add a tool, write its table into ``json_rows.toml``, and a sample of it in the table of its tests. What is one
expression stands in `_SAID` by the name that the table has for it; all else is a function of that name.

Google Benchmark's rows of aggregates (mean, median, stddev, cv, big O) are summaries; the CSV, which becomes the same
objects, and versions before 1.5 know them by their names only. A run of pyperf without values calibrates.
BenchmarkDotNet's stage ``Result`` holds the iterations without the overhead of the calls and without what it took for
outliers; before 0.11 mode and stage were one word, such as ``MainWarmup``.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..data.opening import Opened
from ..data.trial_cautions import HOSTS
from ..pages.model import Caution
from ..pages.number_format import listed
from ..record.json_paths import Entry, Place, places
from ..registry import shipped
from .json_tools import Read, fetch, rows_in
from .parsing import (
    FORMATS,
    TIMES,
    base_of,
    count_of,
    number_or_text,
    object_of,
    objects_in,
    text_of,
    texts_of,
    within,
)


def _hyperfine_parameters(place: Place) -> dict[str, Any]:
    given = place.value["parameters"].items()
    return {key: one["value"] if isinstance(one, dict) else one for key, one in given}


def _hyperfine_benchmark(place: Place) -> str | None:
    """Give the parameter of this name, if one is called variant: a list of both says which is which."""
    found = fetch(place, _hyperfine_parameters) or {}
    return str(found["benchmark"]) if {"benchmark", "variant"} <= found.keys() else None


def _hyperfine_variant(place: Place) -> Any:  # noqa: ANN401 - JSON
    if _hyperfine_benchmark(place) is not None:
        return str(_hyperfine_parameters(place)["variant"])
    command = place.value["command"]
    return (text_of(place.value.get("name")) or command) if isinstance(command, str) else ""


def _hyperfine_fails(place: Place) -> list[bool] | None:
    """Tell which runs failed; null stands for a run that a signal ended."""
    codes, runs = place.value.get("exit_codes"), place.value.get("measurements")
    if runs and any("exit_code" in run for run in runs):
        codes = [run.get("exit_code") for run in runs]
    return codes and [code != 0 or code is False for code in codes]


# the library's own line of headings, or that of its JSON as a table
_CSV = re.compile(
    "^"
    + "".join(
        rf'(?=(?:[^\n]*,)?"?{name}"?(?:,|\r?$))'
        for name in ("name", "iterations", "real_time", "cpu_time", "time_unit")
    ),
    re.MULTILINE,
)
_OUTPUT = re.compile(r'^\{\s*"context"\s*:', re.MULTILINE)
_CONSOLE = re.compile(r"^Benchmark +Time +CPU +Iterations", re.MULTILINE)
_STANDARD = ("_mean", "_median", "_stddev")
_AGGREGATE = re.compile(r"(_(?:mean|median|stddev|cv|min|max|BigO|RMS))$")
_GOOGLE_FILE = "add --benchmark_out=FILE --benchmark_out_format=json"
_google_begins = re.compile(f"{_CSV.pattern}|{_OUTPUT.pattern}|{_CONSOLE.pattern}", re.MULTILINE)
_TRUTHS: dict[str, Any] = {"true": True, "false": False}
Row = Mapping[str, Any]
Rows = list[tuple[str, Row]]


def _google(opened: Opened, keeps: str) -> dict[str, Any]:
    """Give the rows that are no aggregates, each with its place, and the context."""
    if not opened.looks_like_json() and (place := _OUTPUT.search(text := opened.text())):
        # what the program says of the machine before its JSON, on the same stream
        opened = replace(opened, data=text[place.start() :].encode(), encoding="utf-8")
    context, early = {}, not opened.looks_like_json()
    if early:
        every = _of_csv(opened)
    else:
        data = opened.json()
        given = within(data, "benchmarks")
        listed = isinstance(given, list) and all(isinstance(one, dict) for one in given)
        opened.require(listed, "there is no list of benchmarks", at="")
        context = object_of(data.get("context"))
        every = [(f"benchmarks[{k}]", one) for k, one in enumerate(given)]
    rows = _measured(every)
    for at, row in rows:
        unit = row.get("time_unit", "ns")
        known = _is_without_times(row) or (isinstance(unit, str) and unit in TIMES)
        opened.require(known, f"the unit {unit!r} is not known", at=at)
    timed = any("real_time" in row and not row.get("error_occurred") for _, row in rows)
    if len(rows) < len(every) and not timed:
        raise opened.fail("the file holds aggregates only", keeps)
    return {"rows": rows, "context": context, "early": early}


def _of_csv(opened: Opened) -> Rows:
    text = opened.text()
    place = _CSV.search(text)
    if place is None:
        raise opened.fail("this is the table for the console, with rounded times", _GOOGLE_FILE)
    before = text.count("\n", 0, place.start())
    reader = csv.reader(io.StringIO(text[place.start() :]), strict=True)
    rows: Rows = []
    listed = opened.rows(reader, before=before, fix=_GOOGLE_FILE)
    headings = next(listed)
    for cells in filter(None, listed):
        line = f"{before + reader.line_num}"
        texts = {k: v for k, v in zip(headings, cells, strict=False) if v and k}
        row = {k: _TRUTHS.get(v.lower(), number_or_text(v)) for k, v in texts.items()}
        # the library writes no counters behind an error
        short = len(cells) < len(headings) and not _is_without_times(row)
        what = "the line is cut off, or a later benchmark has more counters than the headings"
        opened.require(not short and len(cells) <= len(headings), what, _GOOGLE_FILE, at=line)
        rows.append((line, row))
    return rows


def _is_without_times(row: Row) -> bool:
    return "error_message" in row or "error_occurred" in row


def _measured(rows: Rows) -> Rows:
    """Leave out the aggregates, which the CSV and versions before 1.5 know by their names only.

    An aggregate is named like its benchmark, with a word behind; it counts the repetitions as its
    iterations. The rows of complexities have no iterations.
    """
    if any("run_type" in row for _, row in rows):
        return [(at, row) for at, row in rows if row.get("run_type", "iteration") == "iteration"]
    names = Counter(str(row.get("name")) for _, row in rows)

    def is_aggregate(row: Row) -> bool:
        name = str(row.get("name"))
        if row.get("iterations") is None:
            return not (_is_without_times(row) or row.get("skipped"))
        match = _AGGREGATE.search(name)
        if match is not None:
            base = name[: match.start()]
            return base in names or all(base + word in names for word in _STANDARD)
        base = name if names[name] == 1 else ""
        while base := base.rpartition("_")[0]:  # a statistic of the program's own
            if names[base] > 1 and f"{base}_mean" in names:
                return bool(row.get("iterations") == names[base])
        return False

    return [(at, row) for at, row in rows if not is_aggregate(row)]


def _google_which(place: Place) -> tuple[str, ...]:
    """Tell repetitions of one benchmark; one name may be registered twice: the indexes tell them apart."""
    indexes = (str(place.value.get(k)) for k in ("family_index", "per_family_instance_index"))
    return (str(fetch(place, "run_name | name")), *indexes)


def _google_skipped(place: Place) -> bool:
    row = place.value
    if row.get("error_occurred") is True:
        return False
    # the CSV of a skipped benchmark has no times
    without = "real_time" not in row and _is_without_times(row)
    return bool(row.get("error_occurred") or row.get("skipped") or without)


def _google_rows(whole: Place) -> list[Place]:
    return [
        Place(row, at, (*whole.entries, Entry(k, row, at)))
        for k, (at, row) in enumerate(whole.value["rows"])
    ]


def _google_notes(read: Read) -> Iterator[Caution]:
    every = _google_rows(read.whole)
    skipped = Counter(_google_which(place) for place in every if _google_skipped(place))
    of = Counter(map(_google_which, every)) if skipped else {}
    for which, count in skipped.items():
        text = f"{which[0]!r} was skipped by its program, {count} of {of[which]} times"
        yield Caution("skipped", text)


def _google_keys(place: Place) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    for k, part in enumerate(_google_which(place)[0].split("/")[1:], 1):
        keys[f"argument {k}"] = part
        word, colon, value = part.partition(":")
        if colon:
            keys.setdefault(word, value)
    return keys


_NO_KEYS = ("loops", "inner_loops", "name", "unit", "values", "warmups", "date", "duration")


def _about(place: Place) -> dict[str, Any]:
    """Give the metadata of a benchmark: its own win over those that all benchmarks share."""
    every = (
        place.entries[0].value.get("metadata"),
        *map(place.value.get, ("common_metadata", "metadata")),
    )
    return {key: one for about in every for key, one in object_of(about).items()}


def _pyperf_runs(place: Place) -> list[dict[str, Any]]:
    """Give the runs that have values; files before version 6 call them samples."""
    return [
        run for run in objects_in(place.value["runs"]) if run.get("values") or run.get("samples")
    ]


def _pyperf_values(opened: Opened, place: Place, factor: float) -> tuple[tuple[float, ...], ...]:
    found = []
    for k, run in enumerate(place.value):
        key = "values" if "values" in run else "samples"
        if given := run.get(key):
            found.append(opened.values(given, f"{place.where}[{k}].{key}", factor=factor))
    return tuple(found)


def _pyperf_loops(place: Place) -> int | list[int]:
    about = _about(place)
    if about.get("unit") == "byte":
        return 1  # a process has one peak of memory
    every = [about | object_of(run.get("metadata")) for run in _pyperf_runs(place)]
    pairs = [(count_of(one.get("loops")), count_of(one.get("inner_loops", 1))) for one in every]
    return [loops * inner for loops, inner in pairs if loops is not None and inner is not None]


def _pyperf_parts(whole: Place) -> list[Place]:
    """Give each benchmark; those of several hosts have a part for each, in which the runs stand where they stood."""

    def host_of(place: Place, run: object) -> str | None:
        own = within(run, "metadata", "hostname")
        return text_of(own if own is not None else _about(place).get("hostname"))

    every = places(whole, "benchmarks[*]")
    runs = [of if isinstance(of := within(one.value, "runs"), list) else [] for one in every]
    named = [[host_of(one, run) for run in own] for one, own in zip(every, runs, strict=True)]
    if len({host for hosts in named for host in hosts} - {None}) < 2:
        return every
    return [
        one._replace(value=one.value | {"runs": kept, "host": host})
        for one, own, hosts in zip(every, runs, named, strict=True)
        for host in dict.fromkeys(hosts)
        for kept in [[run if of == host else {} for run, of in zip(own, hosts, strict=True)]]
    ]


def _pyperf_notes(read: Read) -> Iterator[Caution]:
    for place in places(read.whole, "benchmarks[*]"):
        if not _pyperf_runs(place):
            name = fetch(place, read.tool.benchmark)
            yield Caution("left-out", f"{name!r} was only calibrated: it has no values")
    hosts = tuple(dict.fromkeys(one.session for one in read.cells if one.session is not None))
    if len(hosts) > 1:
        named = f"the runs stem from {len(hosts)} hosts ({listed(hosts, 3)})"
        yield Caution(HOSTS, f"{named}, and each is an occasion of its own")


def _pyperf_begin(whole: Place) -> str:
    """Give when the first run was made: a time that stands with each of them."""
    shared = within(whole.value, "metadata", "date")
    runs = (run for bench in whole.value["benchmarks"] for run in objects_in(bench["runs"]))
    dates = (within(run, "metadata", "date") or shared for run in runs)
    return min(str(date) for date in dates if date is not None)


def _pyperf_meaning(place: Place) -> Any:  # noqa: ANN401 - of the table
    text = str(_about(place).get("unit") or "second")
    return tuple(FORMATS["pyperf"].get(text, ("value", text, None)))


def _mitata_group(place: Place) -> str | None:
    whole, bench = place.entries[0].value, place.entries[-2].value
    return text_of(whole["layout"][bench["group"]].get("name"))


def _mitata_name(place: Place) -> str:
    alias = str(place.entries[-2].value.get("alias"))
    args = texts_of(place.value.get("args")).items()
    own = [f"{key}={value}" for key, value in args if f"${key}" not in alias]
    return _within(fetch(place, _mitata_group), " ".join([place.value["name"], *own]))


def _within(group: str | None, name: str) -> str:
    return f"{group} > {name}" if group and name else name


def _benchmarkjs(opened: Opened, _keeps: str) -> Any:  # noqa: ANN401 - JSON
    """Give the benchmarks of a list, of a suite, whose keys are numbers, or the only one."""
    data = opened.json()
    if isinstance(data, dict):
        suite = {key: one for key, one in data.items() if key.isdecimal()}
        return [data] if "stats" in data else suite
    return data


_SUMMARIES = ("TrialEstimate", "TrialRatio", "TrialJudgement")


def _julia(opened: Opened, keeps: str) -> Any:  # noqa: ANN401 - JSON
    """Give the values of BenchmarkTools, which PkgBenchmark writes as a text in its own."""
    data, where, about = opened.json(), "", {}
    if isinstance(text := within(data, "benchmarkgroup"), str):
        where, about = "benchmarkgroup", data
        data = replace(opened, data=text.encode(), encoding="utf-8").json()
    found = _julia_values(data, where)
    if "Trial" not in found:
        kind = next((kind for kind in _SUMMARIES if kind in found), None)
        what = f"it holds a {kind}, no samples" if kind else "it holds no trial"
        raise opened.fail(what, keeps)
    return about | {"values": found}


def _julia_values(data: Any, where: str) -> dict[str, list[Place]]:  # noqa: ANN401 - JSON
    """Give the places of all values of all groups by their type."""
    found: dict[str, list[Place]] = {}
    values = data[1] if isinstance(data, list) and len(data) == 2 else None
    values = values if isinstance(values, list) else []
    waiting = [
        (value, (f"{k + 1}",) * (len(values) > 1), f"{where}[1][{k}]")
        for k, value in enumerate(values)
    ]
    while waiting:
        value, names, at = waiting.pop(0)
        if not (isinstance(value, list) and len(value) == 2 and isinstance(value[1], dict)):
            continue  # nothing that BenchmarkTools writes
        kind = str(value[0]).removeprefix("BenchmarkTools.")
        entry = Entry("/".join(names), value[1], f"{at}[1]")
        found.setdefault(kind, []).append(Place(value[1], entry.where, (entry,)))
        inner = object_of(value[1].get("data") if kind == "BenchmarkGroup" else None)
        waiting[:0] = [(one, (*names, key), f"{at}[1].data.{key}") for key, one in inner.items()]
    return found


_BROKEN = re.compile(r"([,\[\]{}])\s*\n\s*")  # JMH breaks its text into lines, within names too
_RAW = ("rawDataHistogram", "rawData")


def _jmh_parameters(place: Place) -> dict[str, str]:
    given = texts_of(place.value.get("params")).items()
    return {key: _BROKEN.sub(r"\1", text) for key, text in given}


def _jmh_name(place: Place) -> str:
    settings = (f"{key}={value}" for key, value in _jmh_parameters(place).items())
    return " ".join([_BROKEN.sub(r"\1", place.value["benchmark"]), *settings])


def _jmh_mode(place: Place) -> str:
    """Give the mode; scalajs-benchmark writes that of times also above operations a second."""
    value = place.entries[-1].value
    rate = str(within(value, "primaryMetric", "scoreUnit")).startswith("ops/")
    return "thrpt" if rate else text_of(value.get("mode")) or "value"


def _jmh_planned(place: Place) -> int:
    return max(1, int(place.value["forks"]))


def _jmh_missing(place: Place) -> int | None:
    """Count the forks that are missing; None where there is none."""
    raw = fetch(place, " | ".join(f"primaryMetric.{key}" for key in _RAW))
    found = [one for one in raw if isinstance(one, list) and any(x != [] for x in one)]
    return max(0, _jmh_planned(place) - len(found)) or None


def _jmh_forks(opened: Opened, place: Place, factor: float) -> dict[str, tuple[float, ...]]:
    """Give the values of each fork, which has a number; each mode of a benchmark has forks of its own."""
    kind = next((key for key in _RAW if within(place.value, key) is not None), "rawData")
    found = {}
    for f, fork in enumerate(within(place.value, kind) or ()):
        at = f"{place.where}.{kind}[{f}]"
        opened.require(isinstance(fork, list), "a fork is not a list", at=at)
        if kind == "rawData":
            values = opened.values(fork, at, factor=factor)
        else:  # an iteration without any sample has none: an operation took longer than it
            values = tuple(
                _mean(opened, one, f"{at}[{k}]", factor) for k, one in enumerate(fork) if one != []
            )
        if values:
            found[f"{_jmh_mode(place)} {f + 1}"] = values
    if not found:
        fix = "execute JMH without -Djmh.json.rawData=false, and give iterations time for one operation"
        raise opened.fail("there are no raw data of the iterations", fix, at=place.where)
    return found


def _mean(opened: Opened, pairs: list[Any], at: str, factor: float) -> float:
    total = weight = 0.0
    for k, pair in enumerate(pairs):
        good = isinstance(pair, list) and len(pair) == 2
        opened.require(good, "an entry of the histogram is not a pair", at=at)
        count = opened.value(pair[1], f"{at}[{k}]")
        total += opened.value(pair[0], f"{at}[{k}]", factor=factor) * count
        weight += count
    good = weight > 0 and math.isfinite(total / weight)
    opened.require(good, "the histogram has no mean", at=at)
    return total / weight


def _dotnet(opened: Opened, _keeps: str) -> Any:  # noqa: ANN401 - JSON
    """Name the variants: the jobs, where there are several, in short if that tells them apart."""
    data = opened.json()
    short: dict[str, str] = {}
    for job in map(_job, data["Benchmarks"]):
        name, _, settings = job.partition("(")  # Job-CZIFCN was made up: its settings tell it
        made_up = name.startswith("Job-") and settings
        short[job] = settings.removesuffix(")") if made_up else name or job
    if len(set(short.values())) < len(short):
        short = {job: job for job in short}
    return data | {"variants": short if len(short) > 1 else {}}


def _job(bench: dict[str, Any]) -> str:
    """Give the job: what stands in the information between the method and its parameters."""
    text = text_of(bench.get("DisplayInfo")) or ""
    title = f"{bench.get('Type')}.{bench.get('MethodTitle')}: "
    job = text.removeprefix(title) if text.startswith(title) else text.partition(": ")[2]
    return job.partition(" [")[0] if bench.get("Parameters") else job


_EARLIER = {"Result": "Result", "MainTarget": "Actual", "MainWarmup": "Warmup"}


def _staged(place: Place) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Give the measurements of the program's own iterations by stage, in the words of today, with their places."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for k, row in enumerate(place.value.get("Measurements") or ()):
        mode, stage = row.get("IterationMode"), row.get("IterationStage")
        own = _EARLIER.get(mode) if stage is None else stage if mode == "Workload" else None
        found.setdefault(own or "", []).append((f"{place.where}.Measurements[{k}]", row))
    return found


def _dotnet_rows(place: Place) -> list[tuple[str, dict[str, Any]]]:
    return (staged := _staged(place)).get("Result") or staged.get("Actual", [])


def _dotnet_values(opened: Opened, place: Place, factor: float) -> tuple[tuple[float, ...], ...]:
    """Give the results by launch; those that the statistics keep where there is none."""
    launches: dict[object, list[float]] = {}
    for where, row in _dotnet_rows(place):
        count = opened.value(row.get("Operations"), f"{where}.Operations")
        opened.require(count > 0, "a measurement of 0 operations", at=where)
        total = opened.value(row.get("Nanoseconds"), f"{where}.Nanoseconds", factor=factor)
        launches.setdefault(text_of(row.get("LaunchIndex")), []).append(total / count)
    kept = within(place.value, "Statistics", "OriginalValues")
    if not launches and kept:
        return (opened.values(kept, f"{place.where}.Statistics.OriginalValues", factor=factor),)
    return tuple(map(tuple, launches.values()))


def _dotnet_name(place: Place) -> str:
    own = [text_of(place.value.get(key)) for key in ("Namespace", "Type", "Method")]
    parts = f"{'.'.join(filter(None, own))} {text_of(place.value.get('Parameters')) or ''}".strip()
    return text_of(place.value.get("FullName")) or parts


def _dotnet_keys(place: Place) -> dict[str, Any]:
    settings = text_of(place.value.get("Parameters")) or ""
    own = {
        key.lower(): place.value.get(key) for key in ("Namespace", "Type", "Method", "MethodTitle")
    }
    params = dict(one.split("=", 1) for one in settings.split("&") if "=" in one)
    return params | texts_of(own) | ({"job": job} if (job := _job(place.value)) else {})


def _dotnet_notes(read: Read) -> Iterator[Caution]:
    staged = [_staged(one) for (one,) in read.groups]
    kept = [(len(one.get("Actual", [])), len(one["Result"])) for one in staged if "Result" in one]
    if removed := sum(max(0, actual - results) for actual, results in kept):
        text = (
            f"BenchmarkDotNet took {removed} of {sum(actual for actual, _ in kept)} iterations for outliers: its results, "
            "which are read, are without them (--outliers DontRemove keeps them)"
        )
        yield Caution("outliers-removed", text)
    if any("Actual" in one and "Result" not in one for one in staged):
        text = "there are no results, so the iterations are taken as measured, with the overhead of the calls"
        yield Caution("overhead-included", text)


_COUNTERS = "instructions cpucycles branchinstructions branchmisses pagefaults contextswitches"


def _nanobench(opened: Opened, _keeps: str) -> Any:  # noqa: ANN401 - JSON
    """Name the counters that could be read: the others are 0 in the whole file."""
    data = opened.json()
    rows = [row for one in data["results"] for row in objects_in(one.get("measurements"))]
    there = (name for name in _COUNTERS.split() if any(row.get(name) for row in rows))
    return data | {"counters": [*there]}


_LLAMA_MEASURED = re.compile(
    r"(?:avg|stddev|samples)_|test_time$|model_(?:filename|size|n_params)$|n_(?:prompt|gen)$"
)


def _llama_name(place: Place) -> str:
    """Name the model, the lengths, and the settings that differ in the file."""
    own, every = texts_of(place.value), place.entries[0].value
    differ = [
        f"{key}={text}"
        for key, text in own.items()
        if not _LLAMA_MEASURED.match(key)
        and key != "model_type"
        and any(one.get(key) != every[0].get(key) for one in every)
    ]
    lengths = [
        f"{word}{own[key]}"
        for word, key in (("pp", "n_prompt"), ("tg", "n_gen"))
        if own.get(key, "0") != "0"
    ]
    model = own.get("model_type") or own.get("model_filename", "")
    return " ".join([model, *lengths, *differ]).strip()


def _lnt_meaning(place: Place) -> Any:  # noqa: ANN401 - of the table
    kind = place.value["Name"].rpartition(".")[2]
    return tuple(FORMATS["lnt"].get(kind, (kind, "", "lower")))


_collected_begins = re.compile(r"\A\s*window\.BENCHMARK_DATA\s*=\s*")


def _collected(opened: Opened, _keeps: str) -> Any:  # noqa: ANN401 - JSON
    """Give the object that the script of the page holds."""
    if _collected_begins.match(opened.head()) is None:
        return opened.json()
    text = _collected_begins.sub("", opened.text()).rstrip().rstrip(";")
    return replace(opened, data=text.encode(), encoding="utf-8").json()


def _collected_metric(place: Place) -> tuple[str, str | None]:
    """Give the direction that the entry's tool says, else as tools write their units: times are lower, rates higher."""
    unit = str(place.value["unit"])
    base = base_of(unit)[1]
    better = "lower" if base in ("s", "B", "B/op") else None
    if unit.endswith(("/s", "/sec", "/second")) or unit == "x":
        better = "higher"
    stated = {"customBiggerIsBetter": "higher", "customSmallerIsBetter": "lower"}
    better = stated.get(str(fetch(place, "^.tool")), better)
    return "time" if base == "s" else "value", better


# --- What is one expression, of a place, or of what was read where a loss or a note is said.

_SAID: dict[str, Callable[..., Any]] = {
    "hyperfine_means": lambda read: any("measurements" not in one.value for (one,) in read.groups),
    "pytest_metric": lambda place: (
        "cpu_time"
        if fetch(place, "options.timer") in ("process_time", "thread_time", "clock")
        else "time"
    ),
    "google_fails": lambda place: place.value.get("error_occurred") is True,
    "google_iterations": lambda place: (
        not place.value.get("error_occurred") and place.value["iterations"]
    ),
    "google_counters": lambda place: [
        key
        for key, value in place.value.items()
        if type(value) in (int, float) and key != "Unnamed: 0"
    ],
    "google_once": lambda read: max(len(cell.values) for cell in read.cells) == 1,
    "google_early": lambda read: read.whole.value["early"],
    "pyperf_which": lambda place: (place.where, place.value.get("host")),
    "pyperf_once": lambda read: {cell.session for cell in read.cells} == {None},
    "pyperf_calibrates": lambda place: not _pyperf_runs(place),
    "pyperf_warmups": lambda place: sum(
        len(run.get("warmups") or ()) for run in _pyperf_runs(place)
    ),
    "pyperf_keys": lambda place: {k: v for k, v in _about(place).items() if k not in _NO_KEYS},
    "mitata_keys": lambda place: {"group": _mitata_group(place)},
    "mitata_calls": lambda place: max(
        1, (of := place.value["stats"])["ticks"] // len(of["samples"])
    ),
    "mitata_fails": lambda place: (
        place.value.get("stats") is None and place.value.get("error") is not None
    ),
    "mitata_trims": lambda read: any(len(cell.values) > 8 for cell in read.cells),
    "benchmarkjs_fails": lambda place: (
        place.value.get("error") is not None
        or (within(place.value, "stats", "sample") == [] and not place.value.get("cycles"))
    ),
    "tinybench_fails": lambda place: (
        "error" in (found := object_of(place.value.get("result", place.value)))
        or found.get("state") == "errored"
    ),
    "vitest_name": lambda place: _within(text_of(fetch(place, "^.fullName")), place.value["name"]),
    "vitest_fails": lambda place: "mean" not in place.value,
    "vitest_groups": lambda place: "mean" not in place.value and place.value.get("rank") == 0,
    "julia_trials": lambda whole: whole.value["values"]["Trial"],
    "julia_keys": lambda place: {"group": str(place.entries[0].key).rpartition("/")[0] or None},
    "julia_notes": lambda read: [
        Caution("left-out", f"{left} summaries are left out: no samples")
        for left in [sum(len(read.whole.value["values"].get(kind, ())) for kind in _SUMMARIES)]
        if left
    ],
    "jmh_warmups": lambda place: place.value["warmupIterations"] * _jmh_planned(place),
    "jmh_arguments": lambda place: {
        "jvmArgs": " ".join(map(str, place.value.get("jvmArgs") or ()))
    },
    "jmh_benchmark": lambda place: {"benchmark": _BROKEN.sub(r"\1", place.value["benchmark"])},
    "jmh_metric": lambda place: tuple(FORMATS["jmh"].get(mode := _jmh_mode(place), (mode, None))),
    "jmh_secondary": lambda place: [
        key
        for key, one in place.value["secondaryMetrics"].items()
        if isinstance(one, dict) and not one.keys().isdisjoint(_RAW)
    ],
    "jmh_samples": lambda read: any(one.value.get("mode") == "sample" for (one,) in read.groups),
    "jmh_alone": lambda read: (
        (alone := sum(one.value.get("forks") == 0 for (one,) in read.groups)) > 0
        and FORMATS["losses"]["jmh-log"]["one-process"].format(
            alone=alone, results=len(read.groups)
        )
    ),
    "jmh_notes": lambda read: [
        Caution("forks-missing", f"{_jmh_name(one)!r} has {of - missing} of its {of} forks")
        for (one,) in read.groups
        if (missing := fetch(one, _jmh_missing)) and (of := _jmh_planned(one))
    ],
    "dotnet_variant": lambda place: place.entries[0].value["variants"].get(_job(place.value)),
    "dotnet_rule": lambda cells: "the file's name" if cells[0].variant is None else "the job",
    "dotnet_session": lambda place: re.search(r"\d{8}-\d{6}$", place.entries[0].value["Title"])[0],  # type: ignore[index]
    "dotnet_operations": lambda place: [row.get("Operations") for _, row in _dotnet_rows(place)],
    "dotnet_warmups": lambda place: (
        len(_staged(place).get("Warmup", [])) if place.value.get("Measurements") else None
    ),
    "dotnet_fails": lambda place: (
        (not _dotnet_rows(place) and place.value.get("Statistics") is None) or None
    ),
    "dotnet_brief": lambda read: not read.counts,
    "dotnet_launch": lambda read: max(len(one.processes) for one in read.cells) == 1,
    "dotnet_memory": lambda read: any(
        isinstance(one.value.get("Memory"), dict) for (one,) in read.groups
    ),
    # a title that nobody gave is "benchmark"
    "nanobench_name": lambda place: (
        place.value["name"]
        if place.value.get("title") in (None, "", "benchmark")
        else f"{place.value['title']}/{place.value['name']}"
    ),
    "nanobench_batches": lambda read: any(
        cell.keys.get("batch", "1") not in ("1", "1.0") for cell in read.cells
    ),
    "krun_benchmark": lambda place: str(place.entries[-1].key).partition(":")[0],
    "krun_variant": lambda place: str(place.entries[-1].key).partition(":")[2] or None,
    "krun_crashes": lambda place: sum(not one for one in place.value),
    "llama": lambda opened, _keeps: (
        [found] if "samples_ns" in (found := opened.documents()) else found
    ),
    "llama_keys": lambda place: place.value,
    "lnt_name": lambda place: re.sub(
        r"\.(exec|compile|score|code_size|mem_bytes)$", "", place.value["Name"]
    ),
    "lnt_status": lambda place: place.value["Name"].rpartition(".")[2] in ("status", "hash"),
    "collected_name": lambda place: " ".join(
        [f"{place.entries[1].key}:"] * (len(place.entries[0].value["entries"]) > 1)
        + [str(place.value["name"])]
    ),
}


ROWS = rows_in(
    shipped("analysis/importers/json_rows.toml").read_text("utf-8"),
    {name.removeprefix("_"): one for name, one in globals().items()} | _SAID,
)
