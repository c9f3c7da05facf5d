"""What perf may sample (Documentation/admin-guide/sysctl/kernel.rst, perf_event_paranoid), and what is said where it cannot."""

from __future__ import annotations

import os
import runpy
import shutil
import stat
from pathlib import Path

import pytest

from analysis.errors import StoreError
from harness.errors import HostError
from harness.host.state import Tree
from harness.trial import perf as demangling
from harness.trial.perf import (
    Began,
    CellCounts,
    Frame,
    Lost,
    Perf,
    Sample,
    complaint,
    counting_frames,
    demangled,
    find_perf,
    function_of,
    permission_of,
    plain_environment,
    read_script,
    runtime_of,
)
from harness.trial.profiles import SessionProfiler

TREES = runpy.run_path(str(Path(__file__).parents[3] / "hosts" / "trees.py"))
LEVEL = "proc/sys/kernel/perf_event_paranoid"
RATE = "proc/sys/kernel/perf_event_max_sample_rate"
STATUS = "proc/self/status"
NONE, PERFMON = "CapEff:\t0000000000000000\n", "CapEff:\t0000004000000000\n"


def host(**files: str) -> Tree:
    names = {"level": LEVEL, "rate": RATE, "status": STATUS}
    tree = {names[key]: text for key, text in files.items()}
    return Tree(TREES["lent"]({STATUS: NONE} | tree))


@pytest.mark.parametrize("level", ["-1", "0", "1"])
def test_an_ordinary_user_sees_the_kernel_up_to_1(level):
    assert permission_of(host(level=level, rate="63000"))[0] == "seen"


def test_at_2_the_kernel_is_not_seen_and_that_is_said():
    allowed = permission_of(host(level="2", rate="63000"))
    assert (
        allowed[0] == "not-seen: perf_event_paranoid is 2, and this process has no rights beyond it"
    )
    assert allowed[1] == 63000


@pytest.mark.parametrize("level", ["3", "4"])
def test_above_that_nothing_may_be_sampled(level):
    with pytest.raises(HostError, match=f"perf_event_paranoid is {level}") as refused:
        permission_of(host(level=level))
    assert "sudo sysctl kernel.perf_event_paranoid=2" in refused.value.fix
    assert refused.value.where == "/proc/sys/kernel/perf_event_paranoid"


def test_whoever_has_the_right_is_not_asked():
    assert permission_of(host(level="3", status=PERFMON))[0] == "seen"


def test_a_kernel_without_events_is_refused():
    with pytest.raises(HostError, match="no performance events"):
        permission_of(host())


def planted_perf(folder: Path, monkeypatch, text: str) -> Path:
    path = folder / "perf"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return path


@pytest.mark.parametrize(
    ("text", "said", "fix"),
    [
        (None, "there is no perf", "apt install linux-perf"),
        # Ubuntu's /usr/bin/perf is a script that looks for the one of the kernel
        ('echo "WARNING: perf not found for kernel 6.5" >&2; exit 2', "perf not found for kernel", "linux-tools"),
        ('case $1 in version) echo perf version 6.8;; *) echo "Error:" >&2; echo "Access limited." >&2; exit 255;; esac',
         "does not sample a program here: Access limited", "--cap-add PERFMON"),
    ],
)  # fmt: skip
def test_a_perf_that_cannot_be_used_is_refused_with_the_remedy(
    tmp_path, monkeypatch, text, said, fix
):
    if text is None:
        monkeypatch.setenv("PATH", "/nonexistent")
    else:
        planted_perf(tmp_path, monkeypatch, text)
    with pytest.raises(HostError, match=said) as refused:
        find_perf(host(level="1"))
    assert fix in refused.value.fix


@pytest.mark.parametrize(
    ("held", "event"), [("cycles", "cycles"), ("cpu-clock", "cpu-clock"), ("cycles:u", "cycles")]
)
def test_a_counter_is_used_where_there_is_one(tmp_path, monkeypatch, held, event):
    # perf takes cpu-clock in the place of a counter that is missing, without a word
    text = f'case $1 in version) echo perf version 6.8;; evlist) echo "{held}";; esac'
    planted_perf(tmp_path, monkeypatch, text)
    found = find_perf(host(level="2"))
    assert (found.event, found.version) == (event, "6.8")
    assert found.selector == f"{event}:u"


