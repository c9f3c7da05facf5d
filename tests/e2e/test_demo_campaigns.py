"""The campaigns that need nothing of others do what they say: loaded as they are, and executed in short."""

from __future__ import annotations

import hashlib
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.campaign.resolve import load_campaign

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
SMALL = CONFIGS / "gallery" / "compilers"
# Of all eight files, in their order: the same with every version of Python and on every machine.
DATA_SHA256 = "984365f0b2462d78cde21ba7f22d39257f439a0ce0a46209ef87e4684e943f33"


def shortened(name, folder, there=CONFIGS, more=()):
    """Copy a campaign with one run of each cell, on no CPU in particular."""
    text = (there / name).read_text(encoding="utf-8")
    for old, new in (
        (r"^  sessions: 6\b", "  sessions: 1"),
        (r"^  runs: 8\b", "  runs: 1"),
        (r"^  warmup: 1\b", "  warmup: 0"),
        (r"^  cpus: auto\b", "  cpus: none"),  # another trial may hold the best one
        *more,
    ):
        text, count = re.subn(old, new, text, flags=re.MULTILINE)
        assert count == 1, f"{name} has {count} lines like {old}"
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def executed(lab, path):
    """Execute from another folder than the campaign's: its paths must not depend on that."""
    elsewhere = lab.folder / "elsewhere"
    elsewhere.mkdir()
    done = lab.run_fairtrial("run", path, "--dir", lab.folder / "runs", cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    assert lab.manifest()["status"] == "complete"
    rows = lab.read_rows()
    assert [row["outcome"] for row in rows] == ["ok"] * len(rows), done.stderr
    assert list(elsewhere.iterdir()) == []
    return rows


def test_quickstart_is_a_fair_comparison():
    campaign = load_campaign(CONFIGS / "quickstart.yaml")
    assert len(campaign.benchmarks) >= 6  # with four, HPT never exceeds 0.9375
    assert len(campaign.variants) >= 3
    assert campaign.notes == ()
    twin = {
        (cell.benchmark, cell.command.argv, *sorted(cell.env.items()))
        for cell in campaign.cells
        if cell.variant == "gzip-6-again"
    }
    baseline = {
        (cell.benchmark, cell.command.argv, *sorted(cell.env.items()))
        for cell in campaign.cells
        if cell.variant == campaign.baseline
    }
    assert twin == baseline


def test_quickstart_reads_the_data_that_its_hook_writes():
    written = runpy.run_path(str(CONFIGS / "quickstart_data.py"))["FILES"]
    campaign = load_campaign(CONFIGS / "quickstart.yaml")
    assert list(campaign.benchmarks) == list(written)
    assert {cell.command.argv[-1] for cell in campaign.cells} == {
        f"data/{name}" for name in written
    }
    assert campaign.hooks.setup[0].argv == ("python3", "quickstart_data.py")


def test_quickstart_in_short(lab):
    if not shutil.which("gzip") or not shutil.which("python3"):
        pytest.skip("gzip or python3 is not on PATH")
    path = shortened("quickstart.yaml", lab.folder)
    shutil.copy(CONFIGS / "quickstart_data.py", lab.folder)
    campaign = load_campaign(path)
    assert len(executed(lab, path)) == len(campaign.cells)


def test_compilers_builds_and_checks_every_program():
    campaign = load_campaign(SMALL / "small.yaml")
    sources = sorted(path.stem for path in SMALL.glob("c/*.c"))
    assert len(sources) >= 6
    assert sorted(campaign.benchmarks) == sources
    assert campaign.variants == ("O2", "O3", "O0")
    assert campaign.notes == ()
    for cell in campaign.cells:
        assert cell.command.argv == (f"build/{cell.variant}/{cell.benchmark}",)
        assert cell.expect.stdout_regex is not None
    for build in campaign.builds:
        compiled = [step.argv for step in build.steps if step.argv[0] == "cc"]
        assert all(f"-{build.variant}" in argv for argv in compiled)
        assert sorted(
            Path(part).stem for argv in compiled for part in argv if part.endswith(".c")
        ) == (sources)


def test_compilers_in_short(lab):
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler 'cc' on PATH")
    path = shortened("small.yaml", lab.folder, SMALL, [(r"^  O3: .*\n", "")])
    shutil.copytree(SMALL / "c", lab.folder / "c")
    rows = executed(lab, path)
    # The expressions have matched; the bytes are the same at every level, too.
    printed = {}
    for row in rows:
        printed.setdefault(row["benchmark"], set()).add(row["stdout_sha256"])
    assert len(printed) >= 6
    assert all(len(hashes) == 1 for hashes in printed.values())


def test_a_wrong_result_of_a_program_is_noticed(lab):
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler 'cc' on PATH")
    path = shortened("small.yaml", lab.folder, SMALL, [(r"^  O3: .*\n", "")])
    shutil.copytree(SMALL / "c", lab.folder / "c")
    source = lab.folder / "c" / "queens.c"
    source.write_text(source.read_text().replace("N = 12", "N = 8"))
    others = {file.stem for file in (SMALL / "c").glob("*.c")} - {"queens", "sieve"}
    text = re.sub(rf"(?m)^  - \[cc,.* c/({'|'.join(others)})\.c.*\n", "", path.read_text())
    text, count = re.subn(rf"(?m)^  ({'|'.join(others)}):.*\n(    .*\n)+", "", text)
    assert count == len(others)  # they are built and right above
    path.write_text(text)
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 1
    wrong = {row["benchmark"] for row in lab.read_rows() if row["outcome"] == "output-mismatch"}
    assert wrong == {"queens"}
    assert {row["benchmark"] for row in lab.read_rows()} == {"queens", "sieve"}


def digest(folder):
    names = runpy.run_path(str(CONFIGS / "quickstart_data.py"))["FILES"]
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in names)).hexdigest()


def test_the_data_are_the_same_with_every_python_on_this_machine(tmp_path):
    found = [shutil.which(f"python3.{minor}") for minor in range(7, 20)]

    # A version manager may leave a command that only says that there is none.
    def works(command):
        asked = [command, "-V"]
        return command and not subprocess.run(asked, capture_output=True, check=False).returncode

    ends = (next(filter(works, there), sys.executable) for there in (found, found[::-1]))
    pythons = {sys.executable, *ends}  # and the oldest and the newest
    for number, command in enumerate(sorted(pythons)):
        folder = tmp_path / str(number)
        script = CONFIGS / "quickstart_data.py"
        subprocess.run([command, "-I", script, folder], check=True, capture_output=True)
        assert digest(folder) == DATA_SHA256, command


def test_data_that_are_there_are_left_alone_and_damaged_ones_replaced(tmp_path, capsys):
    main = runpy.run_path(str(CONFIGS / "quickstart_data.py"))["main"]
    main([str(tmp_path), "0.01"])
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    first = digest(tmp_path)
    (tmp_path / "logs").write_bytes(b"damaged")
    capsys.readouterr()
    main([str(tmp_path), "0.01"])
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert digest(tmp_path) == first
    assert {name for name in before if after[name] != before[name]} == {"logs"}
    assert after.keys() == before.keys()
    assert capsys.readouterr().out.count("there already") == len(before) - 1
