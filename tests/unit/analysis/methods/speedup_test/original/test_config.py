import os
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import AnalysisError, UsageError
from analysis.methods.speedup_test.original import (
    NothingLeftError,
    looks_like_speedup_config,
    read_speedup_config,
)

HEADING = "Name,Sample1,Sample2,ConfLevel,Coef\n"
ROW = "one,a.1,a.2,,\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write("a.1", "2.02\n2.25\n2.3\n")
    write("a.2", "1.02\n1.05\n")
    return folder


def write(name: str, content: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(text: str | bytes):
    return read_speedup_config(write("b.cfg", text))


def problem(text: str | bytes) -> UsageError:
    with pytest.raises(UsageError) as error:
        read(text)
    return error.value


def reasons(sample: str | bytes, mode: int = 0o644) -> tuple[str, ...]:
    write("bad", sample).chmod(mode)
    config = read(f"{HEADING}{ROW}two,a.1,bad,,\n")
    assert config.baseline.benchmarks == config.candidate.benchmarks == ("one",)
    (out,) = config.left_out
    assert (out.name, out.line) == ("two", 3)
    return out.reasons


# ---- what is read


def test_the_five_columns() -> None:
    config = read(HEADING + '"The first, of ""two""","a.1","a.2",0.9,2\n"b","a.2","a.1",NA,NA\n')
    assert config.path == "b.cfg"
    assert config.baseline.benchmarks == ('The first, of "two"', "b")
    assert config.baseline.samples[0].tolist() == [2.02, 2.25, 2.3]
    assert config.candidate.samples[0].tolist() == [1.02, 1.05]
    assert config.candidate.samples[1].tolist() == [2.02, 2.25, 2.3]
    assert (config.baseline.name, config.candidate.name) == ("initial", "optimised")
    assert (config.baseline.better, config.baseline.unit) == ("lower", "s")
    assert dict(config.confidences) == {'The first, of "two"': 0.9, "b": None}
    assert dict(config.coefficients) == {'The first, of "two"': 2.0, "b": None}
    assert (config.left_out, config.cautions) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        ROW,
        HEADING + ROW,
        HEADING.lower() + ROW,
        f"\ufeff{HEADING}{ROW}",
        (HEADING + ROW).replace("\n", "\r\n"),
        (HEADING + ROW).replace("\n", "\r"),
        f"\n\n{HEADING}\n   \n{ROW}\n\n",
        HEADING + ROW.rstrip("\n"),
        'Name, Sample1, Sample2, ConfLevel, Coef\n one , "a.1", a.2 , NA ,\n',
        "Name,Coef,Sample2,Sample1,ConfLevel\none,,a.2,a.1,NA\n",
    ],
)
def test_forms_of_one_configuration(text: str) -> None:
    config = read(text)
    assert config.baseline.benchmarks == ("one",)
    assert config.baseline.runs == (3,)
    assert config.candidate.runs == (2,)
    assert dict(config.confidences) == dict(config.coefficients) == {"one": None}


def test_names_in_any_script() -> None:
    write("données/été.1", "1\n2\n3\n")
    config = read("naïve 測試,données/été.1,a.2,.5,1e3\n")
    assert config.baseline.benchmarks == ("naïve 測試",)
    assert dict(config.confidences) == {"naïve 測試": 0.5}
    assert dict(config.coefficients) == {"naïve 測試": 1000.0}


def test_results_cannot_be_changed() -> None:
    config = read(ROW)
    with pytest.raises(TypeError):
        config.confidences["one"] = 0.5
    with pytest.raises(ValueError, match="read-only"):
        config.baseline.samples[0][0] = 1


# ---- where samples are looked for


def test_paths_start_at_the_current_folder_then_at_the_configuration(tmp_path: Path) -> None:
    other = tmp_path / "other"
    write(str(other / "b.cfg"), "one,a.1,only.there,,\n")
    write(str(other / "a.1"), "7\n")
    write(str(other / "only.there"), "8\n")
    config = read_speedup_config(other / "b.cfg")
    assert config.baseline.samples[0].tolist() == [2.02, 2.25, 2.3]
    assert config.candidate.samples[0].tolist() == [8]
    (caution,) = config.cautions
    assert "both hold a.1: the current folder's was taken" in caution


def test_one_file_by_two_ways_is_no_doubt(tmp_path: Path) -> None:
    other = tmp_path / "other"
    write(str(other / "b.cfg"), ROW)
    for name in ("a.1", "a.2"):
        (other / name).symlink_to(Path(name).absolute())
    assert read_speedup_config(other / "b.cfg").cautions == ()
    absolute = Path("a.1").absolute()
    config = read_speedup_config(write(str(other / "c.cfg"), f"one,{absolute},{absolute},,\n"))
    assert config.cautions == ()


# ---- bad samples leave their benchmark out


