"""The four files: refused early where they cannot stand, and each whole or not there."""

import os
from pathlib import Path

import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, UsageError
from analysis.methods.speedup_test.compare import speedup_test_suite
from analysis.methods.speedup_test.original import LeftOut, NothingLeftError, OriginalFiles
from analysis.methods.speedup_test.result import SpeedupSuite

OUT = LeftOut(name="bad", line=3, reasons=("File 'x' is not readable: gone",))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def suite() -> SpeedupSuite:
    old, new = (
        PerformanceMatrix.from_samples(name, {"one": [k, 1.1 * k, 1.3 * k]}, better="lower")
        for name, k in (("old", 2.0), ("new", 1.0))
    )
    return speedup_test_suite(baseline=old, candidate=new)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_all_four_are_written(here: Path, suite: SpeedupSuite) -> None:
    files = OriginalFiles("x")
    files.write("new against old", suite, (OUT,), elapsed_s=1.5)
    assert names(here) == list(files.names) == ["x.out", "x.report", "x.status", "x.warning"]
    assert Path("x.status").read_text() == "elapsed time: 1.500 s\n"
    assert Path("x.out").read_text().splitlines()[1].startswith('"one",2,2,')
    assert "Analysis report of new against old" in Path("x.report").read_text()
    assert "bad :\n\nFile 'x' is not readable: gone" in Path("x.warning").read_text()


def test_a_failure_leaves_older_results(here: Path, suite: SpeedupSuite) -> None:
    files = OriginalFiles("x")
    files.write("one", suite, (), elapsed_s=0)
    before = {name: Path(name).read_bytes() for name in files.names}
    files.write_failure("two", AnalysisError("nothing can be said", "here"))
    changed = [name for name in files.names if Path(name).read_bytes() != before[name]]
    assert changed == ["x.status", "x.warning"]
    assert Path("x.status").read_text().startswith("error: here: nothing can be said\n")
    assert "0 warning(s)." in Path("x.warning").read_text()
    files.write_failure("two", NothingLeftError(Path("b.cfg"), (OUT,)))
    assert "2 warning(s)." in Path("x.warning").read_text()


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_nothing_is_left_behind_when_they_cannot_be_written(
    here: Path, suite: SpeedupSuite, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(UsageError, match="cannot be written: No space left") as error:
        OriginalFiles("x").write("one", suite, (), elapsed_s=0)
    assert error.value.where == "x"
    assert names(here) == []


def test_what_is_no_prefix_is_refused_at_once(here: Path) -> None:
    (here / "taken.warning").mkdir()
    for prefix, says in (
        ("", "not a prefix of file names"),
        ("here/", "not a prefix of file names"),
        ("gone/x", "there is no folder 'gone'"),
        ("taken", "'taken.warning' is a directory"),
        ("x" * 300, "File name too long"),
    ):
        with pytest.raises(UsageError, match=says):
            OriginalFiles(prefix)


@pytest.mark.powerless
@pytest.mark.usefixtures("unreadable_files")
def test_a_folder_that_must_not_be_written(here: Path) -> None:
    here.chmod(0o500)
    try:
        with pytest.raises(UsageError, match="is not writable"):
            OriginalFiles("x")
    finally:
        here.chmod(0o700)
