"""The installed command packs: the same bytes for any user, and exit codes that scripts can trust."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
FAIRTRIAL = Path(sys.executable).parent / "fairtrial"
CLAIM = (
    "claims: [{{text: t, command: verdict runs/sample, value: /runs, is: equals, expected: {}}}]\n"
)


def bundle(*words, cwd, umask=0o022, **environment):
    # which code of linear algebra is taken decides about last digits: the same here as in the tests
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in {"PATH", "FAIRTRIAL_CACHE"} or name.startswith("OPENBLAS_")
    }
    cache = {"FAIRTRIAL_CACHE": str(Path("~/.cache/fairtrial/kernels").expanduser())}
    return subprocess.run(
        [FAIRTRIAL, "bundle", *map(str, words)],
        cwd=cwd,
        env=cache | kept | environment,
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(SAMPLE, tmp_path / "runs" / "sample")
    return tmp_path


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Pack the sample without any option but `--json`, once; give the archive and what was said."""
    folder = tmp_path_factory.mktemp("packed")
    shutil.copytree(SAMPLE, folder / "runs" / "sample")
    done = bundle("runs/sample", "-o", "a.zip", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "a.zip").chmod(0o400)
    return folder / "a.zip", json.loads(done.stdout)


def test_two_users_zones_umasks_languages_and_folders_give_the_same_bytes(folder):
    (folder / "claims.yaml").write_text(CLAIM.format(120))
    other = folder / "other" / "place"
    shutil.copytree(folder / "runs", other / "runs")
    for path in (other / "runs").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    done = bundle("runs/sample", "-o", "a.zip", "--claims", "claims.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "home").mkdir()
    done = bundle(
        "runs/sample/",
        "-o",
        folder / "b.zip",
        "--claims",
        folder / "claims.yaml",
        cwd=other,
        umask=0o077,
        HOME=str(folder / "home"),
        USER="jane",
        TZ="Pacific/Auckland",
        LC_ALL="tr_TR.UTF-8",
        LANG="de_DE.ISO-8859-1",
        PYTHONHASHSEED="7",
        FORCE_COLOR="1",
        COLUMNS="300",
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "a.zip").read_bytes() == (folder / "b.zip").read_bytes()
    assert (folder / "b.zip").stat().st_mode & 0o777 == 0o600
    assert not any((folder / "home").iterdir())
    # nothing of ours tells when or where it was made
    with zipfile.ZipFile(folder / "a.zip") as file:
        ours = [name for name in file.namelist() if not name.startswith(("trials/", "software/"))]
        text = b"".join(file.read(name) for name in ours)
    assert str(folder).encode() not in text
    assert time.strftime("%Y-%m-%d").encode() not in text.replace(b"2026-11-21", b"")


def test_whoever_installs_its_wheel_packs_the_same_wheel_and_lock(packed, tmp_path):
    folder, (archive, _) = tmp_path, packed
    with zipfile.ZipFile(archive) as file:
        (wheel,) = (name for name in file.namelist() if name.endswith(".whl"))
        file.extract(wheel, folder)
    env = folder / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    python = env / "bin" / "python"
    words = ["install", "-q", "--no-index", "--no-deps", folder / wheel]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *words], check=True)
    # the libraries are borrowed; a folder of a .pth comes behind the environment's own
    (own,) = (env / "lib").glob("python3*/site-packages")
    (own / "libraries.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    # all that is its own in the archive, without compiling the kernels once more for this folder
    code = (
        "import sys; from pathlib import Path; import analysis;"
        "from analysis.artifact.packing.requirements import libraries_of_this, lock_text;"
        "from analysis.artifact.packing.requirements import wheel_of_this;"
        f"assert Path(analysis.__file__).is_relative_to({str(own)!r});"
        "Path('own.whl').write_bytes(wheel_of_this());"
        "Path('own.txt').write_text(lock_text(libraries_of_this()))"
    )
    subprocess.run([python, "-P", "-c", code], cwd=folder, check=True)
    assert (folder / "own.whl").read_bytes() == (folder / wheel).read_bytes()
    with zipfile.ZipFile(archive) as file:
        assert (folder / "own.txt").read_bytes() == file.read("software/requirements.txt")


def test_its_answers_are_those_of_the_command_in_the_unpacked_folder(packed, tmp_path):
    folder, (archive, _) = tmp_path, packed
    with zipfile.ZipFile(archive) as file:
        file.extractall(folder / "unpacked")
    subprocess.run(
        ["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=folder / "unpacked", check=True
    )
    page = (folder / "unpacked" / "README.md").read_text()
    (unpack,) = re.findall(r"(?m)^for tar in .*$", page)
    subprocess.run(["sh", "-c", unpack], cwd=folder / "unpacked", check=True)
    contents = json.loads((folder / "unpacked" / "bundle.json").read_text())
    assert [one["name"] for one in contents["analyses"]] == ["verdict", "explained", "diagnosis"]
    for one in contents["analyses"]:
        done = subprocess.run(
            [FAIRTRIAL, *one["command"]], cwd=folder / "unpacked", check=False, capture_output=True
        )
        assert done.returncode == one["exit_code"]
        assert done.stdout == (folder / "unpacked" / one["result"]).read_bytes()


def test_a_claim_that_fails_is_exit_1_and_the_archive_is_there(folder):
    (folder / "claims.yaml").write_text(CLAIM.format(121))
    done = bundle("runs/sample", "-o", "a.zip", "--claims", "claims.yaml", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "claim 1 does not hold: /runs is 120, not equal to 121" in done.stdout
    assert (folder / "a.zip").is_file()


@pytest.mark.parametrize("record", ["plan.jsonl", "environment.jsonl"])
def test_a_trial_without_one_of_its_records_is_exit_1_and_the_archive_is_there(folder, record):
    (folder / "runs" / "sample" / record).unlink()
    done = bundle("runs/sample", "-o", "a.zip", "--json", cwd=folder)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert "record-missing" in told["caution_codes"]
    assert any(record in one["what"] for one in told["missing"])
    assert (folder / "a.zip").is_file()


def test_json_tells_what_the_archive_holds(packed):
    archive, told = packed
    data = archive.read_bytes()
    assert (told["bytes"], told["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    with zipfile.ZipFile(archive) as file:
        assert told["entries"] == len(file.namelist())
    assert told["missing"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["runs/nothing", "-o", "a.zip"], 2, "no trial, no folder of trials"),
        (["runs/sample"], 2, "required: -o"),
        (["runs/sample", "-o", "runs"], 2, "a folder, not a file"),
        (["runs/sample", "-o", "no/a.zip"], 2, "there is no folder"),
        (["runs/sample", "-o", "a.zip", "--claims", "no.yaml"], 2, "cannot be read"),
        (["runs/sample", "-o", "a.zip", "--about", "no.yaml"], 2, "cannot be read"),
        (["runs/sample", "-o", "a.zip", "--campaign", "no.yaml"], 2, "no such campaign"),
        (["runs/sample", "-o", "a.zip", "--max-bytes", "1k"], 2, "more than 1,000 bytes"),
        (["runs/sample", "-o", "a.zip", "--max-bytes", "many"], 2, "no number of bytes"),
        (["runs/damaged", "-o", "a.zip"], 5, "not what it was when the trial ended"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_written(folder, words, code, said):
    shutil.copytree(SAMPLE, folder / "runs" / "damaged")
    with (folder / "runs" / "damaged" / "measurements.jsonl").open("ab") as file:
        file.write(b"{}\n")
    done = bundle(*words, cwd=folder)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not (folder / "a.zip").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_kill_leaves_no_half_archive(folder, number):
    (folder / "tmp").mkdir()
    process = subprocess.Popen(
        [FAIRTRIAL, "bundle", "runs/sample", "-o", "a.zip"],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder / "tmp")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not any((folder / "tmp").rglob("requirements.txt")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    process.wait(60)
    assert not (folder / "a.zip").exists()
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert not any((folder / "tmp").iterdir())