def test_forms_of_numbers() -> None:
    write("a.1", "\ufeff 1.5\r\n\r\n\t+2. \n.5e1\n6E-1\n\n")
    assert read(ROW).baseline.samples[0].tolist() == [1.5, 2.0, 5.0, 0.6]
    write("a.1", "1.5\u00a0\n\u20032\n")
    assert read(ROW).baseline.samples[0].tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("time\n1\n", "line 1: 'time' is not a number"),
        ("1\n\n0\n", "line 3: '0' is not a positive finite number"),
        ("1e999\n", "line 1: '1e999' is not a positive finite number"),
        ("1\nnan\n", "line 2: 'nan' is not a number"),
        ("1\nNA\n", "line 2: NA is not a time"),
        ("1_0\n", "line 1: '1_0' is not a number"),
        ("٣\n", "line 1: '٣' is not a number"),
        ("1,5\n", "line 1: '1,5' is not one number"),
        ("1 2\n3 4\n", "line 1: '1 2' is not one number"),
        ("x" * 500, "line 1: '" + "x" * 39 + "…' is not a number"),
        ("", "holds no value"),
        (" \n\r\n", "holds no value"),
        (b"\x00\xff\xfe\x80", "no UTF-8 text (byte 1)"),
        (b"\x7fELF\x01\x02\n", "line 1: '\\x7fELF\\x01\\x02' is not a number"),
    ],
)
def test_bad_values(content: str | bytes, says: str) -> None:
    (reason,) = reasons(content)
    assert reason.startswith("File 'bad'")
    assert says in reason


def test_what_is_no_file(here: Path) -> None:
    (here / "folder").mkdir()
    os.mkfifo(here / "pipe")
    (here / "loop").symlink_to("loop")
    long = "x" * 300
    config = read(
        f"{ROW}two,gone.1,gone.2,,\nthree,folder,a.2,,\nfour,a.1,pipe,,\nfive,loop,loop,,\n"
        f"six,{long},a.1,,\nseven,a.1/x,a.1,,\n"
    )
    said = {out.name: out.reasons for out in config.left_out}
    assert said["two"] == (
        "File 'gone.1' is not readable: No such file or directory",
        "File 'gone.2' is not readable: No such file or directory",
    )
    assert said["three"] == ("File 'folder' is not readable: it is a directory",)
    assert said["four"] == ("File 'pipe' is not readable: it is not a regular file",)
    assert len(said["five"]) == 1
    assert said["six"] == (f"File '{long}' is not readable: File name too long",)
    assert said["seven"] == ("File 'a.1/x' is not readable: Not a directory",)


@pytest.mark.powerless
@pytest.mark.usefixtures("unreadable_files")
def test_file_that_must_not_be_read() -> None:
    (reason,) = reasons("1\n", mode=0)
    assert reason == "File 'bad' is not readable: Permission denied"


def test_nothing_left() -> None:
    with pytest.raises(NothingLeftError, match="only benchmark was left out") as one:
        read("one,gone,a.1,,\n")
    assert isinstance(one.value, AnalysisError)
    assert one.value.exit_code == 6
    assert "b.cfg:1: 'one': File 'gone' is not readable" in str(one.value)
    rows = "".join(f"b{k},gone,a.1,,\n" for k in range(30))
    with pytest.raises(NothingLeftError, match="each of the 30 benchmarks") as many:
        read(rows)
    assert "and 10 more" in str(many.value)
    assert len(many.value.left_out) == 30
    with pytest.raises(NothingLeftError, match="each of the 20 benchmarks") as all_told:
        read("".join(f"b{k},gone,a.1,,\n" for k in range(20)))
    assert "'b19'" in str(all_told.value)
    assert " more" not in str(all_told.value)


# ---- wrong configurations


@pytest.mark.parametrize(
    ("row", "what", "fix"),
    [
        ("one,a.1,a.2", "this line has 3 fields", "all four commas"),
        ("one,a.1,a.2,,,", "this line has 6 fields", "exactly five"),
        ("one;a.1;a.2;;", "this line has 1 field", "by commas"),
        ("one\ta.1\ta.2\t\t", "this line has 1 field", "by commas"),
        (",a.1,a.2,,", "Name is empty", "name the benchmark"),
        ("one,,a.2,,", "Sample1 is missing", "name the file"),
        ("one,a.1,NA,,", "Sample2 is missing", "name the file"),
        ("one,a.1,a.2,99.9 %,", "ConfLevel '99.9 %' is not", "write 0.999 for 99.9 %"),
        ("one,a.1,a.2,nan,", "ConfLevel 'nan' is not", "between 0 and 1"),
        ("one,a.1,a.2,,0", "Coef '0' is not a positive", "such as 1.5"),
        ("one,a.1,a.2,,1e999", "Coef '1e999' is not a positive", "such as 1.5"),
        ('"o\tne",a.1,a.2,,', "Name holds a control character", None),
        ("one,a\x00.1,a.2,,", "Sample1 holds a control character", None),
        ('"one,a.1,a.2,,', "the quotes do not match", "close each quoted field"),
        ('"one"x,a.1,a.2,,', "the quotes do not match", "close each quoted field"),
    ],
)
def test_wrong_row_is_told_with_its_line(row: str, what: str, fix: str | None) -> None:
    error = problem(f"{HEADING}\n{row}\n")
    assert error.where == "b.cfg:3"
    assert what in error.what
    assert fix is None or fix in (error.fix or "")
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("level", "fix"), [("95", "write 0.95 for 95 %"), ("0", "leave"), ("1", "leave")]
)
def test_a_level_out_of_range_counts_as_missing_and_says_so(level: str, fix: str) -> None:
    config = read(f"{HEADING}one,a.1,a.2,{level},\n")
    assert dict(config.confidences) == {"one": None}
    (caution,) = config.cautions
    assert (caution.code, caution.about) == ("level-ignored", ("one",))
    assert str(caution).startswith(
        f"b.cfg: line 2: ConfLevel '{level}' is not a number between 0 and 1"
    )
    assert "counts as missing" in caution
    assert fix in caution


