"""`make demo` says how far it is, installs no more than it needs, and never trusts a half-made environment.

Authority: the specification of the first minute (what lasts longer than 1 s says what it does) and first
use of 0.2.0: `make demo` printed one line in 266 s, and installed what only the tests need.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "contract" / "make_venv.py"


@pytest.fixture
def maker(tmp_path, monkeypatch):
    """Give the script as a module in which nothing is installed: `called` is what it would execute."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    names = runpy.run_path(str(SCRIPT))
    inside = names["set_up"].__globals__
    called: list[str] = []

    def call(*words, environment=None):
        called.append(" ".join(words))
        if "venv" in words:
            (tmp_path / "env" / "bin").mkdir(parents=True)
            (tmp_path / "env" / "bin" / "pip").touch()
        for word in inside["refused"]:
            if word in called[-1]:
                return False
        if inside["interrupted"]:
            raise KeyboardInterrupt
        return True

    inside |= {"call": call, "refused": [], "interrupted": False, "places_of_pip": lambda _: {}}
    return SimpleNamespace(
        set_up=lambda key="k", extras="": inside["set_up"](tmp_path / "env", key, extras, "[1/4] "),
        set=inside.update,
        called=called,
        stamps=lambda: sorted(path.name for path in (tmp_path / "env").glob("*-*")),
        names=inside,
    )


def test_the_demo_gets_no_extras_and_the_tests_get_them_on_top(maker, capsys):
    assert maker.set_up() == 0
    assert maker.stamps() == ["installed-k"]
    assert not [words for words in maker.called if "[test" in words]
    maker.called.clear()
    assert maker.set_up(extras="test,dev") == 0
    assert maker.stamps() == ["ready-k"]
    assert not [words for words in maker.called if "-m venv" in words]
    assert [words for words in maker.called if "-e .[test,dev]" in words]
    maker.called.clear()
    assert maker.set_up() == 0
    assert maker.set_up(extras="test,dev") == 0
    assert maker.called == []
    assert capsys.readouterr().out.count("[1/4] Python packages: there already\n") == 2


@pytest.mark.parametrize("extras", ["", "test,dev"])
def test_what_was_interrupted_is_made_again_from_nothing(maker, extras):
    assert maker.set_up() == 0
    maker.set(interrupted=True)
    with pytest.raises(KeyboardInterrupt):
        maker.set_up("k" if extras else "another", extras)
    assert [stamp for stamp in maker.stamps() if stamp == "ready-k"] == []
    maker.set(interrupted=False)
    maker.called.clear()
    assert maker.set_up("k" if extras else "another") == 0
    assert "-m venv" in maker.called[0]


def test_another_key_makes_another_environment(maker):
    maker.set_up("old")
    assert maker.set_up("new") == 0
    assert maker.stamps() == ["installed-new"]
    assert sum("-m venv" in words for words in maker.called) == 2


def test_pip_installs_where_uv_cannot_be_had(maker):
    maker.set(refused=[" uv "])
    assert maker.set_up() == 0
    assert maker.called[-1].endswith("-e . -c tests/constraints.txt")
    assert " -m pip install " in maker.called[-1]
    assert " -q " not in maker.called[-1]


def test_nothing_is_left_where_no_way_leads_to_an_environment(maker, capsys):
    maker.set(refused=["install"])
    assert maker.set_up() == 1
    assert maker.stamps() == []
    assert "sudo apt install python3-venv" in capsys.readouterr().err


# --- the steps of the demo

STUB = """\
#!/bin/sh
case "$1" in run) mkdir -p runs/quickstart-1; esac
echo "did $*"
"""


@pytest.fixture
def clone(tmp_path):
    """Give a folder with the Makefile and an environment whose fairtrial only says what it is asked."""
    for name in ("pyproject.toml", "analysis/version.py", "tests/constraints.txt", "Makefile"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "tests" / "contract", tmp_path / "tests" / "contract")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    command = tmp_path / ".venv" / "bin" / "fairtrial"
    command.write_text(STUB)
    command.chmod(0o755)
    key = re.search(r"ready-(\w+)", make(tmp_path, "-n", "setup", "--print-data-base").stdout)[1]
    (tmp_path / ".venv" / f"installed-{key}").touch()
    return tmp_path


def make(place, *words):
    known = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    known["PYTHON"] = sys.executable
    return subprocess.run(
        ["make", "-s", *words], cwd=place, env=known, capture_output=True, text=True, check=False
    )


def test_the_demo_has_four_steps_each_announced_before_it_begins(clone):
    done = make(clone, "demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[1/4] Python packages: there already",
        "[2/4] measuring, about 45 s",
        "did run configs/quickstart.yaml",
        "[3/4] verdict",
        "did verdict runs/quickstart-1/",
        "[4/4] report, a page for any browser",
        "did report runs/quickstart-1/ -o runs/quickstart-1.html",
        "next  .venv/bin/fairtrial compare 'gzip -6 -c configs/data/text' \\",
        "          'gzip -1 -c configs/data/text'",
    ]


def test_a_step_that_fails_ends_the_demo(clone):
    command = clone / ".venv" / "bin" / "fairtrial"
    command.write_text("#!/bin/sh\nexit 4\n")
    done = make(clone, "demo")
    assert done.returncode != 0
    assert "[3/4]" not in done.stdout


def test_an_older_python_is_named_with_what_to_do(clone, tmp_path):
    old = tmp_path / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = make(clone, "demo", f"PYTHON={old}")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stdout
    assert "[1/4]" not in done.stdout
