"""Where compiled kernels are kept, and that a user hears of a compilation. The choice is made once, on
import, so what it means for others is seen in processes of their own."""

import io
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from analysis.announcing import announced
from analysis.record.printer import Printer
from analysis.stats import compiled, workers

ROOT = Path(__file__).parents[2]
COMPILING = "compiling the statistics, once, about 6 s"
KERNEL = """
from analysis.stats.compiled import kernel

@kernel
def total(values):
    done = 0.0
    for value in values:
        done += value
    return done
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def toy(tmp_path):
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "toy_kernel.py").write_text(KERNEL)
    return folder


@pytest.fixture
def unnamed(monkeypatch):
    """Name no folder for kernels."""
    for name in ("FAIRTRIAL_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_the_first_use_is_announced_and_a_second_copy_of_the_product_compiles_nothing(
    unnamed, tmp_path
):
    """Two clones or environments with one cache, which is the user's, and then named."""
    program = (
        "import io, sys; sys.path.insert(0, sys.argv[1])\n"
        "from analysis.stats import compiled\n"
        "assert compiled.__file__.startswith(sys.argv[1])\n"
        "import numpy as np\n"
        "from analysis.methods.mixture.fit_kernel import sorted_dips\n"
        "from analysis.announcing import announced\n"
        "from analysis.record.printer import Printer\n"
        "class Terminal(io.StringIO): isatty = lambda self: True\n"
        "screen = Terminal()\n"
        "with announced(Printer(screen), 'mixture'): found = sorted_dips(np.arange(4.0)[None])[0]\n"
        "print('compiling the statistics, once' in screen.getvalue())\n"
        "print(found)\n"
        "print(compiled.CACHE.folder)\n"
    )
    home = tmp_path / "home"
    folder = home / ".cache" / "fairtrial" / "kernels"
    said = []
    for variables in ({"HOME": str(home)}, {"HOME": str(tmp_path), "FAIRTRIAL_CACHE": str(folder)}):
        copy = tmp_path / f"copy{len(said)}"
        shutil.copytree(ROOT / "analysis", copy / "analysis", ignore=shutil.ignore_patterns("_*_"))
        done = subprocess.run(
            [sys.executable, "-P", "-c", program, str(copy)],
            cwd=tmp_path,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        said.append(done.stdout.splitlines())
    assert [one[0] for one in said] == ["True", "False"]
    assert said[0][1:] == said[1][1:]
    assert float(said[1][1]) == 1 / 8  # evenly spaced: the least dip there is, 1 / 2n
    assert said[1][2] == str(folder)


def test_the_folder_is_the_one_that_is_named_or_the_users(unnamed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value, folder in (
        ("HOME", str(tmp_path / "home"), "home/.cache/fairtrial/kernels"),
        ("XDG_CACHE_HOME", str(tmp_path / "xdg"), "xdg/fairtrial/kernels"),
        ("NUMBA_CACHE_DIR", str(tmp_path / "numba"), "numba"),
        ("FAIRTRIAL_CACHE", "named", "named"),  # each goes before those above
    ):
        monkeypatch.setenv(name, value)
        assert workers.cache() == workers.Cache(folder=tmp_path / folder)
        assert (tmp_path / folder).is_dir()


def test_without_any_folder_kernels_work_and_the_user_hears_why(
    unnamed, use, toy, tmp_path, monkeypatch
):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("HOME", str(blocked))
    monkeypatch.setattr(compiled, "CACHE", workers.cache())
    assert compiled.CACHE.folder is None
    assert use() == [
        "compiling the statistics, about 6 s",
        f"note  the statistics are compiled on every use, because {compiled.CACHE.why}; name a folder in "
        "$FAIRTRIAL_CACHE",
        "compiling the statistics, about 6 s",
    ]
    assert use() != []
    assert not list(toy.rglob("*.nbi"))


@pytest.fixture
def use(toy, tmp_path, monkeypatch):
    """Load the kernel from the cache, as a new process would, and give what the user hears."""
    monkeypatch.setattr(compiled, "CACHE", workers.Cache(folder=tmp_path))

    def use(text: str = KERNEL, name: str = "toy_kernel.py") -> list[str]:
        compiled._homeless.clear()  # as in a new process
        compiled._lost.clear()
        screen = Terminal()
        (toy / name).write_text(text)
        total = runpy.run_path(str(toy / name))["total"]
        with announced(Printer(screen), "mixture"):
            assert total(np.arange(4.0)) == 6.0
            assert total(np.arange(4)) == 6  # other types: machine code of its own
        return [said for text in re.split("[\r\n\b]", screen.getvalue()) if (said := text.strip())]

    assert use() == [COMPILING] * 2
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


def test_only_what_machine_code_is_made_from_compiles_it_anew(use):
    assert use(PARTS) != []
    for old, new, compiles in (
        ("", "# a comment\n\n\n", False),
        ("return values[0]", "return values[-1]", False),  # another kernel's
        ("return a + b", "return b + a", True),  # of what it calls
        ("START = 0.0", "START = -0.0", True),  # what it names
        ("done = START", "done = 0.0", True),
    ):
        assert bool(use(PARTS.replace(old, new, 1))) == compiles, new
        assert use(PARTS) == []  # and what was, is still there


def test_another_place_finds_the_same_machine_code(use):
    assert use(name="elsewhere.py") == []


def test_another_compiler_and_another_processor_make_their_own(use, monkeypatch):
    for what in (compiled.numba, compiled.llvmlite):
        with monkeypatch.context() as other:
            other.setattr(what, "__version__", "0.0")
            assert use() != []
            assert use() == []
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


def test_damaged_machine_code_is_compiled_again(use, tmp_path):
    for damage in (torn, empty, spoilt):
        damage(kept(tmp_path)[0])
        assert use() == [COMPILING]
        assert use() == []


def test_what_cannot_be_kept_is_said(use, tmp_path):
    file = kept(tmp_path)[0]
    file.unlink()
    file.mkdir()  # stands for a full disk: nothing can be written there
    (said,) = set(use()) - {COMPILING}
    assert said.startswith(f"note  the compiled statistics could not be kept in {tmp_path}: ")
    assert [path for path in kept(tmp_path) if path.name.startswith(f"{file.name}.")] == []
