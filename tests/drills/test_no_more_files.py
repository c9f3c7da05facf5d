"""From some moment on no file can be opened any more (EMFILE): words and an exit code, and the trial goes on later.

Authority: an attack with strace, in which four of the moments gave a raw traceback and the exit code of failed
runs, because a module that was loaded late could not be opened.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest

ONE = {"sessions": 1, "runs": 2, "warmup": 1}
SHARES = (
    0.05,
    0.2,
    0.4,
    0.55,
    0.7,
    0.8,
    0.9,
    0.95,
    0.99,
)  # of the way from the first module to the end

# Notes which modules are looked for once the first run has begun.
AUDIT = """
import sys
late, begun = [], []
sys.addaudithook(lambda event, args: event == "import" and begun and late.append(args[0]))
import harness.trial.measure as room
measure = room.Measurer.measure
def noted(self, run):
    begun.append(run)
    return measure(self, run)
room.Measurer.measure = noted
from harness.cli import main
code = main(sys.argv[1:], sys.stdout, sys.stderr)
late = list(late)
begun.clear()
sys.stderr.write(f"\\nlate {code}: {' '.join(late)}\\n")
"""


@pytest.fixture
def strace():
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    probe = ["strace", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"strace may not trace here: {done.stderr.strip()}")


def campaign(lab, **sections):
    return lab.write_campaign(protocol=ONE, checks={"probe": "0s"}, **sections)


@pytest.mark.usefixtures("strace")
def test_there_is_never_a_traceback(lab, processes):
    path, log = campaign(lab), lab.folder / "opened"
    done = lab.run_fairtrial("run", path, prefix=("strace", "-qq", "-o", log, "-e", "trace=openat"))
    assert done.returncode == 0, done.stderr
    opened = log.read_text().splitlines()
    first = next(k for k, line in enumerate(opened) if re.search(r"harness/.*cli\..*pyc", line)) + 1
    reached = 0
    for share in SHARES:
        shutil.rmtree(lab.folder / "runs", ignore_errors=True)
        number = first + round(share * (len(opened) - first))
        inject = f"inject=openat:error=EMFILE:when={number}+"
        prefix = ("strace", "-qq", "-o", log, "-e", "trace=openat", "-e", inject)
        done = lab.run_fairtrial("run", path, prefix=prefix)
        said = f"{number} of {len(opened)}: {done.returncode}\n{done.stderr}"
        assert "Traceback" not in done.stderr, said
        if "(INJECTED)" not in log.read_text() or done.returncode == 0:
            # this time it opened fewer, or only what may stay unknown, such as the host's pressure
            assert (done.returncode, share) == (0, SHARES[-1]), said
            assert {row["outcome"] for row in lab.read_rows()} == {"ok"}
            assert lab.manifest(lab.trial())["status"] == "complete"
            continue
        reached += 1
        assert done.returncode in {3, 4, 5}, said
        assert "Too many open files" in done.stderr, said
        assert lab.left() == []
        if lab.trials():
            again = lab.run_fairtrial("run", path, "--resume", "--trial", lab.trial())
            assert again.returncode == 0, again.stderr
            assert {row["outcome"] for row in lab.read_rows()} == {"ok"}
    assert reached >= len(SHARES) - 1


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        *(("good", option) for option in ([], ["--json"], ["-q"])),
        *(("bad", option) for option in ([], ["--json"], ["-q"])),
        ("stop", []),
        ("cap", ["--json"]),
    ],
)
def test_no_module_is_loaded_once_the_first_run_has_begun(lab, shape, options):
    sections = {
        "good": {},
        "bad": {
            "benchmarks": {
                "dies": {"command": lab.sh("kill -9 $PPID")},
                "fails": {"command": lab.sh("echo x >&2; exit 3")},
                "odd": {
                    "command": lab.sh("kill -CONT $PPID; echo 5"),
                    "metrics": {"m": {"regex": "(6)", "unit": "s", "better": "lower"}},
                },
            },
            "hooks": {"before": {"shell": ":"}, "cleanup": {"shell": "exit 3"}},
        },
        "stop": {"protocol": {"warmup": 0, "stop": {"width": 0.5, "min_runs": 3, "max_runs": 4}}},
        "cap": {"protocol": {**ONE, "max_runs": 3}},
    }[shape]
    path = lab.write_campaign(**{"protocol": ONE, "checks": {"probe": "0s"}, **sections})
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, "run", str(path), *options],
        cwd=lab.folder,
        env=lab.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    (late,) = re.findall(r"^late (\d+):(.*)$", done.stderr, re.MULTILINE)
    assert late[0] == ("1" if shape in {"bad", "cap"} else "0"), done.stderr
    assert late[1].split() == []
    assert "--json" not in options or json.loads(done.stdout)["done"]
