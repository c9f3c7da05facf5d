from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
import tracemalloc
from pathlib import Path

import pytest

from analysis.errors import StoreError
from analysis.record.shapes import encode_checked
from harness.campaign.model import Bound, Expect, MetricRule
from harness.launch.exchange import Execution
from harness.launch.matching import Matching
from harness.trial.outcomes import Examined, examine, examine_after
from harness.trial.run_files import clear
from harness.trial.writer import Rows, Store

ENDED = Execution(started_ns=0, exit_code=0, signal=None, killed=None, survivors=0, numbers={})
LIMIT = 1000


def rule(**changes):
    fields = {"name": "m", "source": "stdout", "regex": None, "json": None}
    return MetricRule(**(fields | {"unit": "s", "better": "lower"} | changes))


@pytest.fixture
def judge(tmp_path, make_cell):
    """Judge a run that wrote `stdout` and `stderr`; keywords change its cell or its ending."""

    def judge_one(stdout="", stderr="", cell=None, **ending):
        out, err = tmp_path / "stdout", tmp_path / "stderr"
        out.write_bytes(stdout if isinstance(stdout, bytes) else stdout.encode())
        err.write_text(stderr)
        execution = dataclasses.replace(ENDED, **ending)
        return examine(make_cell(**(cell or {})), execution, out, err, LIMIT)

    return judge_one


def test_good_run_is_ok_with_its_fingerprint(judge):
    found = judge("hello\n")
    assert (found.outcome, found.detail) == ("ok", None)
    assert found.stdout_bytes == 6
    assert found.stdout_sha256 == hashlib.sha256(b"hello\n").hexdigest()


def test_discarded_output_has_no_fingerprint(make_cell):
    found = examine(make_cell(stdout="discard", stderr="discard"), ENDED, None, None, LIMIT)
    assert (found.outcome, found.stdout_bytes, found.stdout_sha256) == ("ok", None, None)


@pytest.mark.parametrize(
    ("ending", "outcome", "detail"),
    [
        ({"exit_code": 3}, "exit", "exit code 3, expected 0"),
        ({"exit_code": None, "signal": 11}, "signal", "ended by signal SIGSEGV"),
        ({"exit_code": None, "signal": 40}, "signal", "ended by signal 40"),
        ({"exit_code": None, "signal": 15, "killed": "timeout"}, "timeout", "timeout of 2 s"),
        # It ended by itself when it was asked to: a timeout all the same.
        ({"exit_code": 0, "killed": "timeout"}, "timeout", "timeout of 2 s"),
        ({"exit_code": None, "signal": 9, "killed": "output-limit"}, "output-limit", "1000 bytes"),
    ],
)
def test_ending_decides_the_outcome(judge, ending, outcome, detail):
    found = judge(cell={"timeout_s": 2.0}, **ending)
    assert found.outcome == outcome
    assert detail in found.detail


def test_expected_exit_codes_are_ok(judge):
    cell = {"expect": Expect(exit_codes=(1, 2))}
    assert judge(cell=cell, exit_code=2).outcome == "ok"
    found = judge(cell=cell, exit_code=0)
    assert found.detail == "exit code 0, expected 1 or 2"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_flood_that_ended_before_anybody_looked_is_one(judge, stream):
    found = judge(**{stream: "x" * (LIMIT + 1)})
    assert found.outcome == "output-limit"
    assert judge(**{stream: "x" * LIMIT}).outcome == "ok"


def test_flood_is_not_hashed(judge):
    found = judge("x" * 2000)
    assert (found.stdout_bytes, found.stdout_sha256) == (2000, None)


def test_output_is_checked_by_hash(judge):
    digest = hashlib.sha256(b"right").hexdigest().upper()
    cell = {"expect": Expect(stdout_sha256=digest)}
    assert judge("right", cell=cell).outcome == "ok"
    found = judge("wrong", cell=cell)
    assert found.outcome == "output-mismatch"
    assert digest in found.detail


def test_output_is_checked_by_regex_line_by_line(judge):
    cell = {"expect": Expect(stdout_regex=r"^done$")}
    assert judge("first\ndone\n", cell=cell).outcome == "ok"
    assert judge("undone\n", cell=cell).outcome == "output-mismatch"
    assert judge(b"\xff\ndone\n", cell=cell).outcome == "ok"


