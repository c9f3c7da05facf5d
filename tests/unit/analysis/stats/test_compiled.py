"""Where compiled kernels are kept, and that a user hears of a compilation. The choice is made once, on
import, so each case about it is a process of its own."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from analysis.stats import compiled

PROGRAM = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from analysis.stats.compiled import CACHE, announcing
import toy_kernel
with announcing(lambda said: print("SAID", said)):
    assert toy_kernel.total(np.arange(4.0)) == 6.0
    assert toy_kernel.total(np.arange(5.0)) == 10.0
print("FOLDER", CACHE.folder)
"""
KERNEL = """
from analysis.stats.compiled import kernel

@kernel
def total(values):
    done = 0.0
    for value in values:
        done += value
    return done
"""


@pytest.fixture
def toy(tmp_path):
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "toy_kernel.py").write_text(KERNEL)
    return folder


def execute(toy: Path, **variables: str) -> str:
    known = {
        k: v
        for k, v in os.environ.items()
        if k not in ("FAIRTRIAL_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(toy)],
        env={**known, **variables},
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_first_use_is_announced_and_the_second_is_not(toy, tmp_path):
    first = execute(toy, FAIRTRIAL_CACHE=str(tmp_path / "kept"))
    assert first.count("SAID compiling the numeric kernels") == 1
    assert f"kept in {tmp_path / 'kept'}" in first
    second = execute(toy, FAIRTRIAL_CACHE=str(tmp_path / "kept"))
    assert "SAID" not in second


def test_the_users_cache_is_taken_without_a_word_of_where(toy, tmp_path):
    assert f"FOLDER {tmp_path / 'home' / '.cache' / 'fairtrial'}" in execute(
        toy, HOME=str(tmp_path / "home")
    )


def test_without_any_folder_kernels_work_and_the_user_hears_why(toy, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    said = execute(toy, HOME=str(blocked))
    assert "on every use, because" in said
    assert "$FAIRTRIAL_CACHE" in said
    assert "FOLDER None" in said
    assert not (toy / "__pycache__").exists() or not list((toy / "__pycache__").glob("*.nbi"))


@pytest.fixture
def use(toy, tmp_path, monkeypatch):
    """Load the kernel from the cache, as a new process would, and give what the user hears."""
    folder = tmp_path / "kept"
    monkeypatch.setitem(vars(numba.config), "CACHE_DIR", str(folder))
    monkeypatch.setattr(compiled, "CACHE", compiled.Cache(folder=folder))

    def use() -> list[str]:
        compiled._announced.clear()  # as in a new process
        said: list[str] = []
        total = runpy.run_path(str(toy / "toy_kernel.py"))["total"]
        with compiled.announcing(said.append):
            assert total(np.arange(4.0)) == 6.0
        return said

    use()
    assert use() == []
    return use


def test_compiling_is_said_once_a_process(toy, tmp_path, monkeypatch, use):
    # first use, A15: it was said three times, for three sets of kernels
    for expected in (1, 0):
        file, *_ = (tmp_path / "kept").rglob("*total*.nbi")
        file.unlink()
        said: list[str] = []
        if expected:
            compiled._announced.clear()
        total = runpy.run_path(str(toy / "toy_kernel.py"))["total"]
        with compiled.announcing(said.append):
            assert total(np.arange(4.0)) == 6.0
        assert len(said) == expected


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def empty(path: Path) -> None:  # what a power failure leaves
    path.write_bytes(b"")


def spoilt(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [torn, empty, spoilt])
def test_damaged_machine_code_is_compiled_again(use, tmp_path, damage, ending):
    (file,) = (tmp_path / "kept").rglob(f"*total*.{ending}")
    damage(file)
    (said,) = use()
    assert said.startswith("compiling the numeric kernels")
    assert use() == []


def test_what_cannot_be_kept_is_said(use, tmp_path):
    (file,) = (tmp_path / "kept").rglob("*total*.nbc")
    file.unlink()
    file.mkdir()  # stands for a full disk: nothing can be written there
    assert use()[1].startswith(f"the compiled kernels could not be kept in {tmp_path / 'kept'}: ")
