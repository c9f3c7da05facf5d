"""`fairtrial why` on C programs whose slower function is known. Authority: what was planted in tests/why_programs.py."""

from __future__ import annotations

import hashlib
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.record.profiles import read_profile
from harness.errors import HostError
from harness.host.state import Tree
from harness.trial.perf import find_perf, permission_of
from harness.trial.profiles import ProfileRequest, record_profile

programs = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "why_programs.py")))
processes = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "processes.py")))
KINDS = tuple(programs.KINDS)
SESSIONS = 4  # the fewest that may name a function
TOLERANCE_MS = 2.0  # what starting, and who else takes the CPU meanwhile, moves


def hashes(folder):
    """Hash every file of a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def measured(lab, kinds=KINDS, **protocol):
    """Build programs and measure a trial of them, which is as short as it can be."""
    programs.build(lab.folder / "bin", kinds)
    campaign = lab.write_campaign(
        variants={"base": {}, "cand": {}},
        baseline="base",
        benchmarks=programs.benchmarks(kinds, "bin"),
        protocol={"sessions": 1, "runs": 2, "warmup": 0, **protocol},
        checks={"probe": "0s"},
    )
    done = lab.run_fairtrial("run", campaign, "-q")
    assert done.returncode == 0, done.stderr
    return lab.trial()


def profile(lab, trial, *words, sessions=SESSIONS, **own):
    """Ask why of the candidate, with enough samples for a short program."""
    more = ("--sessions", sessions, "--frequency", 4999, "--wait-for-lock")
    return lab.run_fairtrial("why", f"{trial}:cand", *more, *words, **own)


def needed():
    try:
        find_perf()
    except HostError:
        pytest.skip("there is no perf that samples here")
    if not programs.has_compiler():
        pytest.skip("no C compiler is installed")


@pytest.fixture(scope="module")
def asked(make_lab, tmp_path_factory):
    """Give a lab in which it was asked once, of all programs; what the trial was before is kept."""
    needed()
    lab = make_lab(tmp_path_factory.mktemp("why") / "lab")
    lab.path = measured(lab)
    lab.before = hashes(lab.path)
    lab.verdict = lab.run_fairtrial("verdict", lab.path, "--json").stdout
    # all by name: which of them the verdict decides on one session is chance
    every = [word for kind in KINDS for word in ("--benchmark", kind)]
    lab.done = profile(lab, lab.path, "--any", "--json", *every)
    return lab


@pytest.fixture
def told(asked):
    assert asked.done.returncode == 0, asked.done.stderr
    return {one["benchmark"]: one for one in json.loads(asked.done.stdout)["answers"]}


def first(answer):
    return answer["rows"][0]


def named(answer):
    return [row["function"] for row in answer["rows"] if row["named"]]


def test_the_accounts_close(asked, told):
    """Where functions take what total they take: the rows and the others are the total, none is lost."""
    profile = asked.path.with_name(asked.path.name + ".why") / "cand"
    cells = [json.loads(line) for line in (profile / "samples.jsonl").read_text().splitlines()]
    for kind, answer in told.items():
        for key, variant in (("baseline", "base"), ("candidate", "cand")):
            mine = [one for one in cells if (one["benchmark"], one["variant"]) == (kind, variant)]
            assert answer[f"samples_{key}"] == sum(one["samples"] for one in mine) > 0
            assert all(
                one["samples"] == sum(f["samples"] for f in one["functions"]) for one in mine
            )
        for number in ("baseline_ms", "candidate_ms", "difference_ms"):
            parts = [answer["others"], answer["kernel_not_seen"], *answer["rows"]]
            found = sum(part[number] for part in parts if part is not None)
            assert found == pytest.approx(answer["total"][number], abs=1e-6)


@pytest.mark.host_chance(0.01)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "same"])
def test_the_planted_time_is_the_total(told, kind):
    assert told[kind]["total"]["difference_ms"] == pytest.approx(
        programs.PLANTED_MS, abs=TOLERANCE_MS
    )


@pytest.mark.host_chance(0.05)
@pytest.mark.parametrize(
    ("kind", "functions", "file"),
    [
        ("planted", {"weigh"}, "planted"),
        ("renamed", {"weigh", "weigh_keys"}, "renamed"),  # they cost nearly the same
        ("stripped", {"[unknown]"}, "stripped"),
        ("forks", {"weigh"}, "forks"),
        ("inlining", {"get", "gather"}, "inlining"),
        ("copy", None, "libc"),
    ],
)
def test_the_planted_function_is_the_first_row_and_named(told, kind, functions, file):
    row = first(told[kind])
    assert (row["object"], row["named"]) == (file, True)
    assert row["function"] in functions if functions else "mem" in row["function"]


def test_a_program_without_symbols_is_told(told):
    assert "no-symbols" in told["stripped"]["caution_codes"]
    assert "no-symbols" not in told["planted"]["caution_codes"]


@pytest.mark.host_chance(0.01)
def test_what_is_no_longer_inlined_is_a_function_of_its_own(told):
    rows = {row["function"]: row for row in told["inlining"]["rows"]}
    assert rows["get"]["presence"] == "new"


def of_the_program(names):
    """Leave out what the kernel did for it, which on a busy host may be seen on one side only."""
    return [name for name in names if not name.endswith("(kernel)")]


@pytest.mark.host_chance(0.01)
def test_a_renamed_function_is_shown_as_a_pair_and_joined_when_that_is_said(asked, told):
    assert of_the_program(told["renamed"]["gone"]) == ["weigh (renamed)"]
    assert of_the_program(told["renamed"]["new"]) == ["weigh_keys (renamed)"]
    words = ("--stored", "--benchmark", "renamed", "--rename", "weigh=weigh_keys", "--json")
    done = asked.run_fairtrial("why", f"{asked.path}:cand", *words)
    (joined,) = json.loads(done.stdout)["answers"]
    row = first(joined)
    assert (row["function"], row["was"], row["presence"]) == ("weigh_keys", "weigh", "both")
    assert of_the_program(joined["gone"]) == of_the_program(joined["new"]) == []


@pytest.mark.host_chance(0.05)  # all names of an answer together are right with 95 %
def test_two_copies_of_one_program_name_nothing(told):
    assert not named(told["same"])


def test_nothing_of_the_trial_changes_and_profiled_runs_are_in_no_verdict(asked, told):
    assert hashes(asked.path) == asked.before
    assert asked.run_fairtrial("verdict", asked.path, "--json").stdout == asked.verdict
    timed = asked.path.with_name(asked.path.name + ".why") / "cand" / "timed"
    rows = [row for row in asked.read_rows(timed) if not row["warmup"]]
    assert len(rows) == SESSIONS * len(KINDS) * 2 * told["planted"]["timed_runs"]


def test_the_answer_alone_is_on_stdout_and_is_the_stored_one(asked):
    assert json.loads(asked.done.stdout)["method"] == "why"
    assert f"{len(KINDS)} benchmarks: {SESSIONS} sessions" in asked.done.stderr
    words = ("why", f"{asked.path}:cand", "--stored", "--any")
    stored, again = (asked.run_fairtrial(*words, "--json") for _ in range(2))
    assert stored.stdout == again.stdout == asked.done.stdout
    assert stored.stderr == ""
    near = f"{asked.path.relative_to(asked.folder)}:cand"  # a command is never broken
    page = asked.run_fairtrial("why", near, "--stored", "--any").stdout
    assert max(map(len, page.splitlines())) <= 80


# ---- interpreted programs

SCRIPT = """\
import sys
ROUNDS = int(sys.argv[1])

