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


@pytest.fixture
def folder(lab):
    shutil.copytree(SAMPLE, lab.folder / "runs" / "sample")
    return lab.folder


@pytest.fixture(scope="module")
def packed(make_lab, tmp_path_factory):
    """Pack the sample with a claim that holds, once; give the archive and what was said."""
    lab = make_lab(tmp_path_factory.mktemp("packed") / "lab")
    shutil.copytree(SAMPLE, lab.folder / "runs" / "sample")
    (lab.folder / "claims.yaml").write_text(CLAIM.format(120))
    words = ("runs/sample", "-o", "a.zip", "--claims", "claims.yaml", "--json")
    done = lab.run_fairtrial("bundle", *words)
    assert done.returncode == 0, done.stderr
    (lab.folder / "a.zip").chmod(0o400)
    return lab.folder / "a.zip", json.loads(done.stdout)


def test_two_users_zones_umasks_languages_and_folders_give_the_same_bytes(packed, tmp_path):
    archive, _ = packed
    shutil.copytree(SAMPLE, tmp_path / "runs" / "sample")
    for path in (tmp_path / "runs").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    (tmp_path / "home").mkdir()
    # which code of linear algebra is taken decides about last digits: the same here as in the tests
    kept = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    kernels = Path("~/.cache/fairtrial/kernels").expanduser()
    words = ["bundle", "runs/sample/", "-o", tmp_path / "b.zip", "--claims"]
    done = subprocess.run(
        [FAIRTRIAL, *words, archive.parent / "claims.yaml"],
        cwd=tmp_path,
        env=kept
        | {
            "PATH": os.environ["PATH"],
            "FAIRTRIAL_CACHE": os.environ.get("FAIRTRIAL_CACHE", str(kernels)),
            "HOME": str(tmp_path / "home"),
            "USER": "jane",
            "TZ": "Pacific/Auckland",
            "LC_ALL": "tr_TR.UTF-8",
            "LANG": "de_DE.ISO-8859-1",
            "PYTHONHASHSEED": "7",
            "FORCE_COLOR": "1",
            "COLUMNS": "300",
        },
        umask=0o077,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert archive.read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert (tmp_path / "b.zip").stat().st_mode & 0o777 == 0o600
    assert not any((tmp_path / "home").iterdir())
    # nothing of ours tells when or where it was made
    with zipfile.ZipFile(archive) as file:
        ours = [name for name in file.namelist() if not name.startswith(("trials/", "software/"))]
        text = b"".join(file.read(name) for name in ours)
    assert str(archive.parent).encode() not in text
    assert time.strftime("%Y-%m-%d").encode() not in text.replace(b"2026-11-21", b"")


def test_whoever_installs_its_wheel_packs_the_same_wheel_and_lock(packed, tmp_path):
    folder, (archive, _) = tmp_path, packed
    with zipfile.ZipFile(archive) as file:
        (wheel,) = (name for name in file.namelist() if name.endswith(".whl"))
        file.extract(wheel, folder)
    env = folder / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    python = env / "bin" / "python"
    words = ["install", "-q", "--no-index", "--no-deps", "--no-compile", folder / wheel]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *words], check=True)
    # the libraries are borrowed; a folder of a .pth comes behind the environment's own
    (own,) = (env / "lib").glob("python3*/site-packages")
    (own / "libraries.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    # all that is its own in the archive, without compiling the kernels once more for this folder
    code = (
        "import sys; from pathlib import Path; import analysis;"
        "from analysis.artifact.describing import libraries_of_this, lock_text;"
        "from analysis.artifact.describing import wheel_of_this;"
        f"assert Path(analysis.__file__).is_relative_to({str(own)!r});"
        "Path('own.whl').write_bytes(wheel_of_this());"
        "Path('own.txt').write_text(lock_text(libraries_of_this()))"
    )
    subprocess.run([python, "-P", "-c", code], cwd=folder, check=True)
    assert (folder / "own.whl").read_bytes() == (folder / wheel).read_bytes()
    with zipfile.ZipFile(archive) as file:
        assert (folder / "own.txt").read_bytes() == file.read("software/requirements.txt")


def test_its_answers_are_those_of_the_command_in_the_unpacked_folder(lab, packed):
    folder, (archive, _) = lab.folder, packed
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
        done = lab.run_fairtrial(*one["command"], cwd=folder / "unpacked")
        assert done.returncode == one["exit_code"]
        assert done.stdout.encode() == (folder / "unpacked" / one["result"]).read_bytes()


def test_a_claim_that_fails_is_exit_1_and_the_archive_is_there(lab, folder):
    (folder / "claims.yaml").write_text(CLAIM.format(121))
    done = lab.run_fairtrial("bundle", "runs/sample", "-o", "a.zip", "--claims", "claims.yaml")
    assert done.returncode == 1, done.stderr
    assert "1 of 1 claims do not hold" in done.stdout
    assert (folder / "a.zip").is_file()


def test_a_trial_without_some_of_its_records_is_exit_1_and_the_archive_is_there(lab, folder):
    records = ("plan.jsonl", "environment.jsonl")
    for record in records:
        (folder / "runs" / "sample" / record).unlink()
    done = lab.run_fairtrial("bundle", "runs/sample", "-o", "a.zip", "--json")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert "record-missing" in told["caution_codes"]
    for record in records:
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
        (["runs/nothing", "-o", "a.zip"], 2, "not a trial, a folder of trials"),
        (["runs/sample"], 2, "required: -o"),
        (["runs/sample", "-o", "runs"], 2, "a folder, not a file"),
        (["runs/sample", "-o", "no/a.zip"], 2, "there is no folder"),
        (["runs/sample", "-o", "a.zip", "--claims", "no.yaml"], 2, "there is no such file"),
        (["runs/sample", "-o", "a.zip", "--about", "no.yaml"], 2, "there is no such file"),
        (["runs/sample", "-o", "a.zip", "--campaign", "no.yaml"], 2, "no such campaign"),
        (["runs/sample", "-o", "a.zip", "--max-bytes", "1k"], 2, "more than 1,000 bytes"),
        (["runs/sample", "-o", "a.zip", "--max-bytes", "many"], 2, "not a number of bytes"),
        (["runs/damaged", "-o", "a.zip"], 5, "not what it was when the trial ended"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_written(lab, folder, words, code, said):
    shutil.copytree(SAMPLE, folder / "runs" / "damaged")
    with (folder / "runs" / "damaged" / "measurements.jsonl").open("ab") as file:
        file.write(b"{}\n")
    done = lab.run_fairtrial("bundle", *words)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not (folder / "a.zip").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_kill_leaves_no_half_archive(lab, processes, folder, number):
    (folder / "tmp").mkdir()
    lab.environment["TMPDIR"] = str(folder / "tmp")
    process = lab.start_fairtrial("bundle", "runs/sample", "-o", "a.zip")
    processes.wait_until(
        lambda: any((folder / "tmp").rglob("requirements.txt")) or process.poll() is not None,
        "it packs",
    )
    process.send_signal(number)
    code, _ = lab.ended(process)
    assert not (folder / "a.zip").exists()
    if number != signal.SIGKILL:
        assert code == 130
        assert not any((folder / "tmp").iterdir())
