from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import UsageError
from analysis.record.manifest import OPTIONS_ASKED, asking
from harness.cli import main
from tests.unit.analysis.commands.conftest import execute

Build = Callable[..., Any]


@pytest.fixture
def trial(synthetic: Build, tmp_path: Path) -> str:
    benches = [f"b{k}" for k in range(6)]
    data = {
        "old": {b: [1.0, 1.01, 1.02, 1.03, 1.04] for b in benches},
        "new": {b: [0.5, 0.51, 0.52, 0.53, 0.54] for b in benches},
    }
    return str(synthetic(data).write(tmp_path / "runs" / "one"))


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rows = [("x", 1.0), ("y", 2.0)]
    for name, scale in rows:
        lines = [f"b{k},{scale},{scale * 1.01},{scale * 1.02}" for k in range(6)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    return str(tmp_path / "x.csv"), str(tmp_path / "y.csv")


def test_hpt_of_files(files: tuple[str, str]) -> None:
    _, text = execute("hpt", *files, "--better", "lower", "--json")
    data = json.loads(text)
    assert (data["candidate"], data["baseline"], data["outcome"]) == ("x", "y", "candidate")
    _, text = execute("hpt", *files, "--better", "higher", "--json")
    assert json.loads(text)["outcome"] == "baseline"
    _, text = execute("hpt", *files, "--better", "lower", "--alpha", "0.01", "--json")
    assert {row["winner"] for row in json.loads(text)["benchmarks"]} == {"tie"}
    _, text = execute("hpt", *files, "--better", "lower", "--scores", "raw", "--ties", "exact")
    assert "x is better than y" in text


def test_hpt_gives_the_three_conclusions_and_the_context(files: tuple[str, str]) -> None:
    _, text = execute("hpt", *files, "--better", "lower", "--speedup", "2.5", "--confidence", "0.9")
    data = json.loads(
        execute(
            *("hpt", *files, "--better", "lower", "--speedup", "2.5"),
            *("--confidence", "0.9", "--json"),
        )[1]
    )
    assert data["speedup_under_test"] == 2.5
    assert data["outcome"] == "baseline"
    assert data["without_speedup"]["outcome"] == "candidate"
    assert data["r_speedup"]["printed"] == "1.980"
    assert data["r_speedup"]["required"] == 0.9
    assert len(data["conclusions"]) == 3
    for sentence in data["conclusions"]:
        assert sentence in " ".join(text.split())
    assert [row["of"] for row in data["context"]["geometric_means"]] == ["medians", "means", "runs"]
    assert "paired t on log ratios" in text


@pytest.mark.parametrize("first", ["a", "n"])  # which is a size where nobody says how numbers lie
def test_hpt_by_columns(first: str, tmp_path: Path) -> None:
    Path(side := str(tmp_path / "x.csv")).write_text(f"{first},b\n1,2\n1,2\n1,2\n")
    with asking(OPTIONS_ASKED, {"layout": "columns"}):  # as the command does
        _, text = execute("hpt", side, side, "--better=lower", "--layout=columns", "--json")
    assert [row["name"] for row in json.loads(text)["benchmarks"]] == [first, "b"]


def test_hpt_refusals(trial: str, files: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="which direction is better"):
        execute("hpt", *files)
    with pytest.raises(UsageError, match="BASELINE is missing"):
        execute("hpt", files[0], "--better", "lower")
    with pytest.raises(UsageError, match="several variants") as error:
        execute("hpt", trial, files[0])
    assert error.value.fix == f"write {trial}:VARIANT; here: old, new"
    with pytest.raises(UsageError, match="neither a matrix file nor"):
        execute("hpt", "nothing.csv", files[0])
    with pytest.raises(UsageError, match="lower values are better"):
        execute("hpt", f"{trial}:new", f"{trial}:old", "--better", "higher")
    with pytest.raises(UsageError, match="--metric is for trials"):
        execute("hpt", *files, "--better", "lower", "--metric", "wall")
    with pytest.raises(UsageError, match="no variant 'newer'"):
        execute("hpt", f"{trial}:newer", f"{trial}:old")


# --- The command ``mixture``: how many resamples are drawn where nobody says


@pytest.mark.parametrize(
    ("benchmarks", "words", "resamples"),
    [
        ("x", [], 500),
        ("xy", [], 200),
        ("xy", ["--benchmark", "y"], 500),
        ("xy", ["--resamples", "7"], 7),
    ],
)
def test_one_benchmark_gets_more_resamples_than_each_of_several(
    synthetic, tmp_path, monkeypatch, benchmarks, words, resamples
):
    seen = []

    def asked(*_, options, **__):
        seen.append(options.resamples)
        raise UsageError("enough")

    monkeypatch.setattr("analysis.methods.mixture.report.mixture_report", asked)
    times = {"old": {bench: [1.0, 1.1, 0.9, 1.2] for bench in benchmarks}}
    trial = synthetic(times).write(tmp_path / "runs" / "one")
    main(["mixture", str(trial), *words], io.StringIO(), io.StringIO())
    assert seen == [resamples]


# --- The same bytes are the same data, in every command and under every name
#
# Authority: the bytes. One number a line was six benchmarks of one run under .txt, and one benchmark of six
# runs under .dat, with opposite answers.


NAMES = ("{}.txt", "{}.csv", "{}.dat", "{}.log", "{}")
OLD = ("1.52", "1.61", "1.43", "1.57", "1.49", "1.55", "1.59", "1.47")
NEW = ("1.12", "1.21", "1.03", "1.17", "1.09", "1.15", "1.19", "1.07")
DRESSES: dict[str, Callable[[tuple[str, ...]], str]] = {
    "plain": lambda cells: "".join(f"{one}\n" for one in cells),
    "quoted": lambda cells: "".join(f'"{one}"\n' for one in cells),
    "remarks": lambda cells: "# seconds\n\n" + "".join(f" {one}  # s\r\n" for one in cells),
}
PAIRED = (
    "verdict NEW OLD --better lower",
    "hpt NEW OLD --better lower",
    "resample NEW OLD --better lower",
    "speedup-test NEW OLD --better lower",
    "gate worse>2% NEW OLD --better lower",
    "plan NEW OLD --better lower",
    "diagnose NEW",
    "diagnose NEW --clt",
    "mixture NEW --better lower --resamples 10",
    "import NEW OLD --dry-run",
    "biplot NEW OLD --better lower",
)


def same_bytes_execute(command: str, folder: Path, name: str) -> tuple[int, str]:
    words = [
        str(folder / name.format(word.lower())) if word in ("NEW", "OLD") else word
        for word in command.split()
    ]
    out, err = io.StringIO(), io.StringIO()
    code = main([*words, "--json"], out, err)
    # what is said of progress depends on time
    told = (out.getvalue() or err.getvalue()).replace(f"{folder}/", "")
    return code, re.sub(r"\b(new|old)(\.(txt|csv|dat|log|tsv))?\b", r"\1", told)


def put(folder: Path, dress: str, name: str) -> None:
    folder.mkdir()
    for side, cells in (("new", NEW), ("old", OLD)):
        (folder / name.format(side)).write_bytes(DRESSES[dress](cells).encode())


@pytest.mark.parametrize("command", PAIRED)
def test_one_number_a_line_is_one_benchmark_in_every_command(command: str, tmp_path: Path) -> None:
    answers = set()
    # a reader of tables, one of trials, and the importer have all; who takes theirs, two names
    every = command.startswith(("hpt", "import", "verdict"))
    for dress in DRESSES if every else ("plain",):
        names = NAMES if every else NAMES[:3:2]
        for k, name in enumerate(names if dress == "plain" else NAMES[:1]):
            folder = tmp_path / f"{dress}{k}"
            put(folder, dress, name)
            answers.add(same_bytes_execute(command, folder, name))
    ((code, told),) = answers  # one answer
    if command.startswith(("plan", "gate", "biplot")):  # these need more than two bare lists
        assert "values" in told or "session" in told or "benchmark" in told
        return
    assert code == 0, told
    assert "values" in told


def test_a_layout_says_otherwise_everywhere(tmp_path: Path) -> None:
    put(tmp_path / "a", "plain", "{}.txt")
    for command, count in (("hpt NEW OLD --better lower", 8), ("diagnose NEW", 8)):
        code, told = same_bytes_execute(f"{command} --layout rows", tmp_path / "a", "{}.txt")
        assert code == 0
        assert len(json.loads(told)["benchmarks"]) == count
    _, told = same_bytes_execute("import NEW --dry-run --layout rows", tmp_path / "a", "{}.txt")
    assert len(json.loads(told)["cells"]) == 8
    path = tmp_path / "a" / "new.txt"
    assert PerformanceMatrix.read(path, better="lower").runs == (8,)
    assert PerformanceMatrix.read(path, better="lower", layout="rows").runs == (1,) * 8


def test_imported_lists_are_two_variants_of_one_benchmark(tmp_path: Path) -> None:
    put(tmp_path / "a", "quoted", "{}.txt")
    made = tmp_path / "made"
    out, err = io.StringIO(), io.StringIO()
    sides = [str(tmp_path / "a" / f"{one}.txt") for one in ("old", "new")]
    assert main(["import", *sides, "--better", "lower", "-o", str(made)], out, err) == 0
    out = io.StringIO()
    assert main(["hpt", f"{made}:new", f"{made}:old", "--json"], out, err) == 0, err.getvalue()
    assert [one["name"] for one in json.loads(out.getvalue())["benchmarks"]] == ["values"]


@pytest.mark.parametrize(
    ("text", "comma", "point"),
    [("1,5\n2,5\n3,5\n", [3], [2, 2, 2]), ("x;1,234;999;1,301\n", [3], [3])],
)
@pytest.mark.parametrize(
    "command",
    [
        "verdict NEW OLD --better lower",
        "diagnose NEW",
        "import NEW --dry-run",
        "mixture NEW",
        "hpt NEW OLD",
    ],
)
def test_two_readings_are_refused_in_every_command(
    command: str, text: str, comma: list[int], point: list[int], tmp_path: Path
) -> None:
    for side in ("new", "old"):
        (tmp_path / f"{side}.txt").write_text(text)
    code, told = same_bytes_execute(command, tmp_path, "{}.txt")
    assert code == 6
    assert "--decimal comma" in told
    assert "--decimal point" in told
    if command.startswith("import"):
        for said, counts in (("comma", comma), ("point", point)):
            _, told = same_bytes_execute(f"{command} --decimal {said}", tmp_path, "{}.txt")
            assert [one["values"] for one in json.loads(told)["cells"]] == counts
    for said, counts in (("comma", comma), ("point", point)):
        found = PerformanceMatrix.read(tmp_path / "new.txt", better="lower", decimal=said)  # type: ignore[arg-type]
        assert list(found.runs) == counts


def test_a_table_of_thousands_is_no_speedup_of_990(tmp_path: Path) -> None:
    rows = "".join(f"x\tnew\t{r}\t99{r}\nx\told\t{r}\t1,00{r}\n" for r in range(9))
    (tmp_path / "new.tsv").write_text(f"benchmark\tvariant\trun\ttime_ms\n{rows}")
    code, told = same_bytes_execute("verdict NEW", tmp_path, "{}.tsv")
    assert code == 6
    assert "--decimal" in told
    _, told = same_bytes_execute("verdict NEW --decimal point", tmp_path, "{}.tsv")
    (line,) = json.loads(told)["candidates"][0]["multilevel"]["benchmarks"]
    assert line["speedup"] == pytest.approx(994 / 1004, rel=1e-3)


BETTER = (
    "verdict NEW OLD",
    "gate worse>2% NEW OLD",
    "hpt NEW OLD",
    "resample NEW OLD",
    "speedup-test NEW OLD",
    "plan NEW OLD",
    "biplot NEW OLD",
    "gate worse>2% BOTH",
    "verdict BOTH",
    "diff NEW OLD",
    "mixture NEW OLD --resamples 10",
)


@pytest.mark.parametrize("command", BETTER)
def test_a_stated_direction_reaches_every_pair_of_files(command: str, tmp_path: Path) -> None:
    """``--better`` was refused with the advice to add ``--better``."""
    heads = "benchmark,run,score\n"
    for side, shift in (("new", 0.7), ("old", 0.5)):
        rows = "".join(
            f"{bench},{k},{10 * n + k % 7 + shift}\n"
            for n, bench in enumerate("xyz", 1)
            for k in range(9)
        )
        (tmp_path / f"{side}.csv").write_text(heads + rows)
    both = "benchmark,variant,run,score\n" + "".join(
        f"{bench},{side},{k},{10 * n + k % 7 + shift}\n"
        for side, shift in (("old", 0.5), ("new", 0.7))
        for n, bench in enumerate("xyz", 1)
        for k in range(9)
    )
    (tmp_path / "both.csv").write_text(both)
    command = command.replace("BOTH", str(tmp_path / "both.csv"))
    code, told = same_bytes_execute(command, tmp_path, "{}.csv")
    assert code in (2, 6), told  # nobody said a direction
    assert "--better" in told
    code, told = same_bytes_execute(f"{command} --better higher", tmp_path, "{}.csv")
    assert "--better" not in re.sub(r'"fairtrial [^"]*"', "", told)  # but in next commands
    if code in (0, 1, 7):
        found: Any = json.loads(told)
        assert found.get("better", "higher") == "higher"
    else:
        assert "session" in told  # of which these files have one
