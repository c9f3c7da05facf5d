"""Where compiled kernels are kept, and that a user hears of a compilation. The choice is made once, on
import, so each case about it is a process of its own."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from analysis.stats import compiled

ROOT = Path(__file__).parents[4]
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
        cwd=ROOT,
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
    monkeypatch.setattr(compiled, "CACHE", compiled.Cache(folder=tmp_path))

    def use(text: str = KERNEL, name: str = "toy_kernel.py") -> list[str]:
        compiled._announced.clear()  # as in a new process
        said: list[str] = []
        (toy / name).write_text(text)
        total = runpy.run_path(str(toy / name))["total"]
        with compiled.announcing(said.append):
            assert total(np.arange(4.0)) == 6.0
            assert total(np.arange(4)) == 6  # other types: machine code of its own
        return said

    assert len(use()) == 1  # once a process, not once for each
    assert use() == []
    return use


def kept(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


PARTS = """
from typing import NamedTuple
from analysis.stats.compiled import kernel

START = 0.0

@kernel
def _add(a, b):
    return a + b

@kernel
def other(values):
    return values[0]

@kernel
def total(values):
    done = START
    for value in values:
        done = _add(done, value)
    return done
"""


@pytest.mark.parametrize(
    ("old", "new", "compiles"),
    [
        ("", "# a comment\n\n\n", False),
        ("return values[0]", "return values[-1]", False),  # another kernel's
        ("return a + b", "return b + a", True),  # of what it calls
        ("START = 0.0", "START = -0.0", True),  # what it names
        ("done = START", "done = 0.0", True),
    ],
)
def test_only_what_machine_code_is_made_from_compiles_it_anew(use, old, new, compiles):
    use(PARTS)
    assert use(PARTS) == []
    assert bool(use(PARTS.replace(old, new, 1))) == compiles
    assert use(PARTS) == []  # and what was, is still there


def test_another_place_finds_the_same_machine_code(use):
    assert use(name="elsewhere.py") == []


@pytest.mark.parametrize("what", ["numba", "llvmlite"])
def test_another_compiler_makes_its_own(use, monkeypatch, what):
    monkeypatch.setattr(getattr(compiled, what), "__version__", "0.0")
    assert use() != []
    assert use() == []


def test_another_processor_makes_its_own(use, monkeypatch):
    codegen = compiled.numba.core.registry.cpu_target.target_context.codegen()
    triple, _, features = codegen.magic_tuple()
    monkeypatch.setattr(type(codegen), "magic_tuple", lambda _: (triple, "z80", features))
    assert use() != []
    assert use() == []


def test_named_fields_are_part_of_the_types(use):
    """Two fields of one type that change places leave the types' own text what it is."""
    text = (
        "from typing import NamedTuple\n"
        "from analysis.stats.compiled import kernel\n"
        "class Pair(NamedTuple):\n    a: int\n    b: int\n"
        "@kernel\ndef first(pair): return pair.a\n"
        "def total(values): return values.sum() + first(Pair(a=0, b=1))\n"
    )
    use(text)
    assert use(text) == []
    assert use(text.replace("a: int\n    b: int", "b: int\n    a: int")) != []


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def empty(path: Path) -> None:  # what a power failure leaves
    path.write_bytes(b"")


def spoilt(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [torn, empty, spoilt])
def test_damaged_machine_code_is_compiled_again(use, tmp_path, damage):
    damage(kept(tmp_path)[0])
    (said,) = use()
    assert said.startswith("compiling the numeric kernels")
    assert use() == []


def test_what_cannot_be_kept_is_said(use, tmp_path):
    file = kept(tmp_path)[0]
    file.unlink()
    file.mkdir()  # stands for a full disk: nothing can be written there
    assert use()[1].startswith(f"the compiled kernels could not be kept in {tmp_path}: ")
    assert [path for path in kept(tmp_path) if path.name.startswith(f"{file.name}.")] == []


def test_a_second_copy_of_the_product_compiles_nothing(tmp_path):
    """Two clones or environments with one cache; the first compiles, so the test sees something."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np\n"
        "from analysis.stats import compiled\n"
        "assert compiled.__file__.startswith(sys.argv[1])\n"
        "from analysis.methods.mixture.calibration_kernel import sorted_dips\n"
        "with compiled.announcing(print): print(sorted_dips(np.arange(8.0)[None, :])[0])\n"
    )
    said = []
    for name in ("one", "two"):
        copy = tmp_path / name
        shutil.copytree(ROOT / "analysis", copy / "analysis", ignore=shutil.ignore_patterns("_*_"))
        shutil.copytree(ROOT / "harness", copy / "harness", ignore=shutil.ignore_patterns("_*_"))
        command = [sys.executable, "-P", "-c", program, str(copy)]
        environment = {**os.environ, "FAIRTRIAL_CACHE": str(tmp_path / "kept")}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        said.append(done.stdout)
    assert said[0].startswith("compiling the numeric kernels")
    assert said == [said[0], said[0].splitlines()[-1] + "\n"]
