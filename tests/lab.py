"""The installed command, executed in a folder of its own: fixtures of every test that executes it."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.forks import AT_START, Forks, Started, early
from tests.json_schemas import held
from tests.virtual import asked

FAIRTRIAL = Path(sys.executable).parent / "fairtrial"
ONE = {"sessions": 1, "runs": 1, "warmup": 0}
_PATIENCE_S = 300  # only a failing test ever waits for so long

processes = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("processes.py"))))


def only(command, **fields):
    """Give one benchmark and protocol for a single run."""
    return {
        "variants": {"a": {}},
        "benchmarks": {"one": {"command": command, **fields}},
        "protocol": ONE,
    }


class Lab:
    """A folder with a campaign, and the command `fairtrial` in it.

    Every target carries `marker` among its arguments, so that what is left can be searched for.
    """

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.folder = folder
        self._forks = forks
        self.marker = f"9999.{uuid.uuid4().int % 10**15:015d}"
        known = "FAIRTRIAL_CACHE"  # without which each new process compiles the kernels
        kept = {k: v for k, v in os.environ.items() if k == known or not k.startswith("FAIRTRIAL_")}
        self.environment = {k: v for k, v in kept.items() if k not in early(kept)} | early(AT_START)
        self.started: list[subprocess.Popen[str] | Started] = []
        self.virtual = None  # times of its commands, where one has none of its own
        self._days = 0  # of commands on virtual times, each of which begins a day later

    def write_campaign(self, name="c", **sections):
        """Write a small campaign (JSON is YAML); `sections` take the place of its own."""
        campaign = {
            "name": name,
            "seed": 5,
            "variants": {"a": {}, "b": {}},
            "baseline": "a",
            "benchmarks": {"one": {"command": self.sh(":")}, "two": {"command": self.sh(":")}},
            "protocol": {"sessions": 1, "runs": 2, "warmup": 1},
            "isolation": {"cpus": "none"},
        }
        given = {key: value for key, value in sections.items() if value is not None}
        path = self.folder / f"{name}.yaml"
        path.write_text(json.dumps(campaign | given, indent=1))
        return path

    def sh(self, code):
        """Give a command that executes `code`, with the marker as its $0."""
        code = code.replace("{", "{{").replace("}", "}}")
        return ["/bin/sh", "-c", code, self.marker]

    def script(self, name, text, mode=0o755):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def _command(self, args, *, other_user):
        command = [str(FAIRTRIAL), *map(str, args)]
        return processes.as_other_user(command) if other_user else command

    def on_stage(self, times):
        """Give what a command on such times is asked with, or nothing."""
        times = times or self.virtual
        if times is None:
            return {}
        self._days += 1
        return {"virtual": asked(times, self._days - 1)}

    def run_fairtrial(
        self, *args, cwd=None, other_user=False, prefix=(), fresh=False, virtual=None, **own
    ):
        """Execute the command and wait for it; `fresh`: in a new interpreter, as a user would.

        `virtual` times are those of its runs; `own` is what a fork may have of its own: see `Forks.run`.
        """
        if not (fresh or other_user or prefix) and self._forks.can(self.environment):
            own |= self.on_stage(virtual)
            return self._forks.run(
                list(map(str, args)),
                cwd=cwd or self.folder,
                environment=self.environment,
                seconds=_PATIENCE_S,
                **own,
            )
        assert not own
        assert virtual is None
        done = subprocess.run(
            [*prefix, *self._command(args, other_user=other_user)],
            cwd=cwd or self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return held(list(map(str, args)), done)

    def start_fairtrial(self, *args, fresh=False, virtual=None):
        """Start the command, with its output in files; `fresh` and `virtual` as above."""
        number = len(self.started)
        out, err = self.folder / f"out-{number}", self.folder / f"err-{number}"
        if not fresh and self._forks.can(self.environment):
            process = self._forks.start(
                list(map(str, args)),
                cwd=self.folder,
                environment=self.environment,
                out=out,
                err=err,
                **self.on_stage(virtual),
            )
            processes.wait_until(err.exists, "it has its streams")
        else:
            assert virtual is None
            process = self._new_process(args, out, err)
        process.out_path, process.err_path = out, err
        self.started.append(process)
        return process

    def _new_process(self, args, out, err):
        with out.open("wb") as stdout, err.open("wb") as stderr:
            return subprocess.Popen(
                self._command(args, other_user=False),
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                text=True,
            )

    def ended(self, process):
        """Wait for a started command: (exit code, what it wrote to stderr)."""
        try:
            code = process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return code, process.err_path.read_text()

    def trial(self):
        """Give the one trial of this folder."""
        (trial,) = self.trials()
        return trial

    def trials(self):
        return sorted(path.parent for path in self.folder.glob("runs/*/manifest.json"))

    def manifest(self, trial=None):
        return json.loads(((trial or self.trial()) / "manifest.json").read_text())

    def read_rows(self, trial=None):
        """Read the whole lines of the measurements."""
        data = ((trial or self.trial()) / "measurements.jsonl").read_bytes()
        return [json.loads(line) for line in data.split(b"\n")[:-1]]

    def lines(self, trial=None):
        """Give the bytes of the measurements, line by line."""
        return ((trial or self.trial()) / "measurements.jsonl").read_bytes().splitlines()

    def findings(self, trial=None):
        text = ((trial or self.trial()) / "findings.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def hold(self):
        """Make runs that wait for `release`: see `waiting`."""
        (self.folder / "hold").touch()

    def release(self):
        (self.folder / "hold").unlink(missing_ok=True)

    @property
    def waiting(self):
        """Give shell code that says `reached`, then waits as long as there is a file `hold`."""
        here = self.folder
        return f"[ ! -e {here}/hold ] || : > {here}/reached; while [ -e {here}/hold ]; do sleep 0.02; done"

    def wait_until_reached(self, process):
        """Wait until the code of `waiting` is being executed."""

        def reached():
            if process.poll() is not None:
                err = process.err_path  # what a terminal shows has no end
                said = err.read_text() if err.is_file() else process.wait()
                raise AssertionError(f"it ended before: {said}")
            return (self.folder / "reached").exists()

        processes.wait_until(reached, "the target starts to wait")

    def wait_until_all_gone(self):
        processes.wait_until(lambda: not self.left(), "no process is left", 20)

    def left(self):
        """List the processes of this campaign that live, fairtrial itself left out."""
        return processes.processes_with(self.marker)

    def assert_complete_once_each(self, trial=None, planned=None):
        """Check that every planned position stands there exactly once, whole."""
        trial = trial or self.trial()
        rows = [row for row in self.read_rows(trial) if row["position"] >= 0]
        plan = [json.loads(line) for line in (trial / "plan.jsonl").read_text().splitlines()]
        assert sorted(row["position"] for row in rows) == [run["position"] for run in plan]
        assert len(plan) == self.manifest(trial)["planned"]
        assert planned is None or len(plan) == planned
        by_position = {run["position"]: run for run in plan}
        for row in rows:
            want = by_position[row["position"]]
            assert {key: row[key] for key in want} == want

    def close(self):
        self.release()
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait(_PATIENCE_S)
        processes.send(self.left())


@pytest.fixture(scope="session")
def make_lab(forks):
    """Make labs; all are closed at the end."""
    if not FAIRTRIAL.exists():
        pytest.skip(f"the command is not installed: {FAIRTRIAL} is missing")
    made = []

    def make(folder):
        folder.mkdir()
        made.append(Lab(folder, forks))
        return made[-1]

    yield make
    for lab in made:
        lab.close()


@pytest.fixture
def lab(make_lab, tmp_path):
    made = make_lab(tmp_path / "lab")
    yield made
    made.close()


@pytest.fixture(scope="session", name="processes")
def _processes():
    return processes


@pytest.fixture(scope="session")
def other_user():
    """Skip where the command cannot be executed as a user without rights."""
    reason = processes.why_no_other_user()
    if reason:
        pytest.skip(reason)


@pytest.fixture
def open_folder(lab):
    """Put the lab where another user gets to: pytest's own folders are private."""
    with tempfile.TemporaryDirectory(prefix="fairtrial-test-") as name:
        lab.folder = Path(name)
        if os.geteuid() == 0:
            os.chown(name, processes.OTHER_UID, processes.OTHER_UID)
        yield lab.folder