def test_where_perf_falls_back_to_the_users_side_the_kernel_is_not_seen(tmp_path, monkeypatch):
    # root in a container: it has the right by name, and the kernel refuses it all the same
    text = 'case $1 in version) echo perf version 6.8;; evlist) echo "cpu-clock:u";; esac'
    planted_perf(tmp_path, monkeypatch, text)
    found = find_perf(host(level="2", status=PERFMON))
    assert found.kernel.startswith("not-seen: ")
    assert found.selector == "cpu-clock:u"


PERF = Perf(path="/p", version="6.8", event="cpu-clock", kernel="seen", most_hz=None)


def test_the_users_caches_and_settings_are_left_alone(monkeypatch, tmp_path):
    command = PERF.recording(tmp_path / "perf.data", 999, "dwarf")
    assert command[-1] == "--"
    assert {"-N", "--no-bpf-event"} < set(command)
    assert command[command.index("-e") + 1] == "cpu-clock"
    assert command[command.index("--call-graph") + 1].startswith("dwarf")
    assert "--call-graph" not in PERF.recording(tmp_path / "perf.data", 999, None)
    assert "--buildid-dir" in PERF.script(tmp_path / "perf.data")
    monkeypatch.setenv("PERF_CONFIG", "mine")
    assert plain_environment() == dict(os.environ) | plain_environment()
    assert plain_environment()["PERF_CONFIG"] == "/dev/null"


def test_the_first_line_that_says_something_is_quoted():
    assert (
        complaint(b"Error:\n\nfailed to open it: no room.\nmore\n") == "failed to open it: no room"
    )
    assert complaint(b"") == ""


# --- What a sample counts for (docs/why.md, "What a row is"); names of perf maps as Python 3.12 and node 20 write them


EVAL = Frame(0x7F00, "_PyEval_EvalFrameDefault", "/usr/lib/libpython3.12.so.1.0")
KEY = Frame(0x7F01, "py::key:/tmp/prog.py", "/tmp/perf-12.map")
ORDER = Frame(0x7F02, "py::order:/tmp/prog.py", "/tmp/perf-12.map")
MAIN = Frame(0x10, "main", "/bin/python3.12")
FAULT = Frame(0xFFFFFFFF81000000, "exc_page_fault", "[kernel.kallsyms]")


@pytest.mark.parametrize(
    ("frame", "function"),
    [
        (Frame(1, "main", "/home/me/build/app"), ("main", "app")),
        (FAULT, ("exc_page_fault", "kernel")),
        (Frame(0xFFFFFFFFC0000000, "start", "[virtio_net]"), ("start", "kernel")),
        (Frame(0xFFFFFFFFFF600000, "time", "[vsyscall]"), ("time", "[vsyscall]")),
        (Frame(1, "clock_gettime", "[vdso]"), ("clock_gettime", "[vdso]")),
        (Frame(1, "[unknown]", "//anon"), ("[unknown]", "anon")),
        (KEY, ("py::key:/tmp/prog.py", "python")),
        (Frame(1, "JS:*key /x.js:1:13", "/tmp/perf-99.map"), ("JS:*key /x.js:1:13", "jit")),
    ],
)
def test_a_function_has_a_name_and_a_file(frame, function):
    assert function_of(frame) == function


def test_a_sample_counts_for_the_innermost_function_of_python():
    assert counting_frames([EVAL, KEY, EVAL, ORDER, MAIN])[0] == ("py::key:/tmp/prog.py", "python")
    assert counting_frames([FAULT, EVAL, KEY])[0][0] == "py::key:/tmp/prog.py"
    assert counting_frames([FAULT, EVAL, MAIN])[0] == ("exc_page_fault", "kernel")


def test_a_row_holds_what_was_counted():
    counts = CellCounts()
    for frames in ([EVAL, KEY, ORDER], [KEY, ORDER], [MAIN], [FAULT, MAIN]):
        counts.add(frames, chains=True)
    row = counts.row((2, "b", "v"), 3, 5, {"main": "main()"}, chains=True)
    assert (row.session, row.benchmark, row.variant, row.runs, row.lost) == (2, "b", "v", 3, 5)
    functions = [(one.symbol, one.samples) for one in row.functions]
    assert row.samples == sum(count for _, count in functions) == 4
    assert functions[0] == ("py::key:/tmp/prog.py", 2)
    assert ("py::order:/tmp/prog.py", 0) in functions  # it only called
    assert ("main()", 1) in functions
    names = [one.symbol for one in row.functions]
    chains = {tuple(names[k] for k in chain.frames): chain.samples for chain in row.chains}
    assert chains == {
        ("py::order:/tmp/prog.py", "py::key:/tmp/prog.py"): 2,
        ("main()",): 1,
        ("main()", "exc_page_fault"): 1,
    }


