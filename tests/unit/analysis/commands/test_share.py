"""What every command makes of imported trials and of other tools' files. Authority: a file tells
neither the order of its runs nor where they were made, so nothing may be said that needs these.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import random
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.artifact import reproduce as reproduction
from analysis.artifact.recomputing import Limits
from analysis.artifact.reproduce import USUAL
from analysis.commands.share import write_reproduction
from analysis.errors import StoreError, UsageError
from analysis.importers.reader import open_trial, trial_and_variant
from analysis.record.printer import Printer, printer_on
from harness.commands.command_parser import parser_for
from tests.unit.analysis.commands.conftest import executed


def answer(*words: object) -> dict:
    code, out, err = executed(*words, "--json")
    assert code == 0, err
    return json.loads(out)


known_answer = functools.cache(answer)  # of files that nobody changes


def codes(found: object) -> set[str]:
    """Collect the caution codes of an answer and of all within it."""
    if isinstance(found, dict):
        own = set(found.get("caution_codes", ()))
        return own.union(*map(codes, found.values()))
    return set().union(*map(codes, found)) if isinstance(found, list) else set()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A long CSV: two benchmarks, two variants, three sessions, six processes of three iterations."""
    rng = random.Random(1)
    lines = ["benchmark,variant,session,run,iteration,time_ms,memory (KiB),better"]
    for bench, level in (("x", 1.0), ("y:z/1", 2.0)):
        for variant, share in (("a", 1.0), ("b:c/d", 0.9)):
            for session in (1, 2, 3):
                for process in range(6):
                    here = level * share * rng.uniform(0.99, 1.01)
                    for k in range(3):
                        value = here * rng.uniform(0.999, 1.001)
                        memory = 100 + rng.randrange(20)
                        lines.append(
                            f"{bench},{variant},{session},{process},{k},{value:.9f},{memory},lower"
                        )
    path = tmp_path_factory.mktemp("tables") / "runs.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def trial(table: Path) -> Path:
    code, _, err = executed("import", table, "-o", table.with_name("made"))
    assert code == 0, err
    return table.with_name("made")


@pytest.fixture(params=["the file", "the trial"])
def source(request: pytest.FixtureRequest, table: Path, trial: Path) -> Path:
    return table if request.param == "the file" else trial


