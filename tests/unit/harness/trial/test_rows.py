"""What is read back of a trial: the attacks on 0.1.0, B6, B15 and section E."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import tracemalloc

import pytest

from analysis.errors import StoreError
from analysis.record.shapes import encode_checked
from harness.trial.writer import Rows, Store


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
def test_a_missing_file_is_refused_and_not_made_again(store, name):
    store.release()
    (store.path / name).unlink()
    with pytest.raises(StoreError, match="the file is missing") as error:
        Store.reopen(store.path)
    assert error.value.where == str(store.path / name)
    assert not (store.path / name).exists()


@pytest.mark.parametrize("name", FILES)
def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(store, name):
    store.release()
    (store.path / name).unlink()
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
