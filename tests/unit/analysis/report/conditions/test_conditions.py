"""What a reader of the conditions needs: facts, what differed between sessions, failed runs and how they ended."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from analysis.data.columns import FailedRun
from analysis.data.trial import read_trial
from analysis.importers.reader import Reading
from analysis.pages.model import Value
from analysis.record.run_numbers import Outcome
from analysis.record.trial_files import ENVIRONMENT, FINDINGS
from analysis.report.assembling import chapter_html
from analysis.report.conditions import (
    chapter as conditions,
    differed_of,
    facts_of,
    outcome_words,
    source_of,
)
from analysis.report.subject import subject_of
from tests.examples import examples

SAMPLE = Path(__file__).resolve().parents[5] / "tests" / "data" / "sample-0.2.0"


def facts(chapter):
    return {fact["name"]: tuple(fact["texts"]) for fact in chapter["facts"]}


def rows(chapter):
    return {row["name"]: row for row in chapter["hosts"][0]["differed"]}


def test_what_a_reader_needs(subject):
    found = facts(conditions(subject()))
    assert found["host"] == ("lab07, Some CPU, 4 cores, CPUs 0-3",)
    assert found["system"] == ("Linux 6.1.0, glibc 2.36",)
    assert found["virtual"] == ("no virtual machine, no container",)
    assert found["memory"] == ("8.00 GiB, 0 B of swap, huge pages: madvise",)
    assert found["runs on"] == ("CPU 3",)
    assert found["programs"] == ("/usr/bin/x, sha256 abababababab… (the same for all variants)",)


def test_programs_of_variants_that_differ_are_told_apart(subject, recorded):
    records = [recorded(k) for k in (1, 2, 3)]
    for record in records:
        record["targets"]["text/fast"] |= {"resolved": "/opt/fast", "sha256": None}
        record["targets"]["logs/fast"] |= {"resolved": "/opt/fast", "sha256": None}
    (told,) = facts(conditions(subject(records)))["programs"]
    assert told == "/usr/bin/x, sha256 abababababab… (base); /opt/fast, not readable (fast)"


def test_without_any_record_everything_is_unknown(subject):
    chapter = conditions(subject([]))
    found = facts(chapter)
    assert found["host"] == ("lab07, processor unknown",)  # the manifest's name
    assert found["system"] == found["memory"] == found["programs"] == ("unknown",)
    assert found["virtual"] == ("virtual machine: unknown, container: unknown",)
    assert "unknown" in chapter["hosts"][0]["same"]


def test_infrastructure_is_nowhere_in_the_chapter(subject, recorded):
    records = [recorded(1), recorded(2, kernel__boot_arguments="lab=10.0.0.2"), recorded(3)]
    note = {
        "session": 2,
        "when": "before",
        "check": "environment",
        "status": "warn",
        "what": "kernel.boot_arguments changed from lab=10.0.0.1 to lab=10.0.0.2",
        "where": "kernel.boot_arguments",
    }
    found = subject(records, [note])
    chapter = conditions(found)
    texts = json.dumps(chapter.to_dict()) + str(chapter_html(chapter)) + repr([*chapter.sections()])
    assert "10.0.0." not in texts
    assert "10.0.0." not in json.dumps(found.verdict.to_dict())
    assert facts(chapter)["checks"] == ("warned: environment in session 2",)


def test_sessions_that_differ_and_what_does_not(subject, recorded):
    records = [recorded(1), recorded(2, kernel__release="6.1.9"), recorded(3, cpu__turbo=True)]
    chapter = conditions(subject(records))
    found = rows(chapter)
    assert found["kernel.release"]["cells"] == ["6.1.0", "6.1.9", "6.1.0"]
    assert found["cpu.turbo"]["cells"] == ["unknown", "unknown", "on"]
    assert found["load before"]["cells"] == [Value(f"0.{k}0", 0.1 * k) for k in (1, 2, 3)]
    assert found["began, UTC"]["cells"] == ["04:11", "04:12", "04:13"]
    assert "failed runs" not in found
    assert "temperature, °C" not in found  # never known
    html, cells = chapter_html(chapter), [cell for row in found.values() for cell in row["cells"]]
    assert all((cell if isinstance(cell, str) else cell.text) in html for cell in cells)
    assert chapter["hosts"][0]["same"] == "19 recorded values are the same in 3 sessions."


def test_a_changed_program_is_a_row(subject, recorded):
    records = [recorded(1), recorded(2), recorded(3)]
    records[2]["targets"]["text/fast"]["sha256"] = "cd" * 32
    found = rows(conditions(subject(records)))
    assert found["targets.text/fast"]["cells"] == ["ab" * 6, "ab" * 6, "cd" * 6]


def test_a_program_that_each_session_builds_is_no_row(subject, recorded):
    records = [recorded(k) for k in (1, 2, 3)]
    for k, record in enumerate(records):
        for bench in ("text", "logs"):
            record["targets"][f"{bench}/fast"] |= {"sha256": f"c{k}" * 32, "built": "session"}
    chapter = conditions(subject(records))
    assert "targets.text/fast" not in rows(chapter)
    (told,) = facts(chapter)["programs"]
    assert (
        told == "/usr/bin/x, sha256 abababababab… (base); /usr/bin/x, built by each session (fast)"
    )
    for bench in ("text", "logs"):  # its commit is what it is
        records[2]["targets"][f"{bench}/fast"]["commit"] = "9b77e02"
    cells = rows(conditions(subject(records)))["targets.text/fast"]["cells"]
    assert cells[1] != cells[2]


def test_what_each_session_builds_is_no_difference_between_two_trials(subject, recorded):
    # the negative control: a program of the whole trial is one
    for built, differs in (("session", False), ("campaign", True)):
        ours, theirs = ([recorded(k) for k in (1, 2, 3)] for _ in range(2))
        for k, record in enumerate((*ours, *theirs)):
            record["targets"]["text/fast"] |= {"sha256": f"c{k}" * 32, "built": built}
        found = facts(conditions(subject(ours, second=theirs)))
        assert ("targets.text/fast" in found) is differs


def test_a_session_without_a_record_is_said(subject, recorded):
    chapter = conditions(subject([recorded(1), recorded(3)]))
    assert "1 of them has no record." in chapter["hosts"][0]["same"]
    assert rows(chapter)["load before"]["cells"][1] == "unknown"


def test_one_record_of_a_sitting_tells_of_all_its_sessions(subject, recorded):
    chapter = conditions(subject([recorded(1) | {"sessions": [1, 3]}]))
    (host,) = chapter["hosts"]
    assert host["same"].endswith("are the same in 3 sessions.")
    assert not rows(chapter).keys() & {"began, UTC", "load before"}  # of the first one alone


def test_checks_the_worst_first(subject):
    notes = [
        {"session": k, "when": "before", "check": check, "status": status, "what": f"{check} {k}"}
        for check, statuses in {
            "aslr": ("ok", "ok", "ok"),
            "turbo": ("unknown",) * 3,
            "smt": ("a status of later versions",) * 3,
            "load": ("ok", "warn", "warn"),
            "steal": ("ok", "fail", "unknown"),
        }.items()
        for k, status in enumerate(statuses, 1)
    ]
    assert facts(conditions(subject(notes=notes)))["checks"] == (
        "failed: steal in session 2; warned: load in sessions 2, 3; not answered: turbo, smt",
    )
    well = [one for one in notes if one["check"] == "aslr"]
    assert facts(conditions(subject(notes=well)))["checks"] == ("all were well",)
    assert facts(conditions(subject()))["checks"] == ("none is recorded",)


def failing(*outcomes, stderr=b""):
    def change(made):
        for k, outcome in enumerate(outcomes):
            made.rows[k] = replace(
                made.rows[k], outcome=outcome, exit_code=3, signal=11, wall_ns=8_500_000
            )
            made.extra[f"outputs/{k:04d}.stderr"] = stderr

    return change


def test_failed_runs_and_the_end_of_what_they_wrote(subject):
    change = failing("exit", "signal", "timeout", "of a later version", stderr=b"\x1b[31mno\x00\n")
    found = subject(change=change)
    chapter = conditions(found)
    host = chapter["hosts"][0]
    assert [one["outcome"] for one in host["failed"]] == [
        "exit code 3 after 8.50 ms",
        "ended by SIGSEGV after 8.50 ms",
        "killed by its timeout after 8.50 ms",
        "of a later version after 8.50 ms",
    ]
    assert host["failed"][0]["stderr"] == ("\x1b[31mno\x00",)
    assert host["failed"][0]["cell"] == "text / base"
    assert [one["run"] for one in host["failed"]] == [Value(str(k), k) for k in range(4)]
    assert rows(chapter)["failed runs"]["cells"] == [Value("4", 4), Value("0", 0), Value("0", 0)]
    assert chapter["failed_anchor"] == found.anchor("failed")
    assert f'id="{chapter["failed_anchor"]}"' in str(chapter_html(chapter))


def test_empty_and_not_kept_are_told_apart(subject):
    def change(made):
        failing("exit", "exit")(made)
        del made.extra["outputs/0001.stderr"]

    (_, failed, _) = conditions(subject(change=change)).sections()
    assert [row[-1] for row in failed.blocks[0].rows] == ["empty", "not kept"]


def test_more_than_thirty_failures_are_counted(tmp_path, synthetic):
    made = synthetic({"a": {"x": [1.0] * 50}, "b": {"x": [1.0] * 50}})
    made.fail(lambda row: row.position < 40)
    chapter = conditions(subject_of([str(made.write(tmp_path / "t"))], Reading(), explain=False))
    host = chapter["hosts"][0]
    assert len(host["failed"]) == 30
    assert host["more_failed"] == 10
    html = str(chapter_html(chapter))
    assert "10 more failed runs" in html


def test_no_failure_is_said(subject):
    chapter = conditions(subject())
    assert "No run failed." in str(chapter_html(chapter))
    assert chapter["failed_anchor"] in str(chapter_html(chapter))


def test_two_trials_stand_side_by_side_and_differences_come_first(subject, recorded):
    second = [recorded(k, kernel__release="6.2.0") for k in (1, 2, 3)]
    chapter = conditions(subject(second=second))
    assert [host["label"] for host in chapter["hosts"]] == ["A", "B"]
    assert chapter["facts"][0]["texts"] == ["Linux 6.1.0, glibc 2.36", "Linux 6.2.0, glibc 2.36"]
    assert facts(chapter)["kernel.release"] == ("6.1.0", "6.2.0")
    unlike = [len(set(fact["texts"])) > 1 for fact in chapter["facts"]]
    assert unlike == sorted(unlike, reverse=True)
    assert unlike.count(True) == 2


def test_files_say_nothing_of_where_they_stem_from(tmp_path):
    rng = np.random.default_rng(1)
    for name in ("a.csv", "b.csv"):
        lines = [",".join(["x", *map(str, rng.lognormal(0, 0.1, 6))])]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    sides = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    assert conditions(subject_of(sides, Reading(better="lower"), explain=False)) is None


def test_the_sample_is_told_without_an_unknown_host():
    chapter = conditions(subject_of([str(SAMPLE)], Reading(), explain=False))
    found = facts(chapter)
    assert found["virtual"] == ("virtual machine: kvm, container: docker",)
    assert found["runs on"][0].startswith("CPU ")
    assert "governor" in found["checks"][0].partition("not answered")[2]
    assert chapter["certificate"] == "no A/A certificate for this machine and design."


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = (
    ("host", "name virtual container cpu_quota boot_id"),
    ("cpu", "model cores packages online siblings turbo"),
    ("memory", "total_bytes swap_total_bytes thp"),
    ("kernel", "release distribution architecture mitigations"),
    ("tools", "python python_implementation libc compilers"),
    ("process", "limits nice containment"),
    ("moment", "load_1min temperature_c"),
)
record = st.fixed_dictionaries(
    {"session": st.integers(1, 3)},
    optional={
        **{
            section: anything
            | st.fixed_dictionaries({}, optional=dict.fromkeys(keys.split(), anything))
            for section, keys in KEYS
        },
        "targets": anything
        | st.fixed_dictionaries(
            {
                "text/base": st.fixed_dictionaries(
                    {},
                    optional=dict.fromkeys(("path", "resolved", "sha256", "libraries"), anything),
                )
            }
        ),
        "variables": anything,
        "at": anything,
        "containment": anything,
    },
)
found_note = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("session", "when", "check", "status", "what", "where"), anything)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("any")


@settings(
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(st.lists(record, max_size=3), st.lists(found_note, max_size=3))
@example(
    [
        {"session": 1, "host": {"cpu_quota": 2.0}, "targets": {"x": 3}},
        {"session": 1, "targets": {"y": {}}},
    ],
    [],
)
def test_whatever_stands_in_the_files_is_told_or_unknown(folder, synthetic, records, notes):
    made = synthetic({"base": {"text": [1.0, 1.0]}, "fast": {"text": [1.0, 1.0]}})
    made.extra |= {
        ENVIRONMENT: b"".join(json.dumps(row).encode() + b"\n" for row in records),
        FINDINGS: b"".join(json.dumps(row).encode() + b"\n" for row in notes),
    }
    source = source_of(read_trial(made.write(folder / "trial")))
    sessions = differed_of(source)
    told = [
        *facts_of(source).values(),
        sessions["same"],
        *(cell for row in sessions["differed"] for cell in row["cells"] if isinstance(cell, str)),
    ]
    assert all(isinstance(text, str) for text in told)
    assert not any("\x00" in text or "\u202e" in text for text in told)


def run(outcome, **more):
    where = {"position": 1, "session": 1, "benchmark": "x", "variant": "a", "warmup": False}
    return FailedRun(**where, outcome=outcome, **more)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (run("signal", signal=9), "ended by SIGKILL"),
        (run("signal", signal=63), "ended by signal 63"),
        (run("signal"), "ended by a signal"),
        (run("exit", exit_code=3), "exit code 3"),
        (run("exit"), "exit code unknown"),
        (run("timeout"), "killed by its timeout"),
    ],
)
def test_words(one, words):
    assert outcome_words(one, None) == words
    assert outcome_words(one, 0.0085) == f"{words} after 8.50 ms"


def test_every_outcome_of_a_failed_run_has_words():
    for outcome in Outcome.__args__:
        if outcome != "ok":
            assert outcome_words(run(outcome, exit_code=1, signal=6), None) != outcome