def test_a_mismatch_shows_the_pattern_as_it_is_written_and_how_the_output_begins(judge):
    # the project's list of what real work showed: neither stood there, and backslashes were doubled
    cell = {"expect": Expect(stdout_regex=r"^196418\s1$")}
    found = judge("196417 1\n\nsecond\nthird\nfourth\n", cell=cell)
    assert found.detail == (
        r"stdout does not match '^196418\s1$'; stdout: 196417 1 | second | third | …"
    )
    assert judge("", cell=cell).detail.endswith("; stdout: (empty)")
    assert judge("\n \n", cell=cell).detail.endswith("; stdout: (blank)")
    assert judge("a\x1b[1m\tb", cell=cell).detail.endswith("; stdout: a?[1m?b")
    tab = judge("x", cell={"expect": Expect(stdout_regex="a\tb\\d")})
    assert tab.detail == r"stdout does not match 'a\tb\d'; stdout: x"


def test_what_a_mismatch_shows_is_short_and_redacted(judge, tmp_path, make_cell):
    cell = {"expect": Expect(stdout_sha256="0" * 64)}
    assert len(judge("x" * 900, cell=cell).detail) < 400
    out = tmp_path / "out"
    out.write_text("user secret here\n" + "y" * 5000)
    found = examine(
        make_cell(**cell), ENDED, out, None, 10_000, conceal=lambda t: t.replace("secret", "***")
    )
    assert found.detail.endswith("; stdout: user *** here | …")


def test_output_is_checked_against_a_file_that_may_change(judge, tmp_path):
    reference = tmp_path / "reference"
    reference.write_text("one")
    cell = {"expect": Expect(stdout_file=reference)}
    assert judge("one", cell=cell).outcome == "ok"
    assert "differs from" in judge("two", cell=cell).detail
    reference.write_text("two")
    os.utime(reference, ns=(1, 1))
    assert judge("two", cell=cell).outcome == "ok"


@pytest.mark.parametrize(("device", "outcome"), [("zero", "output-mismatch"), ("null", "ok")])
def test_reference_that_has_no_end_is_read_as_far_as_the_output(judge, device, outcome):
    cell = {"expect": Expect(stdout_file=Path(f"/dev/{device}"))}
    assert judge("", cell=cell).outcome == outcome


def test_reference_that_is_gone_is_a_mismatch(judge, tmp_path):
    cell = {"expect": Expect(stdout_file=tmp_path / "gone")}
    found = judge("one", cell=cell)
    assert found.outcome == "output-mismatch"
    assert "gone" in found.detail


def test_exit_code_counts_before_output(judge):
    cell = {"expect": Expect(stdout_regex="never")}
    assert judge("x", cell=cell, exit_code=1).outcome == "exit"


def test_every_match_is_an_iteration(judge):
    cell = {"metrics": (rule(regex=r"time: ([0-9.]+)"),)}
    assert judge("time: 1.5\ntime: 2\ntime: 3\n", cell=cell).metrics == {"m": (1.5, 2.0, 3.0)}


def test_named_group_is_the_value(judge):
    cell = {"metrics": (rule(regex=r"(\w+)=(?P<value>\d+)"),)}
    assert judge("a=1 b=2", cell=cell).metrics == {"m": (1.0, 2.0)}


def test_metric_from_stderr_and_json(judge):
    cell = {
        "metrics": (
            rule(name="e", source="stderr", regex=r"(\d+) ms", unit="ms"),
            rule(name="j", json="results[*].t"),
        )
    }
    found = judge('{"results": [{"t": 1}, {"t": 2.5}]}', "7 ms", cell)
    assert found.metrics == {"e": (7.0,), "j": (1.0, 2.5)}


@pytest.mark.parametrize(
    ("metric", "stdout", "says"),
    [
        (rule(regex="time: (.*)"), "nothing", "nothing in stdout matches"),
        (rule(regex="time: (.*)"), "time: fast", "'fast' is not a finite number"),
        (rule(regex="time: (.*)"), "time: nan", "not a finite number"),
        (rule(regex="time: (.*)"), "time: inf", "not a finite number"),
        (rule(regex="(x)?y"), "y", "a match of its regex holds no number"),
        (rule(json="t"), "no json", "no JSON"),
        (rule(json="t"), '{"u": 1}', "m: the document has no key 't'"),
        (rule(json="t[*]"), '{"t": []}', "nothing in stdout matches"),
        (rule(json="t"), '{"t": true}', "true is not a finite number"),
        (rule(json="t"), '{"t": 1e999}', "not a finite number"),
        pytest.param(
            rule(json="t"), f'{{"t": {"1" * 500}}}', "not a finite number", id="long number"
        ),
        pytest.param(rule(json="t"), "[" * 990, "no JSON", id="deeply nested JSON"),
    ],
)
def test_what_cannot_be_read_is_unparsable(judge, metric, stdout, says):
    found = judge(stdout, cell={"metrics": (metric,)})
    assert found.outcome == "unparsable"
    assert says in found.detail
    assert found.metrics == {}


