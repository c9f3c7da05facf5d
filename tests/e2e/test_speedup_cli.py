"""`fairtrial speedup-test` as people call it on a configuration: its files, and faults."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "golden" / "speedup_test"
ENDINGS = (".out", ".report", ".status", ".warning")
CONFIG = (
    "Name,Sample1,Sample2,ConfLevel,Coef\n"
    '"First benchmark","bench1.data.1","bench1.data.2",NA,\n'
    '"Second benchmark","bench2.data.1","bench2.data.2",NA,NA\n'
    '"Third benchmark","bench3.data.1","bench3.data.2",,NA\n'
    '"Fourth benchmark","bench4.data.1","bench4.data.2",,\n'
)
SEARCH_FAILED = (
    "Unable to find a confidence level greater than 50% to guarantee the statistical "
    "significance of mean speedup."
)


@pytest.fixture
def example(lab):
    """Put the report's example into the lab."""
    for path in EXAMPLE.glob("bench*.data.*"):
        shutil.copy(path, lab.folder)
    (lab.folder / "bench.cfg").write_text(CONFIG)
    return lab


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def made(lab):
    """List what is not part of the example."""
    known = {path.name for path in EXAMPLE.iterdir()} | {"bench.cfg"}
    return sorted(path.name for path in lab.folder.iterdir() if path.name not in known)


FOUR = [f"bench.cfg{ending}" for ending in ENDINGS]


# ---- the report's example


@pytest.mark.parametrize("compatible", [False, True])
def test_published_results(example, compatible):
    done = example.run_fairtrial("speedup-test", "bench.cfg", *["--compatible"] * compatible)
    assert (done.returncode, done.stderr) == (0, "")
    assert made(example) == FOUR
    published = rows(EXAMPLE / "published_results.csv")
    if not compatible:
        published[3]["MeanConfLevel"] = "0.84"  # the highest level; the report's search gives 0.83
    assert rows(example.folder / "bench.cfg.out") == published
    report = (example.folder / "bench.cfg.report").read_text().splitlines()
    assert report[0] == "Analysis report of bench.cfg"
    for line in (
        "Overall gain (ExecutionTime=min) = 0.371",
        "Overall speedup (ExecutionTime=min) = 1.589",
        "Overall gain (ExecutionTime=mean) = 0.178",
        "Overall speedup (ExecutionTime=mean) = 1.216",
        "Overall gain (ExecutionTime=median) = 0.156",
        "Overall speedup (ExecutionTime=median) = 1.185",
        "The observed proportion of accelerated benchmarks (speedup of the mean) a/b = 3/4 = 0.75",
        "Proportion confidence interval (speedup of the mean) = [0.219; 0.987]",
        "The observed proportion of accelerated benchmarks (speedup of the median) a/b = 4/4 = 1",
        "Proportion confidence interval (speedup of the median) = [0.396; 1]",
        "The minimal needed number of randomly selected benchmarks is 289 (in order to have a "
        "precision r=0.05).",
    ):
        assert line in report


def test_published_warnings_and_status(example):
    assert example.run_fairtrial("speedup-test", "bench.cfg").returncode == 0
    lines = (example.folder / "bench.cfg.warning").read_text().splitlines()
    assert [line for line in lines if line and not line.startswith("Please")] == [
        "Warnings regarding analysis of bench.cfg",
        "First benchmark :",
        "Sample1 too small for applying the Student's t-test (speedup of the mean).",
        "Sample2 too small for applying the Student's t-test (speedup of the mean).",
        SEARCH_FAILED,
        "3 warning(s).",
    ]
    status = (example.folder / "bench.cfg.status").read_text()
    assert status.startswith("elapsed time: ")
    assert len(status.splitlines()) == 1


# ---- where files lie


def test_output_prefix_and_paths_from_elsewhere(example):
    (example.folder / "deep").mkdir()
    done = example.run_fairtrial(
        "speedup-test", "../bench.cfg", "-o", "of mine", cwd=example.folder / "deep"
    )
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (example.folder / "deep").iterdir())
    assert names == [f"of mine{ending}" for ending in ENDINGS]
    assert made(example) == ["deep"]
    title = (example.folder / "deep" / "of mine.warning").read_text().splitlines()[0]
    assert title == "Warnings regarding analysis of ../bench.cfg"


