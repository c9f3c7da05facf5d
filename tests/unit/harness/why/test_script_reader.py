"""What perf script writes is read as it stands: lines of perf 6.1, kept as they were (perf-script(1))."""

from __future__ import annotations

import shutil

import pytest

from analysis.errors import StoreError
from harness.trial import perf as demangling
from harness.trial.perf import Began, Frame, Lost, Perf, Sample, demangled, read_script
from harness.trial.profiles import SessionProfiler

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