def test_line_of_a_row_after_a_name_over_two_lines() -> None:
    error = problem(f'{HEADING}"a\nb",a.1,a.2,,\n{ROW}two,a.1\n')
    assert "b.cfg:2: Name holds a control character" in error.what
    assert "b.cfg:5: this line has 2 fields" in error.what


def test_names_that_stand_twice() -> None:
    error = problem(f"{HEADING}{ROW}two,a.1,a.2,,\n{ROW}")
    assert error.where == "b.cfg:4"
    assert "'one' stands here a second time, first on line 2" in error.what


def test_wrong_headings() -> None:
    error = problem("Name,Sample1,Sample2,Level,Coef\n" + ROW)
    assert (error.where, error.fix) == ("b.cfg:1", f"write {HEADING.strip()}")
    assert "headings" in error.what


def test_all_problems_are_told_at_once() -> None:
    error = problem(f"{HEADING}{ROW}two,a.1\nthree,a.1,a.2,high,-1\n{ROW}")
    assert error.where == "b.cfg"
    lines = error.what.splitlines()
    assert lines[0] == "the configuration has 4 problems"
    assert [line.strip()[:8] for line in lines if "b.cfg:" in line] == [
        "b.cfg:3:",
        "b.cfg:4:",
        "b.cfg:4:",
        "b.cfg:5:",
    ]
    error = problem("x\n" * 50)
    assert error.what.endswith("and 30 more")


@pytest.mark.parametrize("text", ["", "\n\n", HEADING])
def test_configuration_of_nothing(text: str) -> None:
    error = problem(text)
    assert "names no benchmark" in error.what
    assert HEADING.strip() in (error.fix or "")


def test_configuration_that_cannot_be_read(here: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_speedup_config("gone.cfg")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        read_speedup_config(here)
    error = problem("é,a.1,a.2,,\n".encode("latin1"))
    assert "not UTF-8 text (byte 0)" in error.what
    assert "iconv" in (error.fix or "")


# ---- what is taken for a configuration


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.cfg", "", True),
        ("x.CFG", b"\xff\xfe", True),
        ("x.csv", HEADING, True),
        ("x.csv", f"\ufeff\n{HEADING.lower()}", True),
        ("x.csv", '"Name","Sample1","Sample2","ConfLevel","Coef"\n', True),
        ("x.csv", "Name,Sample1,Sample2\n", True),
        ("x.csv", "one,a.1,a.2,NA,\n", True),
        ("x", "one,a.1,a.2,0.95,1.5\n", True),
        ("x.csv", "one,1,2,3,4\n", False),
        ("x.csv", "one,a.1,a.2\n", False),
        ("x.csv", "benchmark,r1,r2,r3,r4\n", False),
        ("x.csv", "", False),
        ("x.json", '{"one": [1, 2]}', False),
        ("x.csv", '"one', False),
        ("x.csv", b"\xff\x00\xfe", False),
    ],
)
def test_what_looks_like_a_configuration(name: str, content: str | bytes, expected: bool) -> None:
    assert looks_like_speedup_config(write(name, content)) is expected


def test_missing_file_looks_like_none() -> None:
    assert not looks_like_speedup_config(Path("gone.csv"))


# ---- size


def test_large_samples_are_read_whole_and_their_bad_line_is_found() -> None:
    count = 80_000
    rows = [f"{1 + k / count:.6f}" for k in range(count)]
    write("a.1", "\n".join(rows))
    values = read(ROW).baseline.samples[0]
    assert len(values) == count
    assert np.isclose(values[-1], 2.0)
    rows[-1] = "-"
    (reason,) = reasons("\n".join(rows))
    assert reason == f"File 'bad', line {count}: '-' is not a number"


def test_a_thousand_benchmarks() -> None:
    config = read(HEADING + "".join(f"b{k},a.1,a.2,0.9,{k + 1}\n" for k in range(1000)))
    assert len(config.baseline.benchmarks) == 1000
    assert config.coefficients["b999"] == 1000.0