def test_without_chains_there_are_none():
    counts = CellCounts()
    counts.add([KEY], chains=False)
    row = counts.row((1, "b", "v"), 1, 0, {}, chains=False)
    assert row.chains is None
    assert [one.samples for one in row.functions] == [1]


@pytest.mark.parametrize(
    ("frames", "chains", "words"),
    [
        ([EVAL, KEY], "dwarf", "python-frames"),
        ([EVAL], None, "--chains dwarf"),
        ([EVAL], "fp", "no chain (fp) led"),
        ([Frame(1, "f", "/usr/bin/python3.11")], "dwarf", "Python 3.11 tells perf no names"),
        ([Frame(1, "f", "/usr/bin/node")], None, "node wrote no map"),
    ],
)
def test_what_was_seen_of_an_interpreter_is_said(frames, chains, words):
    counts = CellCounts()
    counts.add(frames, chains=chains is not None)
    row = counts.row((1, "b", "v"), 1, 0, {}, chains=chains is not None)
    assert words in runtime_of(row, chains)


def test_of_other_programs_nothing_is_said():
    counts = CellCounts()
    counts.add([Frame(1, "main", "/bin/app"), FAULT], chains=False)
    assert runtime_of(counts.row((1, "b", "v"), 1, 0, {}, chains=False), None) is None
    counts.add([Frame(1, "JS:*key /x.js:1:1", "/tmp/perf-1.map")], chains=False)
    counts.add([Frame(1, "main", "/usr/bin/node")], chains=False)
    assert runtime_of(counts.row((1, "b", "v"), 1, 0, {}, chains=False), None) == "node-map"


# --- What perf script writes is read as it stands: lines of perf 6.1, kept as they were (perf-script(1))


PLAIN = """\
    0/0       0.000000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1276508) @ 0]: x [kernel.kallsyms]_text
25459/25459 24621.893475486:      7f56f985a3e0 update_active.constprop.0 (/usr/lib/ld-linux-x86-64.so.2)
25459/25460 24621.900000001:  ffffffff8162b031 unmapped_area_topdown ([kernel.kallsyms])
25528/25528 24622.000000000: PERF_RECORD_COMM exec: a:25528/25528
25528/25528 24622.000000000: PERF_RECORD_FORK(25530:25530):(25528:25528)
25528/25528 24622.000000000: PERF_RECORD_FORK(25528:25531):(25528:25528)
25528/25528 24622.100000000: PERF_RECORD_EXIT(25528:25528):(25459:25459)
25528/25528 24622.200000000: PERF_RECORD_LOST lost 150
25528/25528 24622.200000000: PERF_RECORD_LOST_SAMPLES lost 200
25528/25528 24622.300000000:      561a396e622e v8::f<a, b >(int) [clone .isra.0] (/tmp/with (blank)/a (deleted))
25528/25528 24622.300000000:      561a396e622e [unknown] ([unknown])
25528/25528 24622.300000000:      561a396e622e [unknown] (//anon)
"""


def test_samples_without_callers():
    found = list(read_script(PLAIN.splitlines(keepends=True)))
    samples = [one for one in found if isinstance(one, Sample)]
    assert samples[0] == Sample(
        25459,
        24621_893475486,
        (Frame(0x7F56F985A3E0, "update_active.constprop.0", "/usr/lib/ld-linux-x86-64.so.2"),),
    )
    assert [one.frames[0].symbol for one in samples] == [
        "update_active.constprop.0",
        "unmapped_area_topdown",
        "v8::f<a, b >(int) [clone .isra.0]",
        "[unknown]",
        "[unknown]",
    ]
    assert [one.frames[0].file for one in samples[1:]] == [
        "[kernel.kallsyms]",
        "/tmp/with (blank)/a",
        "[unknown]",
        "//anon",
    ]
    assert [one for one in found if not isinstance(one, Sample)] == [
        Began(25530, 25528),  # and not the thread
        Lost(150, total=False),
        Lost(200, total=True),
    ]


CHAINS = """\
25696/25696 24623.251111835: \n\t            1239 outer (/tmp/a)
\t    7fd14a458ea0 [unknown] ([unknown])

25696/25696 24623.252114615: \n
25648/25648 24623.257110439: \n\t          194d9c dict_traverse (/lib/libpython3.11.so.1.0)
25648/25648 24623.260000000: PERF_RECORD_LOST lost 4
25648/25648 24623.260127528: \n\t           9633f _int_free (/usr/lib/libc.so.6)
"""