def test_metric_from_a_file_must_be_of_this_run(judge, make_cell, tmp_path):
    path = tmp_path / "result"
    cell = {"metrics": (rule(source=path, regex="(.*)s"),)}
    assert "No such file" in judge(cell=cell).detail
    path.write_text("4.5s")
    assert judge(cell=cell).metrics == {"m": (4.5,)}
    # An earlier run's file is removed before the run; the kernel's own files are live and stay.
    assert clear(make_cell(**cell)) == frozenset()
    assert not path.exists()
    live = make_cell(metrics=(rule(source=Path("/proc/uptime"), regex="^([0-9.]+)"),))
    assert clear(live) == frozenset()
    path.write_text("4.5s")
    kept = examine(make_cell(**cell), ENDED, None, None, LIMIT, kept=frozenset({path}))
    assert kept.outcome == "unparsable"
    assert "may be an earlier run's" in kept.detail


def test_what_is_no_file_of_the_run_or_is_larger_than_an_output_may_be_is_unparsable(
    judge, tmp_path
):
    large, link, pipe = (tmp_path / name for name in ("large", "link", "pipe"))
    with large.open("wb") as file:
        file.truncate(6 << 30)
    link.symlink_to(large)
    os.mkfifo(pipe)  # without a writer, which is not waited for
    for path, said in (
        (tmp_path, "no regular file"),
        (large, "more than 67108864 bytes (isolation.output_limit)"),
        (link, "a symbolic link"),
        (pipe, "no regular file"),
    ):
        judged = judge(cell={"metrics": (rule(source=path, regex="(.*)s"),)})
        assert (judged.outcome, said in judged.detail) == ("unparsable", True), judged.detail


# --- patterns without an end -------------------------------------------------------------------


@pytest.mark.parametrize("place", ["expect", "metric"])
def test_a_pattern_that_is_too_slow_makes_a_run_unparsable(judge, monkeypatch, place):
    monkeypatch.setattr("harness.launch.matching._DEADLINE_S", 0.05)
    slow = r"^(a+)+$"
    cell = {
        "expect": {"expect": Expect(stdout_regex=slow)},
        "metric": {"metrics": (rule(regex=f"({slow})"),)},
    }[place]
    found = judge("a" * 45 + "b", cell=cell)
    assert found.outcome == "unparsable"
    assert "the pattern was too slow" in found.detail
    assert found.metrics == {}
    assert judge("a" * 45, cell=cell).outcome == ("ok" if place == "expect" else "unparsable")


@pytest.mark.parametrize(
    ("ending", "limited", "outcome", "detail"),
    [
        ({"exit_code": None, "signal": 9}, True, "signal", "out of memory limit"),
        ({"exit_code": None, "signal": 9}, False, "signal", "out of memory"),
        ({"exit_code": 1}, True, "exit", "exit code 1, expected 0; the kernel killed a process of it: out of memory limit"),
        ({}, True, "ok", None),  # whoever bears the loss of a process has done its work
        ({"killed": "timeout", "signal": 9}, True, "timeout", "ended after its timeout of 5 s"),
    ],
)  # fmt: skip
def test_a_kill_for_memory_is_told_from_others(
    tmp_path, make_cell, ending, limited, outcome, detail
):
    execution = dataclasses.replace(ENDED, out_of_memory=True, **ending)
    cell = make_cell(stdout="discard", stderr="discard", timeout_s=5.0)
    found = examine(cell, execution, None, None, LIMIT, memory_limited=limited)
    assert (found.outcome, found.detail) == (outcome, detail)


@pytest.mark.parametrize("known", [False, None])
def test_another_kill_is_not_called_one_for_memory(make_cell, known):
    execution = dataclasses.replace(ENDED, exit_code=None, signal=9, out_of_memory=known)
    cell = make_cell(stdout="discard", stderr="discard")
    found = examine(cell, execution, None, None, LIMIT, memory_limited=True)
    assert found.detail == "ended by signal SIGKILL"


# --- units, bounds, and what hooks write ---------------------------------------------------------