def test_names_in_any_script(example):
    (example.folder / "bench1.data.1").rename(example.folder / "été 測.1")
    path = example.folder / "bench.cfg"
    text = path.read_text().replace("bench1.data.1", "été 測.1")
    path.write_text(text.replace("First benchmark", 'naïve, ""測試""'), encoding="utf-8")
    done = example.run_fairtrial("speedup-test", "bench.cfg", "-o", "résultat")
    assert done.returncode == 0, done.stderr
    assert rows(example.folder / "résultat.out")[0]["Name"] == 'naïve, "測試"'
    assert 'naïve, "測試" :' in (example.folder / "résultat.warning").read_text("utf-8")


# ---- wrong usage


def test_wrong_configuration_is_told_with_its_lines(example):
    path = example.folder / "bench.cfg"
    path.write_text(path.read_text() + "fifth,bench1.data.1\nsixth,a,b,95%,\n")
    done = example.run_fairtrial("speedup-test", "bench.cfg")
    assert done.returncode == 2
    assert "bench.cfg:6: this line has 2 fields" in done.stderr
    assert "bench.cfg:7: ConfLevel '95%' is not a number between 0 and 1" in done.stderr
    assert made(example) == []


# ---- bad samples


def test_bad_samples_leave_their_benchmarks_out(example):
    (example.folder / "folder").mkdir()
    (example.folder / "binary").write_bytes(bytes(range(256)))
    (example.folder / "bad").write_text("1\n\nx\n")
    (example.folder / "empty").write_text("")
    with (example.folder / "bench.cfg").open("a") as file:
        for name in ("gone", "folder", "binary", "bad", "empty"):
            file.write(f"of {name},bench1.data.1,{name},,\n")
    done = example.run_fairtrial("speedup-test", "bench.cfg")
    assert done.returncode == 0, done.stderr
    assert len(rows(example.folder / "bench.cfg.out")) == 4
    text = (example.folder / "bench.cfg.warning").read_text()
    for line in (
        "of gone :",
        "File 'gone' is not readable: No such file or directory",
        "File 'folder' is not readable: it is a directory",
        "File 'binary' is not readable: it is no UTF-8 text (byte 128)",
        "File 'bad', line 3: 'x' is not a number",
        "File 'empty' holds no value",
        "13 warning(s).",
    ):
        assert line in text.splitlines()
    assert text.count("Cannot process benchmark: samples unavailable.") == 5
    assert "5 benchmarks of the configuration were left out" in " ".join(done.stdout.split())


@pytest.mark.powerless
@pytest.mark.usefixtures("unreadable_files")
def test_sample_that_must_not_be_read(example):
    (example.folder / "bench1.data.1").chmod(0)
    assert example.run_fairtrial("speedup-test", "bench.cfg").returncode == 0
    assert len(rows(example.folder / "bench.cfg.out")) == 3
    text = (example.folder / "bench.cfg.warning").read_text()
    assert "File 'bench1.data.1' is not readable: Permission denied" in text


# ---- size


def test_large_sample(lab):
    rng_free = [f"{1 + (k * 7919 % 100003) / 1e6:.6f}" for k in range(200_000)]
    (lab.folder / "x").write_text("\n".join(rng_free))
    (lab.folder / "y").write_text("\n".join(rng_free[:1000]))
    (lab.folder / "bench.cfg").write_text("one,x,y,,\n")
    done = lab.run_fairtrial("speedup-test", "bench.cfg")
    assert done.returncode == 0, done.stderr
    (row,) = rows(lab.folder / "bench.cfg.out")
    assert float(row["SpeedupMean"]) == pytest.approx(1, abs=0.01)


# ---- places that cannot be written


@pytest.mark.usefixtures("other_user")
def test_folder_that_cannot_be_written(example, open_folder):
    for path in EXAMPLE.glob("bench*.data.*"):
        shutil.copy(path, open_folder)
    (open_folder / "bench.cfg").write_text(CONFIG)
    (open_folder / "locked").mkdir(mode=0o555)
    done = example.run_fairtrial("speedup-test", "bench.cfg", "-o", "locked/x", other_user=True)
    assert done.returncode == 2
    assert "folder 'locked' is not writable" in done.stderr
    assert list((open_folder / "locked").iterdir()) == []