def test_samples_with_callers():
    # a sample without any frame counts for nothing that has a name, and is none
    found = list(read_script(CHAINS.splitlines(keepends=True)))
    chains = [[frame.symbol for frame in one.frames] for one in found if isinstance(one, Sample)]
    assert chains == [["outer", "[unknown]"], ["dict_traverse"], ["_int_free"]]
    assert Lost(4, total=False) in found


def test_whatever_the_lines_are_nothing_else_is_made_of_them():
    odd = ["\n", "perf: Segmentation fault\n", "1/1 2.5: x\n", "\tabc\n", "1/1 3.000000001:\n", "?"]
    assert list(read_script(odd)) == []


WHOLE = """\
26596/26596 48283.719147955: \n\t            982f [unknown] (/usr/bin/dash)
\t    55cb27512ae0 [unknown] ([unknown])

26596/26596 48283.733293818: \n\t           13664 main (/usr/bin/dash)

"""
EXIT = "26596/26596 48283.735338818: PERF_RECORD_EXIT(26596:26596):(26595:26595)\n"


def samples_of(folder, text, chains):
    """Read what a perf writes that ends well after this text."""
    (folder / "text").write_text(text)
    (perf := folder / "perf").write_text(f"#!/bin/sh\ncat '{folder}/text'\n")
    perf.chmod(0o755)
    tool = Perf(path=str(perf), version="6.1", event="cpu-clock", kernel="seen", most_hz=None)
    made = SessionProfiler(perf=tool, folder=folder, frequency_hz=99, chains=chains, runs=1)
    return [one for one in made._script(folder / "perf.data") if isinstance(one, Sample)]


@pytest.mark.parametrize(
    ("text", "chains"),
    [
        *((WHOLE[: WHOLE.index(end) + len(end)], "fp") for end in ("982f [", "dash)\n", "[unknown])\n", "3818: \n", "13664")),
        (WHOLE + EXIT[:30], "fp"),
        (WHOLE + EXIT[:-1], None),
        (PLAIN[:-1], None),
        (PLAIN[:-30], None),
    ],
)  # fmt: skip
def test_a_part_of_what_perf_writes_is_an_error_and_no_number(tmp_path, text, chains):
    with pytest.raises(StoreError, match="cut off") as told:
        samples_of(tmp_path, text, chains)
    assert told.value.exit_code == 5


@pytest.mark.parametrize(
    ("text", "chains", "samples"),
    [("", "fp", 0), (WHOLE, "fp", 2), (WHOLE + EXIT, "dwarf", 2), (PLAIN, None, 5)],
)
def test_the_whole_of_it_is_none(tmp_path, text, chains, samples):
    assert len(samples_of(tmp_path, text, chains)) == samples


# --- Names of C++ and Rust that perf left mangled. Authority: the ABIs' own examples (Itanium C++, RFC 2603).

NAMES = {
    "_ZN3foo3barEi": "foo::bar(int)",
    "_RNvCs15kBYyAo9fc_7mycrate7example": "mycrate[ca63f166dbe9294]::example",
}


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="c++filt is not installed")
def test_mangled_names_are_made_readable():
    assert demangled([*NAMES, "main", "_start", "_Zone", "std::sort", "_ZN3foo3barEi"]) == NAMES


def test_without_a_demangler_names_stay(monkeypatch, tmp_path):
    monkeypatch.setattr(demangling.shutil, "which", lambda _: None)
    assert demangled(NAMES) == {}
    monkeypatch.setattr(demangling.shutil, "which", lambda _: str(tmp_path / "gone"))
    assert demangled(NAMES) == {}
    monkeypatch.setattr(demangling.shutil, "which", lambda _: "/bin/false")
    assert demangled(NAMES) == {}
    monkeypatch.setattr(demangling.shutil, "which", lambda _: "/bin/true")  # answers nothing
    assert demangled(NAMES) == {}
    cut = tmp_path / "cut"
    cut.write_text("#!/bin/sh\ncat > /dev/null; printf 'one\\ntw'\n")
    cut.chmod(0o755)
    monkeypatch.setattr(demangling.shutil, "which", lambda _: str(cut))
    assert demangled(NAMES) == {}


def test_nothing_is_asked_where_nothing_is_mangled(monkeypatch):
    monkeypatch.setattr(demangling.shutil, "which", lambda _: pytest.fail("was asked"))
    assert demangled(["main", "std::sort(int*)"]) == {}