def test_a_unit_that_comes_with_the_match_is_converted_to_the_declared_one(judge):
    ms = rule(regex="p99 (.+)", unit="ms")
    found = judge("p99 980us\np99 1.2ms\np99 2\np99 1 s\n", cell={"metrics": (ms,)})
    assert found.metrics == {"m": (0.98, 1.2, 2.0, 1000.0)}
    found = judge('{"p99": "980us"}', cell={"metrics": (rule(json="p99", unit="ms"),)})
    assert found.metrics == {"m": (0.98,)}


def test_an_unknown_unit_leaves_the_run_unparsable_and_says_why(judge):
    found = judge("p99 980 ticks\n", cell={"metrics": (rule(regex="p99 (.+)", unit="ms"),)})
    assert (found.outcome, found.metrics) == ("unparsable", {})
    assert found.detail.startswith(
        "m: '980 ticks' is in 'ticks', which is not known; known are ns,"
    )
    found = judge("size 12MB\n", cell={"metrics": (rule(regex="size (.+)", unit="ms"),)})
    assert found.detail == "m: '12MB' is in 'MB', which cannot be converted to ms"


def bounded(*bounds, **changes):
    return {
        "metrics": (rule(**{"regex": "errors (.+)", "unit": "%", **changes}),),
        "expect": Expect(bounds=bounds),
    }


@pytest.mark.parametrize(
    ("said", "detail"),
    [
        ("errors 0.1 %", None),  # the bound itself is good
        ("errors 0.100001", "m is 0.100001 %, expected at most 0.1 %"),
        ("errors -1", "m is -1 %, expected at least 0 %"),
        ("errors 0\nerrors 2\nerrors 3", "m is 2 % in 2 of 3 values, expected at most 0.1 %"),
    ],
)
def test_a_value_beyond_a_bound_is_an_output_that_was_not_expected(judge, said, detail):
    found = judge(said, cell=bounded(Bound(metric="m", at_most=0.1, at_least=0.0)))
    assert (found.outcome, found.detail) == ("output-mismatch" if detail else "ok", detail)
    assert found.metrics["m"]  # it stays in the row


def test_a_bound_on_a_metric_that_is_not_read_asks_nothing(judge):
    # `why` counts instructions of cells without their metrics
    bound = Bound(metric="m", at_most=0.1)
    assert judge("errors 5", cell={**bounded(bound), "metrics": ()}).outcome == "ok"
    assert judge("errors 5", cell=bounded(bound)).outcome == "output-mismatch"  # negative control


def test_a_number_without_a_unit_is_told_alone(judge):
    found = judge("errors 5", cell=bounded(Bound(metric="m", at_most=0.1), unit="1"))
    assert found.detail == "m is 5, expected at most 0.1"


def test_a_metric_that_is_read_later_is_looked_for_then(tmp_path, judge, make_cell):
    path = tmp_path / "cost"
    cell = {
        "metrics": (rule(regex="t (.)"), rule(name="cost", source=path, regex="(.+)", when="after"))
    }
    found = judge("t 1\n", cell=cell)
    assert (found.outcome, found.metrics) == ("ok", {"m": (1.0,)})
    whole = make_cell(**cell)
    late = examine_after(whole, found, frozenset(), Matching())
    assert (late.outcome, late.metrics) == ("unparsable", {})
    assert late.detail == f"cost: {path}: No such file: no hook after this run has written it"
    path.write_text("20ms\n")
    late = examine_after(whole, found, frozenset(), Matching())
    assert (late.outcome, late.metrics) == ("ok", {"m": (1.0,), "cost": (0.02,)})
    held = make_cell(**cell, expect=Expect(bounds=(Bound(metric="cost", at_most=0.01),)))
    late = examine_after(held, found, frozenset(), Matching())
    assert (late.outcome, late.detail) == (
        "output-mismatch",
        "cost is 0.02 s, expected at most 0.01 s",
    )
    failed = Examined(outcome="exit", detail="exit code 3, expected 0")
    assert examine_after(whole, failed, frozenset(), Matching()) is failed
    stays = examine_after(whole, found, frozenset({path}), Matching())
    assert "an earlier run's" in stays.detail


def test_a_number_of_a_build_is_none_of_a_run(tmp_path, judge):
    cell = {
        "metrics": (
            rule(regex="t (.)"),
            rule(name="size", source=tmp_path / "none", regex="(.)", when="build"),
        )
    }
    assert judge("t 1\n", cell=cell).metrics == {"m": (1.0,)}


