"""What lies in the place of a metric's file: inputs are refused, the rest is set aside, once.

Authority: a metric's `from:` was unlinked before each run whatever it was, the campaign file and the
program included. A file of the user's is never removed.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from analysis.data.trial import read_trial
from analysis.errors import CampaignError, StoreError
from analysis.record.shapes import StoredSamples, read_samples
from harness.campaign.model import Bound, Build, Command, Expect, MetricRule
from harness.commands.dry_run import preview
from harness.trial.execution import Options
from harness.trial.run_files import OutputAgreement, Spools, kept_bytes, remove_discarded


def rule(source, name="m"):
    return MetricRule(name=name, source=source, regex="^([0-9.]+)", unit="s", better="lower")


@pytest.fixture
def metered(stage, campaign, make_cell):
    """Make a campaign of one cell with metrics from these files."""

    def make(*sources, argv=("true",), **cell):
        rules = tuple(rule(source, f"m{k}") for k, source in enumerate(sources))
        command = Command(argv=argv, mark="campaign.yaml:7:3")
        made = make_cell("x", "a", metrics=rules, command=command, **cell)
        return campaign(("x",), ("a",), cells=(made,), never_ok="go_on")

    return make


def write_all(*paths):
    """Give the answer of a program that writes its metrics."""

    def answer(request):
        for path in paths:
            path.write_text("1.5\n")

    return answer


# --- inputs ------------------------------------------------------------------------------------


def names_of(path: Path, how: str) -> Path:
    """Give another name of a file."""
    if how == "dots":
        return path.parent / ".." / path.parent.name / path.name
    other = path.with_name(f"other-{path.name}")
    if how == "symbolic":
        other.symlink_to(path)
    elif how == "hard":
        os.link(path, other)
    else:
        return path
    return other


@pytest.mark.parametrize("how", ["same", "dots", "symbolic", "hard"])
@pytest.mark.parametrize(
    "what", ["stdin", "the expected output", "argument", "program", "campaign"]
)
def test_an_input_is_refused_under_any_name_and_nothing_is_made(stage, metered, what, how):
    path = stage.folder / "precious"
    path.write_text("precious")
    cell = {}
    if what == "stdin":
        cell = {"stdin": path}
    elif what == "the expected output":
        cell = {"expect": Expect(stdout_file=path)}
    elif what == "argument":
        cell = {"argv": ("true", "precious")}
    elif what == "program":
        path = stage.bin / "true"
    else:
        path = stage.folder / "campaign.yaml"
    text = path.read_text() if path.exists() else path.write_text("name: c\n") and path.read_text()
    c = metered(names_of(path, how), **cell)
    c = dataclasses.replace(c, source=stage.folder / "campaign.yaml")
    for act in (lambda: stage.start(c), lambda: preview(c, Options(folder=stage.runs))):
        with pytest.raises(CampaignError, match=what) as caught:
            act()
        assert caught.value.exit_code == 2
        assert caught.value.where == "campaign.yaml:7:3"
    assert path.read_text() == text
    assert not stage.runs.exists() or list(stage.runs.iterdir()) == []
    assert stage.executed == []


def test_an_argument_with_a_name_is_an_input_too(stage, metered):
    (stage.folder / "in").write_text("1")
    with pytest.raises(CampaignError, match="an argument of x / a"):
        stage.start(metered(stage.folder / "in", argv=("true", "--data=in")))


def test_an_output_that_is_an_argument_is_no_input_while_it_is_not_there(stage, metered):
    out = stage.folder / "out"
    stage.target = write_all(out)
    c = metered(out, argv=("true", "-o", "out"))
    assert stage.start(c).failed == 0


def test_a_program_that_is_still_to_be_built_is_an_input(stage, metered, commands):
    stage.program("make")
    c = metered(stage.folder / "prog", argv=("./prog",))
    step = Build(variant="a", steps=commands("make"), cwd=stage.folder, env={})
    c = dataclasses.replace(c, builds=(step,))
    with pytest.raises(CampaignError, match="the program of x / a"):
        stage.start(c)
    assert stage.executed == []


# --- what is set aside -------------------------------------------------------------------------


def test_a_file_that_was_there_is_renamed_once_and_said(stage, metered):
    inside, outside = stage.folder / "out", stage.folder.parent / f"{stage.folder.name}-out"
    for path in (inside, outside):
        path.write_text("of the user\n")
    stage.target = write_all(inside, outside)
    assert stage.start(metered(inside, outside)).failed == 0
    for path in (inside, outside):
        aside = path.with_name(f"{path.name}.before-{stage.trial.name}")
        assert aside.read_text() == "of the user\n"
        assert not path.exists()  # what the last run wrote is removed once read
        aside.unlink()
    (finding,) = stage.findings("metric-file", "before")
    assert str(inside) in finding["what"]
    assert str(outside) in finding["what"]
    heard = [one for (found,) in stage.watching.of("findings") for one in found]
    (said,) = [one for one in heard if one.check == "metric-file"]
    assert said.what == finding["what"]


def test_what_a_killed_run_left_is_removed_and_not_set_aside(stage, metered):
    out = stage.folder / "out"

    def killed():
        out.write_text("half")
        stage.interrupt()

    stage.target = stage.at(1, killed)
    c = metered(out)
    stage.start(c)
    out.write_text("half")  # as kill -9 leaves it
    stage.target = write_all(out)
    assert stage.resume(c).status == "complete"
    assert not out.exists()
    assert [path.name for path in stage.folder.iterdir() if "before-" in path.name] == []
    assert stage.findings("metric-file") == []


def test_what_was_there_before_the_first_run_of_a_resumed_trial_is_renamed_too(
    stage, metered, commands
):
    out = stage.folder / "out"
    stage.program("make")
    stage.command = stage.at(0, stage.interrupt)  # in the build, before any run
    step = Build(variant="a", steps=commands("make"), cwd=stage.folder, env={})
    c = dataclasses.replace(metered(out), builds=(step,))
    stage.start(c)
    out.write_text("of the user\n")
    stage.target = write_all(out)
    assert stage.resume(c).status == "complete"
    assert (stage.folder / f"out.before-{stage.trial.name}").read_text() == "of the user\n"
    (finding,) = stage.findings("metric-file", "before")
    assert str(out) in finding["what"]


def test_a_symbolic_link_is_set_aside_and_what_it_names_stays(stage, metered):
    there, link = stage.folder / "there", stage.folder / "out"
    there.write_text("of the user\n")
    link.symlink_to(there)
    stage.target = write_all(link)
    assert stage.start(metered(link)).failed == 0
    assert there.read_text() == "of the user\n"
    assert (stage.folder / f"out.before-{stage.trial.name}").is_symlink()


def test_files_of_the_kernel_are_live(stage, metered):
    link = stage.folder / "out"
    link.symlink_to("/proc/self/comm")
    c = metered(Path("/proc/uptime"), link)
    c = dataclasses.replace(c, cells=tuple(
        dataclasses.replace(cell, metrics=(dataclasses.replace(cell.metrics[0], regex=r"^([0-9.]+)"),
                                           dataclasses.replace(cell.metrics[1], regex="()")))
        for cell in c.cells))  # fmt: skip
    stage.start(c)
    assert link.is_symlink()
    assert stage.findings("metric-file") == []


@pytest.mark.parametrize("what", ["folder", "fifo", "taken"])
def test_what_cannot_be_set_aside_is_told_before_anything_is_measured(
    stage, metered, monkeypatch, what
):
    first, out = stage.folder / "first", stage.folder / "out"
    first.write_text("of the user")
    if what == "folder":
        out.mkdir()
    elif what == "fifo":
        os.mkfifo(out)
    else:
        monkeypatch.setattr("harness.trial.execution.new_trial_name", lambda name: "c-1")
        out.write_text("of the user")
        (stage.folder / "out.before-c-1").write_text("of the user too")
    with pytest.raises(StoreError) as caught:
        stage.start(metered(first, out))
    assert caught.value.where == str(out)
    assert "move it away" in caught.value.fix
    assert stage.executed == []
    assert stage.manifest["status"] == "stopped"
    assert first.read_text() == "of the user"


def test_a_rename_that_fails_leaves_all_as_it_was(stage, metered, monkeypatch):
    first, second = stage.folder / "first", stage.folder / "second"
    for path in (first, second):
        path.write_text(path.name)
    rename = Path.rename

    def fails(path, place):
        if path == second:
            raise PermissionError(13, "Permission denied")
        return rename(path, place)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(StoreError, match="Permission denied"):
        stage.start(metered(first, second))
    assert (first.read_text(), second.read_text()) == ("first", "second")


def test_the_dry_run_names_what_would_be_renamed_and_does_not(stage, metered):
    out = stage.folder / "out"
    out.write_text("of the user")
    shown = preview(metered(out), Options(folder=stage.runs))
    assert shown.to_dict()["set_aside"] == [str(out)]
    assert "out.before-TRIAL" in str(shown)
    assert out.read_text() == "of the user"


# --- files of hooks and of builds ----------------------------------------------------------------


def with_rule(campaign, **changes):
    (cell,) = campaign.cells
    rules = (dataclasses.replace(cell.metrics[0], **changes),)
    return dataclasses.replace(campaign, cells=(dataclasses.replace(cell, metrics=rules),))


def test_what_a_hook_after_a_run_writes_is_read_then_and_removed(stage, metered, commands):
    cost = stage.folder / "cost"
    stage.program("weigh")
    seen = []

    def weigh(request):
        seen.append(cost.exists())
        cost.write_text(f"{len(seen)}.5\n")

    stage.command = weigh
    campaign = with_rule(metered(cost, after=commands("weigh")), when="after")
    assert stage.start(campaign).failed == 0
    values = [row["metrics"]["m0"] for row in stage.rows]
    assert values == [[k + 0.5] for k in range(1, len(values) + 1)]
    assert not any(seen)  # what an earlier one wrote cannot count
    assert not cost.exists()


def test_what_a_build_wrote_is_neither_set_aside_nor_removed(stage, metered, commands):
    size = stage.folder / "a.size"
    size.write_text("7 B\n")  # of an earlier build: this one may find it up to date
    stage.program("make")
    step = Build(variant="a", steps=commands("make"), cwd=stage.folder, env={})
    c = dataclasses.replace(with_rule(metered(size), when="build", unit="B"), builds=(step,))
    assert stage.start(c).failed == 0
    assert size.read_text() == "7 B\n"
    assert stage.findings("metric-file") == []
    assert [path.name for path in stage.folder.iterdir() if "before-" in path.name] == []


# --- What runs write: caught without following links, and kept up to a cap


@pytest.fixture
def outputs(tmp_path):
    path = tmp_path / "trial" / "outputs"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def spools(outputs):
    made = []

    def make(most=1000):
        made.append(Spools(outputs, most))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_what_root_makes_in_the_trial_of_a_user_is_that_user_s(spools, outputs, monkeypatch):
    owners, spool = [], spools()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "fchown", lambda fd, *owner: owners.append(owner))
    spool.stdout.write_bytes(b"x")
    assert spool.keep(spool.stdout, "0001.stdout", 10)
    spool.caught(spool.stderr)
    (outputs / "elsewhere").hardlink_to(spool.stderr)
    assert spool.keep(spool.stderr, "0001.stderr", 10)  # it has another name, and may be anybody's
    here = outputs.stat()
    assert owners == [(here.st_uid, here.st_gid)]


def names(outputs):
    return {path.name for path in outputs.iterdir()}


def test_outputs_beyond_the_cap_are_dropped_and_counted(spools, outputs):
    caught = spools(most=250)
    kept = []
    for run in range(4):
        caught.stdout.write_text("x" * 100)
        kept.append(caught.keep(caught.stdout, f"{run:04d}.stdout", 10**6))
    caught.stdout.write_text("x" * 50)  # what still fits is kept
    kept.append(caught.keep(caught.stdout, "0004.stdout", 10**6))
    assert kept == [True, True, False, False, True]
    assert names(outputs) == {"0000.stdout", "0001.stdout", "0004.stdout"}
    finding = caught.finding()
    assert finding.what == ("2 outputs of runs (200 B) were not kept: the cap of 250 B is reached")
    assert finding.where == "isolation.kept_outputs"


def test_within_the_cap_there_is_nothing_to_say(spools):
    caught = spools()
    caught.stdout.write_text("x" * 1000)
    assert caught.keep(caught.stdout, "0000.stdout", 10**6)
    caught.stdout.write_text("")
    assert caught.keep(caught.stdout, "0001.stdout", 10**6)  # an empty one takes no room
    assert caught.finding() is None


@pytest.mark.parametrize("name", ["0000.stdout", "w1.stderr", "r1.stdout", "10000.after.log"])
def test_what_earlier_sessions_kept_counts(spools, outputs, name):
    (outputs / name).write_text("x" * 900)
    (outputs / "build-a-1.log").write_text("x" * 900)  # no run's
    assert kept_bytes(outputs) == 900
    caught = spools(most=1000)
    caught.stderr.write_text("x" * 101)
    assert not caught.keep(caught.stderr, "0001.stderr", 10**6)
    assert caught.finding().what.startswith("1 output of runs")


def test_what_a_run_without_a_row_kept_is_removed(outputs):
    kept = {"0000.stdout", "0011.before.log", "w1.stderr", "r2.stdout"}
    others = {"build-a-1.log", "setup-session1-1.log", "7.stdout", "0009.json"}
    gone = {"0007.stdout", "w4.stdout", "r3.stderr", "10000.after.log"}
    for name in kept | others | gone:
        (outputs / name).touch()
    (outputs / "0008.stdout").mkdir()  # a hook's
    remove_discarded(outputs, {0, 11, -1, -2})
    assert names(outputs) == kept | others | {"0008.stdout"}


def test_a_cap_of_nothing_keeps_nothing(spools, outputs):
    caught = spools(most=0)
    caught.stdout.write_text("x")
    assert not caught.keep(caught.stdout, "0000.stdout", 10**6)
    assert names(outputs) == set()


def test_what_is_kept_is_cut_first(spools, outputs):
    caught = spools(most=100)
    caught.stdout.write_text("x" * 5000)
    assert caught.keep(caught.stdout, "0000.stdout", 100)
    assert len((outputs / "0000.stdout").read_text()) == 100


@pytest.mark.parametrize("there", [True, False])
def test_a_program_that_puts_a_link_in_the_place_of_its_output_wrote_nothing(
    spools, tmp_path, there
):
    victim = tmp_path / "victim"
    if there:
        victim.write_text("precious")
    caught = spools()
    caught.stdout.symlink_to(victim)
    caught.caught(caught.stdout)
    assert caught.stdout.read_text() == ""
    assert not caught.stdout.is_symlink()
    assert victim.exists() == there
    assert not there or victim.read_text() == "precious"


def test_a_folder_that_was_replaced_stops_the_trial(spools, outputs, tmp_path):
    caught = spools()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    outputs.rename(tmp_path / "moved")
    outputs.symlink_to(elsewhere)
    with pytest.raises(StoreError, match="the folder was replaced"):
        caught.caught(caught.stdout)
    assert list(elsewhere.iterdir()) == []


def test_a_folder_that_is_a_link_is_refused(tmp_path, outputs):
    outputs.rmdir()
    outputs.symlink_to(tmp_path)
    with pytest.raises(StoreError, match="symbolic link"):
        Spools(outputs, 1)


# --- Output that differs: told in cells whose runs agreed before, once


def heard(digests, cell=("x", "a")):
    agreement = OutputAgreement()
    return [agreement.add(*cell, "ok", digest) is not None for digest in digests]


@given(st.text("abc", max_size=12))
@example("aab")  # two runs are no agreement
@example("abcdef")  # a program that prints times
@example("aaabaaab")
def test_it_is_told_once_and_only_after_three_that_agree(digests):
    said = heard(digests)
    broken = [
        k for k in range(3, len(digests))
        if len(set(digests[k - 3 : k])) == 1 and digests[k] != digests[k - 1]
    ]  # fmt: skip
    assert [k for k, one in enumerate(said) if one] == broken[:1]


def test_cells_do_not_meet_and_failed_runs_say_nothing():
    agreement = OutputAgreement()
    for _ in range(3):
        assert agreement.add("x", "a", "ok", "1") is None
        assert agreement.add("x", "b", "ok", "2") is None
    assert agreement.add("x", "a", "exit", "9") is None
    assert agreement.add("x", "a", "ok", None) is None
    assert (
        "x / b wrote another output than in its 3 runs before"
        in agreement.add("x", "b", "ok", "1").what
    )


def test_runs_of_before_a_resume_count(stage, campaign):
    said = ["one"] * 6 + ["two"] * 6

    def speaks(request):
        if len(stage_said) == 5 and not resumed:
            stage.interrupt()
        text = said[len(stage_said)]
        stage_said.append(text)
        request.stdout.write_text(text)

    stage_said: list[str] = []
    resumed: list[bool] = []
    stage.target = speaks
    c = campaign(("x",), ("a",), runs=8, warmup=0)
    stage.start(c)
    assert stage.findings("output") == []
    resumed.append(True)
    assert stage.resume(c).status == "complete"
    (finding,) = stage.findings("output", "during")
    assert "6 runs before" in finding["what"]


# --- Values of runs: in the row up to 1,000 of them, else exactly in a file that is there before the row


SHARES = (0.5, 0.99, 0.999)


def values_of(request) -> list[float]:
    count = int(request.argv[-1])
    return np.random.default_rng(count).lognormal(0, 1, count).tolist()


@pytest.fixture
def printing(stage, campaign, make_cell, isolation):
    """Make a campaign whose programs print so many values of `t`, a line each."""

    def make(*counts: int, kept: int = 10**9, bounds=(), **protocol):
        def target(request):
            request.stdout.write_text("".join(f"t {value!r}\n" for value in values_of(request)))

        stage.target = target
        rule = MetricRule(name="t", regex="^t (.*)$", unit="ms", better="lower", quantiles=SHARES)
        cells = tuple(
            make_cell(
                f"n{count}",
                variant,
                command=Command(argv=("true", str(count)), mark="campaign.yaml:1:1"),
                metrics=(rule,),
                expect=Expect(bounds=bounds),
            )
            for count in counts
            for variant in ("a", "b")
        )
        made = campaign(tuple(f"n{count}" for count in counts), cells=cells, **protocol)
        return dataclasses.replace(
            made, isolation=dataclasses.replace(made.isolation, kept_outputs_bytes=kept)
        )

    return make


def samples_of(stage) -> set[str]:
    folder = stage.trial / "samples"
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def test_many_values_go_into_a_file_and_few_into_the_row(stage, printing):
    stage.start(printing(1000, 1001))
    assert {path.split("-")[1] for path in samples_of(stage)} == {"t.f64.gz"}
    for row in stage.rows:
        count = int(row["benchmark"][1:])
        values = np.random.default_rng(count).lognormal(0, 1, count)
        quantiles = {
            f"t.p{q * 100:g}": [np.quantile(values, q, method="inverted_cdf")] for q in SHARES
        }
        if count == 1000:
            assert row["metrics"] == {"t": values.tolist(), **quantiles}
            assert "samples" not in row
            continue
        about = row["samples"]["t"]
        assert row["metrics"]["t"] == [pytest.approx(values.mean(), rel=1e-12)]
        assert {name: row["metrics"][name] for name in quantiles} == quantiles
        path = stage.trial / "samples" / f"{row['position']:04d}-t.f64.gz"
        stored = read_samples(path, StoredSamples(**about))
        assert np.frombuffer(stored, "<f8").tolist() == values.tolist()
    files = stage.manifest["files"]
    assert {f"samples/{name}" for name in samples_of(stage)} < files.keys()
    assert stage.manifest["metrics"]["t.p99.9"] == {
        "unit": "ms", "better": "lower", "source": "quantiles", "of": "t", "quantile": "0.999"}  # fmt: skip
    assert not stage.findings("quantiles")


def test_a_quantile_of_too_few_values_is_unknown_and_said_once(stage, printing):
    stage.start(printing(99, runs=3))
    for row in stage.rows:
        assert (row["metrics"]["t.p99"], row["metrics"]["t.p99.9"]) == ([], [])
        assert len(row["metrics"]["t.p50"]) == 1
    told = [found["what"] for found in stage.findings("quantiles")]
    assert len(told) == 4  # of two cells and two quantiles
    assert "n99 / a: t.p99 is unknown in 4 runs: it needs 100 values, and a run had 99" in told
    trial = read_trial(stage.trial)
    assert np.isnan(trial.values("t.p99")).all()
    assert "t.p99" not in trial.manifest.declared


def test_a_bound_on_an_unknown_quantile_is_not_kept_to(stage, printing):
    bound = (Bound(metric="t.p99", at_most=1e9),)
    stage.start(printing(99, 100, bounds=bound, never_ok="go_on"))
    outcomes = {(row["benchmark"], row["outcome"], row["detail"]) for row in stage.rows}
    assert outcomes == {
        ("n100", "ok", None),
        ("n99", "output-mismatch", "t.p99 is unknown, as the run has too few values"),
    }


def test_what_no_longer_fits_leaves_mean_and_quantiles(stage, printing):
    stage.start(printing(1500, kept=25_000))
    with_file = [row for row in stage.rows if row["samples"]["t"]["sha256"]]
    assert 0 < len(with_file) == len(samples_of(stage)) < len(stage.rows)
    assert {row["samples"]["t"]["count"] for row in stage.rows} == {1500}
    assert all(len(row["metrics"]["t.p99"]) == 1 for row in stage.rows)
    (told,) = stage.findings("kept-samples")
    lost = len(stage.rows) - len(with_file)
    assert told["what"].startswith(f"the values of {lost} runs")
    assert sum(path.stat().st_size for path in (stage.trial / "samples").iterdir()) <= 25_000
    assert (read_trial(stage.trial).values("t.p50") > 0).all()


def test_a_kill_between_file_and_row_is_mended_by_resuming(stage, printing):
    made = printing(1200)
    stage.start(made)
    whole, lines = samples_of(stage), (stage.trial / "measurements.jsonl").read_bytes()
    # as it lies there when the machine dies before the last row: its file is whole, or under way
    (stage.trial / "measurements.jsonl").write_bytes(lines[: lines[:-1].rindex(b"\n") + 1])
    manifest = stage.manifest | {"status": "running", "files": {}, "finished": None}
    (stage.trial / "manifest.json").write_text(json.dumps(manifest))
    (stage.trial / "samples" / "current.f64.gz").write_bytes(b"half")
    (stage.trial / "samples" / "0099-t.f64.gz").write_bytes(b"of a run without a row")
    assert len(read_trial(stage.trial)) == len(whole) - 1  # readable as it is
    stage.resume(made)
    again = {f"w{-row['position']}-t.f64.gz" for row in stage.rows if row["position"] < 0}
    assert samples_of(stage) == whole | again
    for row in stage.rows:
        label = f"{row['position']:04d}" if row["position"] >= 0 else f"w{-row['position']}"
        read_samples(
            stage.trial / "samples" / f"{label}-t.f64.gz", StoredSamples(**row["samples"]["t"])
        )


def test_the_file_is_there_before_the_row(stage, printing, monkeypatch):
    seen = []

    def looked(store, measurement):
        seen.append(samples_of(stage) >= {f"{measurement.position:04d}-t.f64.gz"})

    monkeypatch.setattr("harness.trial.writer.Store.append_measurement", looked)
    stage.start(printing(1200))
    assert seen
    assert all(seen)


def test_nothing_is_written_through_a_link(stage, printing, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    made = printing(1200)
    usual = stage.target

    def link(request):
        usual(request)
        if not (stage.trial / "samples").is_symlink():
            (stage.trial / "samples").symlink_to(tmp_path / "elsewhere")

    stage.target = link
    with pytest.raises(StoreError, match="symbolic link"):
        stage.start(made)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_full_disk_ends_the_trial_without_half_a_file_and_resuming_mends_it(
    stage, printing, monkeypatch
):
    made = printing(1200)
    usual, calls = os.write, iter(range(10**6))

    def full(fd, data):
        if len(data) > 1000 and next(calls) == 2 and bytes(data[:2]) == b"\x1f\x8b":
            usual(fd, data[:500])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return usual(fd, data)

    monkeypatch.setattr("harness.trial.run_files.os.write", full)
    with pytest.raises(StoreError, match="No space left") as caught:
        stage.start(made)
    assert "--resume" in caught.value.fix
    assert "current.f64.gz" not in samples_of(stage)
    assert stage.manifest["status"] == "stopped"
    stage.resume(made)
    assert stage.manifest["status"] == "complete"
    assert len(samples_of(stage)) == len(stage.rows)


def test_a_file_that_a_program_removed_is_told(stage, printing):
    made = printing(1200)
    usual = stage.target

    def remove(request):
        usual(request)
        for path in stage.trial.glob("samples/0000-*"):
            path.unlink()

    stage.target = remove
    stage.start(made)
    told = [one.text for one in read_trial(stage.trial).cautions if one.code == "samples-gone"]
    assert told == ["samples/0000-t.f64.gz is gone, though its row tells of it"]