def weigh(rounds):
    total = 0
    for k in range(rounds):
        total ^= k
    return total

def parse(rounds):
    total = 0
    for k in range(rounds):
        total += k
    return total

def visit():
    for _ in range(100):
        parse(2000)
        weigh(ROUNDS)

visit()
"""


def new_python():
    """Find a Python that tells perf its functions: 3.12 and newer, also one of pyenv."""
    homes = sorted(
        Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.1[2-9]*")
    )
    named = [*homes, *(shutil.which(f"python3.{minor}") for minor in (12, 13, 14)), sys.executable]
    for one in filter(None, named):
        path = Path(one) / "bin" / "python3" if one in homes else Path(one)
        code = "import sys; sys.exit(not getattr(sys, 'activate_stack_trampoline', None))"
        if not subprocess.run([path, "-c", code], check=False, capture_output=True).returncode:
            return path
    pytest.skip("no Python 3.12 or newer is installed")


@pytest.mark.host_chance(0.01)
def test_a_function_of_a_python_program_is_found(lab):
    """Its frames lie in the stack of the interpreter, which has no frame pointers: copies of it are read.

    That takes long, so there is one session, which names nothing.
    """
    needed()
    python = new_python()
    lab.script("program.py", SCRIPT)
    campaign = lab.write_campaign(
        variants={"base": {"rounds": 1000}, "cand": {"rounds": 6000}},
        baseline="base",
        benchmarks={"keys": {"command": [str(python), "program.py", "{rounds}"]}},
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
        checks={"probe": "0s"},
    )
    assert lab.run_fairtrial("run", campaign, "-q").returncode == 0
    path = lab.trial()
    more = ("--sessions", 1, "--chains", "dwarf", "--any", "--json", "--wait-for-lock")
    done = lab.run_fairtrial("why", f"{path}:cand", *more)
    assert done.returncode == 0, done.stderr
    (answer,) = json.loads(done.stdout)["answers"]
    row = max(answer["rows"], key=lambda row: row["difference_ms"])
    assert (row["function"], row["object"]) == ("py::weigh", "program.py")
    assert answer["runtimes"]["cand"] == "python-frames"


def beside(lab):
    return lab.path.with_name(lab.path.name + ".why")


def test_ctrl_c_keeps_nothing_and_says_so(lab):
    needed()
    lab.path = measured(lab, ("planted",))
    before = hashes(lab.path)
    process = lab.start_fairtrial("why", f"{lab.path}:cand", "--sessions", "50", "--wait-for-lock")
    rows = beside(lab) / ".cand.part" / "timed" / "measurements.jsonl"

    def runs():
        assert process.poll() is None, process.err_path.read_text()
        return rows.exists() and rows.stat().st_size

    processes.wait_until(runs, "a program is timed")
    os.kill(process.pid, signal.SIGINT)
    code, said = lab.ended(process)
    assert code == 130
    assert "the trial is as it was" in said
    assert hashes(lab.path) == before
    assert not beside(lab).exists()


_DISK = """\
mount -t tmpfs -o size=24m none "$1" || exit 99
shift
"$@" > said 2>&1; echo $? > code
ls -A runs/*.why > left
"""


def test_a_full_disk_is_told_and_leaves_nothing(lab):
    """A program fills the disk on which the profile lies, the trial's own lies elsewhere."""
    needed()
    tried = subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no namespace with mounts is to be had here: {tried.stderr.strip()}")
    eat = "[ ! -e eat ] || cat /dev/zero > eat/full 2>/dev/null; :"
    campaign = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh(eat)}},
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
        isolation={"cpus": "none", "kept_outputs": "1MB"},
        checks={"probe": "0s"},
    )
    assert lab.run_fairtrial("run", campaign, "-q").returncode == 0
    lab.path = lab.trial()
    before = hashes(lab.path)
    place = beside(lab)
    place.mkdir()
    (lab.folder / "eat").symlink_to(place)
    (lab.folder / "disk.sh").write_text(_DISK)
    words = ("why", f"{lab.path}:b", "--sessions", 4, "--wait-for-lock")
    lab.run_fairtrial(*words, prefix=("unshare", "-m", "sh", "disk.sh", str(place)))
    said = " ".join((lab.folder / "said").read_text().split())
    assert (lab.folder / "code").read_text() == "5\n", said
    assert "No space left on device" in said or "the disk is full" in said
    assert "fix:" in said
    assert "Traceback" not in said
    assert hashes(lab.path) == before
    assert not [name for name in (lab.folder / "left").read_text().split() if name != "full"]


@pytest.mark.powerless
def test_what_is_said_of_this_host_is_so(tiny, listening):
    asked = ProfileRequest(
        variant="cand", benchmarks=("spin",), frequency_hz=9999, sessions=1, timed=1, profiled=1
    )

    def recorded():
        return record_profile(tiny.campaign, tiny.trial, asked, tiny.options, listening)

    try:
        find_perf()
    except HostError as refused:
        with pytest.raises(HostError, match=re.escape(refused.what)):
            recorded()
        return
    found = read_profile(recorded())
    objects = {function.object for one in found.cells for function in one.functions}
    seen = permission_of(Tree(Path("/")))[0]
    if seen != "seen":
        assert found.profile.kernel == seen
    assert ("kernel" in objects) == found.profile.sees_kernel
    assert all(one.samples for one in found.cells)
