"""Fairtrial's own wheel: pip, which installs it into an empty environment, is the authority."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from analysis.artifact import describing as wheel
from analysis.artifact.describing import libraries_of_this, lock_text
from analysis.errors import StoreError
from analysis.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
PIP = (sys.executable, "-m", "pip")


def done(*words, cwd=None):
    """Execute what must go well; give all that it says."""
    made = subprocess.run(words, cwd=cwd, check=False, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return made.stdout + made.stderr


@pytest.fixture(scope="module")
def packed():
    return wheel.wheel_of_this()


def test_it_has_the_same_bytes_each_time(packed):
    assert wheel.wheel_of_this() == packed


def test_its_record_lists_every_file_with_its_hash(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as file:
        names = file.namelist()
        (record,) = (name for name in names if name.endswith("/RECORD"))
        rows = list(csv.reader(io.StringIO(file.read(record).decode())))
        assert [row[0] for row in rows[:-1]] == [name for name in names if name != record]
        assert rows[-1] == [record, "", ""]
        for name, digest, size in rows[:-1]:
            data = file.read(name)
            made = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (f"sha256={made}", len(data))
    assert "analysis/report/page.css" in names
    assert "harness/launch/launcher.py" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_pip_installs_it_into_an_empty_environment(packed, tmp_path):
    path = tmp_path / wheel.WHEEL
    path.write_bytes(packed)
    env = tmp_path / "env"
    done(sys.executable, "-m", "venv", "--without-pip", env)
    python = env / "bin" / "python"
    done(*PIP, "--python", python, *["install", "-q", "--no-index", "--no-deps"], path)
    assert done(env / "bin" / "fairtrial", "--version", cwd=tmp_path) == f"fairtrial {VERSION}\n"
    listed = (
        "import importlib.metadata as m; print(*m.files('fairtrial'), *m.requires('fairtrial'))"
    )
    shown = done(python, "-c", listed, cwd=tmp_path)
    assert "analysis/registry.py" in shown
    assert "numba" in shown


@pytest.mark.parametrize("version", [None, "0.0.1"])
def test_code_that_is_not_what_is_installed_gives_no_wheel(version, monkeypatch):
    class Other:
        pass

    def distribution(name):
        if version is None:
            raise wheel.importlib.metadata.PackageNotFoundError(name)
        other = Other()
        other.version = version
        return other

    monkeypatch.setattr(wheel.importlib.metadata, "distribution", distribution)
    with pytest.raises(StoreError, match="is executed, and"):
        wheel.wheel_of_this()


def test_the_lock_has_exact_versions_of_all_that_the_project_requires():
    libraries = libraries_of_this()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert list(libraries) == sorted(one.partition(">")[0] for one in project["dependencies"])
    lines = [line for line in lock_text(libraries).splitlines() if not line.startswith("#")]
    assert lines == sorted(lines)
    # pip's own reading of it: everything is there already, nothing is fetched
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(lock_text(libraries))
        file.flush()
        done(*PIP, *["install", "--dry-run", "-q", "--no-index", "-r"], file.name)


def test_uv_reads_the_lock_too(tmp_path):
    uv = Path(sys.executable).with_name("uv")
    if not uv.is_file():
        pytest.skip("uv is not installed")
    (tmp_path / "requirements.txt").write_text(lock_text(libraries_of_this()))
    words = ("--dry-run", "--offline", "--no-cache", "--python", sys.executable)
    said = done(uv, "pip", "install", *words, "-r", "requirements.txt", cwd=tmp_path)
    assert "Would make no changes" in said


def test_readers_of_packed_sources_are_locked_too():
    assert "pyarrow" in libraries_of_this(["sources/x.parquet"])
    assert "pyarrow" not in libraries_of_this(["sources/x.csv"])