def test_a_log_of_a_histogram_gives_its_mean_and_says_why_it_cannot_be_read(judge):
    log = "1,1,1,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI=\n"
    cell = {"metrics": (rule(hlog="ns", unit="us"),)}
    assert int(judge(log, cell=cell).metrics["m"][0]) == 301  # 301,998 ns say the library's ports
    found = judge(log[:40], cell=cell)
    assert (found.outcome, found.detail) == (
        "unparsable",
        "m: line 1: its histogram is cut off, or no base64",
    )


@pytest.mark.parametrize(
    ("stdout", "unit", "another"),
    [
        *(("time 980us\n", "ms", "us"), ("time 980 us\n", "ms", "us")),
        *(("time 980us/op\n", "ns", "us"), ("time 980 KiB\n", "B", "KiB")),
        *((f"time 980{end}\n", "ms", None) for end in ("ms", " us-ascii", " rounds", "")),
    ],
)
def test_another_unit_behind_the_group_makes_a_run_unparsable(judge, stdout, unit, another):
    # authority: 980us are not 980 ms
    metric = rule(regex="time ([0-9.]+)", unit=unit)
    found = judge(stdout, cell={"metrics": (metric,)})
    if another is None:
        assert found.metrics["m"] == (980.0,)
    else:
        assert found.outcome == "unparsable"
        assert f"'{another}' follows 980" in found.detail


# --- What is read back of a trial: the attacks on 0.1.0, B6, B15 and section E


@pytest.fixture
def store(tmp_path, make_manifest, make_measurement):
    store = Store.create(make_manifest(planned=6, runs=2), tmp_path, b"name: c\n")
    for position in (0, 1, -1, -2, 2, 3):
        warmup = position < 2
        store.append_measurement(make_measurement(position, warmup=warmup, block=int(not warmup)))
    yield store
    store.release()


def rewrite(store, change):
    path = store.path / "measurements.jsonl"
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    for row in rows:
        del row["crc32"]
    path.write_bytes(b"".join(encode_checked(row) + b"\n" for row in change(rows)))


def reopened(store):
    store.release()
    again = Store.reopen(store.path)
    again.release()
    return again


def test_rows_are_read_back_in_their_order(store):
    again = reopened(store)
    assert list(again.rows.outcomes) == [0, 1, -1, -2, 2, 3]
    assert again.rows.counted == 4


def test_outcomes_are_found_again_and_take_few_bytes(make_measurement):
    expected = {k: "exit" if k % 7 == 3 else "ok" for k in range(50_000) if k % 5}
    expected |= {-k: "timeout" for k in range(1, 40)} | {50_003: "melted"}
    row, rows = dataclasses.asdict(make_measurement()), Rows()
    tracemalloc.start()
    for position, outcome in expected.items():
        row |= {"position": position, "outcome": outcome}
        rows.add(row)
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert rows.outcomes == expected
    assert list(rows.outcomes) == list(expected)
    assert all(rows.outcomes.get(k) is None for k in (0, 5, 50_000, 50_004, 10**9, -40))
    assert grown < 16 * len(expected)  # a dict takes 130 bytes a row


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("position", "x", 'position is "x", and must be a whole number'),
        ("position", 2**70, "position is a larger one"),
        ("position", 6, "its position is 6, and 5 is the last"),
        ("session", 9, "its session is 9, and 1 is the last"),
        ("block", -4, "its block is -4, and 2 is the last"),
        ("benchmark", "nix", "the trial has no benchmark 'nix'"),
        ("variant", "\ud800", r"the trial has no variant '\\ud800'"),
        ("outcome", None, "outcome is null, and must be a text"),
        ("wall_ns", [], "wall_ns is a list, and must be a whole number"),
    ],
)
def test_a_row_of_another_shape_is_refused_with_its_line(store, key, value, said):
    rewrite(store, lambda rows: [*rows[:-1], rows[-1] | {key: value}])
    with pytest.raises(StoreError, match=said) as error:
        reopened(store)
    assert error.value.where == f"{store.path / 'measurements.jsonl'}:6"


def test_an_outcome_of_a_later_version_is_kept(store):
    rewrite(store, lambda rows: [rows[0] | {"outcome": "melted"}, *rows[1:]])
    assert reopened(store).rows.outcomes[0] == "melted"