COMMANDS = (
    ("verdict", "{}"),
    ("verdict", "{}:b:c/d", "{}:a"),
    ("verdict", "{}", "--rank"),
    ("verdict", "{}", "--pairs"),
    ("gate", "slower>2%", "{}"),
    ("resample", "{}:b:c/d", "{}:a", "--resamples", "100"),
    ("hpt", "{}:b:c/d", "{}:a"),
    ("speedup-test", "{}:b:c/d", "{}:a"),
    ("plan", "{}"),
    ("biplot", "{}"),
    ("biplot", "{}:a", "{}:b:c/d"),
    ("study", "type1", "{}:a", "--simulations", "10", "--resamples", "50"),
    ("diagnose", "{}:a", "--normality"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_a_file_cannot_tell_is_said_by_every_command(source: Path, words: tuple) -> None:
    given = [word.format(source) for word in words]
    assert "imported" in codes(known_answer(*given))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_pooled_iterations_are_said_by_every_command(table: Path, words: tuple) -> None:
    given = [word.format(table) for word in words]
    assert "iterations-pooled" in codes(answer(*given, "--level", "iteration"))
    assert "iterations-pooled" not in codes(known_answer(*given))


def test_iterations_are_no_runs_of_a_diagnosis(trial: Path) -> None:
    code, _, err = executed("diagnose", trial, "--level", "iteration")
    assert (code, "leave out --level" in err) == (2, True)


def test_no_test_of_an_unknown_order_is_made(source: Path) -> None:
    found = answer("diagnose", source)
    assert found["in_order"] is False
    assert "order-unknown" in found["caution_codes"]
    tested = {one["code"] for one in found["host"] if one["pvalue"] is not None}
    tested |= {code for cell in found["cells"] for code, p in cell["pvalues"].items() if p}
    assert tested == {"session-shift", "host-sessions"}
    assert all(cell["lag_1"] is None for cell in found["cells"])
    assert found["tests"] == 5  # four cells between their sessions, and the host


def test_the_diagnosis_of_a_measured_trial_knows_the_order(synthetic, tmp_path: Path) -> None:
    """The negative control."""
    rng = random.Random(2)
    values = {v: {b: [rng.uniform(1, 2) for _ in range(12)] for b in "xy"} for v in ("old", "new")}
    found = answer("diagnose", synthetic(values).write(tmp_path / "t"))
    assert found["in_order"] is True
    assert "order-unknown" not in found["caution_codes"]
    assert found["tests"] > 5


def test_status_says_that_it_is_imported(trial: Path) -> None:
    code, out, _ = executed("status", trial)
    assert code == 0
    assert "72 runs of another tool, imported 2" in out
    assert " of 0" not in out
    ((found),) = json.loads(executed("status", trial, "--json")[1])
    assert (found["origin"], found["planned"], found["again"]) == ("imported", 0, "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("status", "--diff", "{}"), "nothing is known of its environment"),
        (("merge", "{}", "{}", "-o", "x"), "import the files of all of them at once"),
        (("run", "{}", "--resume"), "it cannot be resumed"),
    ],
)
def test_what_needs_more_than_a_file_has_is_refused(trial: Path, words: tuple, told: str) -> None:
    code, _, err = executed(*(word.format(trial) for word in words))
    assert code == 5
    assert told in err


def test_a_campaign_does_not_go_on_with_it(trial: Path, tmp_path: Path) -> None:
    campaign = tmp_path / "c.yaml"
    campaign.write_text("name: made\nvariants: {a: {}}\nbenchmarks: {x: {command: ['true']}}\n")
    code, _, err = executed("run", campaign, "--resume", "--trial", trial)
    assert (code, "it cannot be resumed" in err) == (5, True)
    code, _, err = executed("run", campaign, "--resume", "--dir", trial.parent)
    assert (code, "there is no trial of campaign 'made'" in err) == (2, True)


def test_the_first_metric_is_the_default(source: Path) -> None:
    words = ("calibrate", source, "--pair", "a,b:c/d", "--no-certificate")
    assert answer(*words)["metric"] == "time_ms"
    found = answer("mixture", source, "--and", "memory (KiB)", "--max-components", "1")
    assert found["metrics"] == ["time_ms", "memory (KiB)"]


def test_a_report_is_made_of_it(source: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    code, _, err = executed("report", source, "-o", page)
    assert code == 0, err
    assert page.stat().st_size > 1000


def test_only_the_metrics_of_its_files_are_known(source: Path) -> None:
    code, _, err = executed("verdict", source, "--metric", "walll")
    assert code == 2
    assert "known here: time_ms, memory (KiB)" in err


def test_files_are_told_to_those_who_want_trials(table: Path) -> None:
    for words in (("status", table), ("merge", table, table, "-o", "x")):
        code, _, err = executed(*words)
        assert (code, "fairtrial import FILE" in err) == (5, True)


def test_two_sides_never_have_one_printed_name(tmp_path: Path) -> None:
    names = [f"runner start --release --bin {x} rows_1000000000.txt" for x in ("alpha", "beta_n")]
    runs = [{"command": name, "times": [k, k + 0.1]} for k, name in enumerate(names, 1)]
    (file := tmp_path / "t.json").write_text(json.dumps({"results": runs}))
    sides = [f"{file}:{name}" for name in names]
    for words in ("verdict", "gate slower>5%", "import --dry-run", "hpt", "speedup-test"):
        given = sides if words in ("hpt", "speedup-test") else [file]
        said = executed(*words.split(), *given)[1].partition("\nnext")[0]
        assert all(name in said for name in ("alpha", "beta_n")), words


# ---- names


def test_the_longest_path_wins(table: Path, tmp_path: Path) -> None:
    plain, longer = tmp_path / "f", tmp_path / "f:g"
    plain.write_bytes(table.read_bytes())
    longer.write_bytes(table.read_bytes())
    assert trial_and_variant(f"{plain}:b:c/d") == (plain, "b:c/d")
    assert trial_and_variant(f"{longer}:b:c/d") == (longer, "b:c/d")
    assert trial_and_variant(str(longer)) == (longer, None)
    assert trial_and_variant(f"{plain}:nothing") == (plain, "nothing")
    with pytest.raises(UsageError, match="no variant 'nothing'"):
        open_trial(plain).matrix("nothing", "time_ms")


@pytest.mark.parametrize("content", ["foreign", "matrix"])
def test_ambiguous_names_are_refused_with_the_choices(
    table: Path, tmp_path: Path, content: str
) -> None:
    plain = tmp_path / "f"
    plain.write_bytes(table.read_bytes())
    other = tmp_path / "f:a"
    other.write_bytes(table.read_bytes() if content == "foreign" else b"1.5\n2\n")
    with pytest.raises(UsageError) as told:
        trial_and_variant(str(other))
    assert f"may be the file {other}, or the variant 'a' of {plain}" in str(told.value)
    plain.unlink()
    assert trial_and_variant(str(other)) == ((other, None) if content == "foreign" else None)


def test_three_readings_of_one_name(tmp_path: Path) -> None:
    for name, variant in (("f", "b:c"), ("f:b", "c")):
        (tmp_path / name).write_text(
            f'{{"results": [{{"command": "{variant}", "mean": 1, "times": [1, 2]}}]}}'
        )
    with pytest.raises(UsageError, match=r"the variant 'c' of \S+f:b, or the variant 'b:c' of"):
        trial_and_variant(str(tmp_path / "f:b:c"))


def test_a_damaged_file_is_told_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "p.json.gz").write_bytes(b"\x1f\x8b\x08\x00" + b"\x00" * 30)
    code, _, err = executed("verdict", tmp_path / "p.json.gz")
    assert (code, "gz file is damaged" in err) == (6, True)
    two = tmp_path / "two"
    two.write_text(
        '{"results": [{"command": 1, "mean": 1}], "benchmarks": [{"runs": [{"values": [1]}]}]}'
    )
    code, _, err = executed("verdict", two)
    assert (code, "looks like hyperfine's JSON and like pyperf's JSON" in err) == (2, True)
    assert f"fairtrial import {two} -o runs/NAME" in err


def test_a_report_of_what_is_no_trial(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such trial"):
        open_trial(tmp_path / "absent")


def hyperfine(*commands: str) -> str:
    rows = [{"command": c, "mean": 1, "times": [1, 1.25, 1.5 + k]} for k, c in enumerate(commands)]
    return json.dumps({"results": rows})


def test_a_command_of_several_lines_breaks_no_table(tmp_path: Path) -> None:
    (tmp_path / "h.json").write_text(hyperfine("for x\ndo\n\techo\ndone", "b"))
    for words in (
        ("import", tmp_path / "h.json", "--dry-run"),
        ("verdict", tmp_path / "h.json", "--rank"),
    ):
        code, out, err = executed(*words)
        assert code == 0, err
        assert "for x␊do␊" in out
    assert "for x\ndo\n\techo\ndone" in answer("verdict", tmp_path / "h.json", "--rank")["variants"]


def test_halves_of_characters_are_no_names(tmp_path: Path) -> None:
    (tmp_path / "h.json").write_text(hyperfine("a\ud800", "b"))
    for words in (("import", tmp_path / "h.json", "--dry-run"), ("verdict", tmp_path / "h.json")):
        code, _, err = executed(*words)
        assert (code, "half a character" in err) == (6, True)


def test_a_file_whose_name_is_no_utf_8_is_read(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/x\xff.json"))
    path.write_text(hyperfine("a", "b"))
    assert answer("diagnose", path)["benchmarks"] == ["x\\udcff"]
    assert executed("import", path, "-o", tmp_path / "made")[0] == 0
    assert answer("diagnose", tmp_path / "made")["benchmarks"] == ["x\\udcff"]


@pytest.mark.parametrize("heads", ["bench,1,2,3", "benchmark,run1,run2,run3", "name,1,2,3"])
def test_a_matrix_file_is_read_as_ever(tmp_path: Path, heads: str) -> None:
    """It is a wide table and a bare one at once, which no command may refuse."""
    for name, first in (("m", 1.5), ("n", 1.75)):
        (tmp_path / f"{name}.csv").write_text(f"{heads}\nx,{first},2.5,3\ny,1,2,3\n")
    paths = (tmp_path / "m.csv", tmp_path / "n.csv")
    assert answer("verdict", *paths, "--better", "lower")["baseline"] == "n"
    assert answer("import", paths[0], "--dry-run")["format"] == "wide-csv"
    assert trial_and_variant(str(paths[0])) is None


def test_the_first_screen_says_that_each_host_is_an_occasion(tmp_path: Path) -> None:
    rows = (f"h{k % 3},{v},b,{100 * (1 + k % 3) + k}" for k in range(12) for v in ("old", "new"))
    path = tmp_path / "lab.csv"
    path.write_text("\n".join(("host,variant,benchmark,time_ms", *rows)) + "\n")
    said = " ".join(executed("verdict", path)[1].split())
    assert "note the column 'host' names 3 hosts (h0, h1, h2), and each is an occasion" in said
    assert "3 sessions x 4 runs" in said
    assert "'variant=host'" in said
    assert "3 hosts" not in executed("verdict", path, "--columns", "session=host")[1]


# --- What somebody accepts of an artifact: how many files of which size, how much time and memory


USUALLY = {
    "as_json": True,
    "markdown": False,
    "folder": None,
    "max_entries": 10_000,
    "max_bytes": 1_000_000,
    "timeout_s": None,
    "max_memory": None,
    "quiet": True,
}


def test_more_entries_than_accepted_are_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in "abc":
            archive.writestr(name, "123")
    with pytest.raises(StoreError, match="it has 3 entries, more than 2"):
        write_reproduction(path, io.StringIO(), io.StringIO(), **{**USUALLY, "max_entries": 2})


@pytest.mark.parametrize(
    ("given", "total_s", "memory_bytes"),
    [
        ({}, USUAL.total_s, USUAL.memory_bytes),
        ({"timeout_s": 7.0}, 7.0, USUAL.memory_bytes),
        ({"max_memory": 10**9}, USUAL.total_s, 10**9),
    ],
)
def test_limits_that_are_not_given_are_the_usual_ones(monkeypatch, given, total_s, memory_bytes):
    seen = []

    def reproduce(_path, *, limits, **_more):
        seen.append(limits)
        return SimpleNamespace(exit_code=0, to_dict=dict)

    monkeypatch.setattr(reproduction, "reproduce", reproduce)
    write_reproduction(Path("a"), io.StringIO(), io.StringIO(), **USUALLY | given)
    assert seen == [Limits(total_s=total_s, memory_bytes=memory_bytes)]


# --- The command ``export``: what goes to a standard output that takes bytes


def execute(out, *words):
    args = parser_for(words[0]).read(words)
    return args.run(args, printer_on(out), io.StringIO())  # as the command line has it


@pytest.mark.parametrize("target", ["long-csv", "hyperfine", "parquet"])
def test_a_standard_output_of_bytes_gets_those_of_the_file(synthetic, tmp_path, target):
    times = {name: {"x": [1.0, 1.1, 0.9]} for name in ("old", "new")}
    trial = synthetic(times).write(tmp_path / "runs" / "one")
    words = ("export", f"{trial}:new", "--to", target)
    assert execute(io.StringIO(), *words, "-o", str(tmp_path / "f")) == 0
    out = io.TextIOWrapper(raw := io.BytesIO(), encoding="utf-8")
    assert execute(out, *words, "-o", "-") == 0
    assert raw.getvalue() == (tmp_path / "f").read_bytes() != b""


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


def test_a_terminal_gets_cleaned_text_and_no_bytes(synthetic, tmp_path):
    trial = synthetic({"old": {"x": [1.0, 1.1]}, "new\x1b[2J": {"x": [1.0, 0.9]}}).write(
        tmp_path / "t"
    )
    out = Terminal(raw := io.BytesIO(), encoding="utf-8")
    assert execute(out, "export", str(trial), "--to", "long-csv", "-o", "-") == 0
    out.flush()
    assert b"new\\x1b[2J" in raw.getvalue()
    with pytest.raises(UsageError, match="not text"):
        execute(out, "export", str(trial), "--to", "parquet", "-o", "-")


@pytest.mark.parametrize("target", ["long-csv", "parquet"])
def test_a_standard_output_without_room_is_told(synthetic, tmp_path, target):
    trial = synthetic({"old": {"x": [1.0]}, "new": {"x": [1.0]}}).write(tmp_path / "t")
    # its end writes what is still buffered, and finds no room either
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as full:
        out = Printer(full, must=True)
        with pytest.raises(StoreError, match="cannot be written: No space left"):
            execute(out, "export", f"{trial}:new", "--to", target, "-o", "-")