@pytest.mark.parametrize(
    "order", [(5, 4, 3, 2, 1, 0), (1, 0, 2, 3, 4, 5), (0, 1, 3, 2, 4, 5)], ids=str
)
def test_rows_in_another_order_are_refused(store, order):
    rewrite(store, lambda rows: [rows[k] for k in order])
    with pytest.raises(StoreError, match="the rows are not in the order of execution"):
        reopened(store)


FILES = ("measurements.jsonl", "plan.jsonl", "environment.jsonl", "findings.jsonl", "campaign.yaml")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_refused_and_not_made_again_nor_a_pipe_waited_for(store, name):
    store.release()
    (store.path / name).unlink()
    with pytest.raises(StoreError, match="the file is missing") as error:
        Store.reopen(store.path)
    assert error.value.where == str(store.path / name)
    assert not (store.path / name).exists()
    os.mkfifo(store.path / name)
    with pytest.raises(StoreError, match="this is not a regular file"):
        Store.reopen(store.path)


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("plan.jsonl", b"[]", "must be an object"),
        ("plan.jsonl", b"\xef\xbb\xbf{}", "byte-order mark"),
        ("plan.jsonl", b"{", "no JSON"),
        ("environment.jsonl", b"5", "must be an object"),
        ("environment.jsonl", b'{"session":1,"cpu":5}', "cpu is 5, and must be an object"),
        ("environment.jsonl", b'{"session":1,"targets":{"x/a":{"libraries":[]}}}', "libraries"),
        ("environment.jsonl", b'{"session":1,"kernel":{"mitigations":true}}', "mitigations"),
        ("environment.jsonl", b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_damaged_line_of_another_file_is_refused(store, name, line, said):
    (store.path / name).write_bytes(line + b"\n")
    with pytest.raises(StoreError, match=said) as error:
        list(store.planned()), store.environments()
    assert error.value.where == f"{store.path / name}:1"


def planned(store, make_plan=range(6)):
    lines = [
        {"position": k, "session": 1, "block": 0, "benchmark": "x", "variant": "a", "warmup": True}
        for k in make_plan
    ]
    (store.path / "plan.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_what_was_written_is_read_back_without_damage(store):
    planned(store)
    assert store.damage() is None


def append(name, data):
    def spoil(path):
        with (path / name).open("ab") as file:
            file.write(data)

    return spoil


def cut(name, end):
    def spoil(path):
        (path / name).write_bytes((path / name).read_bytes()[:end])

    return spoil


def copied(path):
    file = path / "measurements.jsonl"
    file.write_bytes(file.read_bytes() + file.read_bytes().splitlines(keepends=True)[0])


@pytest.mark.parametrize(
    ("spoil", "said", "where"),
    [
        (append("measurements.jsonl", b"garbage\n"), "no row that was written", ":7"),
        (append("measurements.jsonl", b"garbage"), "no row that was written", ":7"),
        (copied, "a row stands there that was not written", ":7"),
        (cut("measurements.jsonl", 0), "0 of the 6 rows", ""),
        (cut("measurements.jsonl", -9), "no row that was written", ":6"),
        (append("plan.jsonl", b"{}\n"), "the line lacks", ":7"),
        (cut("plan.jsonl", 0), "it has 0 lines, and 6 runs were planned", ""),
        (append("environment.jsonl", b"x\n"), "no JSON", ":1"),
        (append("findings.jsonl", b"x\n"), "no JSON", ":1"),
        (lambda path: (path / "campaign.yaml").unlink(), "missing", ""),
    ],
)
def test_what_something_else_wrote_or_took_is_found(store, spoil, said, where):
    planned(store)
    spoil(store.path)
    found = store.damage()
    assert said in found.what
    assert found.where.endswith(where)


def test_a_trial_that_lost_a_file_can_still_be_closed(store):
    (store.path / "campaign.yaml").unlink()
    store.finish("stopped", "the file is missing")
    assert "campaign.yaml" not in store.manifest.files


def test_a_trial_that_may_not_be_written_is_not_a_matter_of_its_folder(store, monkeypatch):
    # the attacks on 0.1.0, B16: "choose a folder with --dir" does not help to go on with this trial
    def refused(*_args, **_options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    store.release()
    real = os.open
    writing = os.O_RDWR | os.O_WRONLY

    def opening(path, flags, *rest, **options):
        return refused() if flags & writing else real(path, flags, *rest, **options)

    monkeypatch.setattr("os.open", opening)
    with pytest.raises(StoreError, match="cannot be written: Permission denied") as error:
        Store.reopen(store.path)
    assert "ask its owner" in error.value.fix
    assert "--dir" not in error.value.fix
