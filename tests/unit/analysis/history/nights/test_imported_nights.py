"""Results of other tools as nights: their values, and in which order they stand."""

import itertools
import json
import math
import os
import subprocess

import numpy as np
import pytest

from analysis.errors import FairtrialError, InsufficientDataError, UsageError
from analysis.history import nights
from analysis.history.judging import judge_nights
from analysis.history.night_values import date_in, first_date
from analysis.history.nights import read_nights
from analysis.importers.reader import open_trial


def pyperf(scale, date=None, **metadata):
    about = {} if date is None else {"date": date}
    runs = [{"values": [scale * x, scale * (x + 0.1)], "metadata": about} for x in (1.0, 1.2)]
    return {
        "benchmarks": [{"metadata": {"name": name}, "runs": runs} for name in ("fib", "sort")],
        "metadata": {"unit": "second", "loops": 1, "hostname": "lab3", **metadata},
        "version": "1.0",
    }


def google(scale, date=None, **context):
    rows = [
        {"name": "BM_fib", "run_name": "BM_fib", "run_type": "iteration", "repetition_index": k}
        | {"iterations": 10, "real_time": scale * x, "cpu_time": scale * x, "time_unit": "ns"}
        for k, x in enumerate((100.0, 110.0))
    ]
    about = {"host_name": "lab3", "num_cpus": 2, **context}
    return {"context": about | ({} if date is None else {"date": date}), "benchmarks": rows}


def hyperfine(scale, date=None):
    del date  # it stores none
    times = [scale * x for x in (0.5, 0.6, 0.7)]
    result = {"command": "make", "times": times, "exit_codes": [0] * 3, "mean": 0.6, "user": 0.1}
    return {"results": [result]}


@pytest.fixture
def files(tmp_path):
    def write(made):
        folder = tmp_path / "results"
        folder.mkdir(exist_ok=True)
        for name, content in made.items():
            (folder / name).write_text(json.dumps(content))
        return folder

    return write


def expected(path, benchmark, variant=None, metric=None):
    """Give the mean over sessions of the mean log, of the trial that an import makes."""
    trial = open_trial(str(path))  # as docs/import.md has it
    matrix = trial.matrix(variant or trial.manifest.variants[0], metric or trial.default_metric)
    k = matrix.benchmarks.index(benchmark)
    rows, sessions = np.log(matrix.samples[k]), matrix.sessions[k]
    return float(np.mean([rows[sessions == one].mean() for one in np.unique(sessions)]))


@pytest.mark.parametrize(
    ("tool", "name", "benchmark"),
    [(pyperf, "pyperf", "fib"), (google, "google-benchmark", "BM_fib")],
)
def test_values_are_those_of_an_import_in_the_order_of_the_dates_in_the_files(
    files, tool, name, benchmark
):
    # authority: the trial that an import makes of each file
    dates = {"b": "2026-11-03T02:00:00", "c": "2026-11-01T02:00:00", "a": "2026-11-02T02:00:00"}
    folder = files(
        {f"{k}.json": tool(1 + n / 10, date) for n, (k, date) in enumerate(dates.items())}
    )
    found = read_nights([folder])
    (series,) = [one for one in found.series if one.benchmark == benchmark]
    assert [n.trial for n in series.values] == ["c.json", "a.json", "b.json"]
    assert [n.started_at for n in series.values] == [
        f"2026-11-0{k}T02:00:00+00:00" for k in (1, 2, 3)
    ]
    by_hand = [expected(folder / f"{k}.json", benchmark) for k in "cab"]
    assert series.logs == pytest.approx(by_hand, abs=1e-12)
    assert (series.variant, series.paired, series.ends) == (name, False, None)
    assert found.hosts == ("lab3",)
    assert [n.commit for n in series.values] == [None] * 3


def test_where_higher_is_better_a_lower_rate_is_slower(files):
    made = {}
    for k in (1, 2):
        one = google(1.0, f"2026-11-0{k}T02:00:00")
        for row in one["benchmarks"]:
            row["items_per_second"] = 100.0 / k
        made[f"{k}.json"] = one
    (series,) = read_nights([files(made)], metric="items_per_second").series
    assert (series.better, series.metric) == ("higher", "items_per_second")
    assert series.logs == pytest.approx([-math.log(100), -math.log(50)], abs=1e-12)


def test_files_without_dates_go_by_those_in_their_names(files):
    names = ["make-2026-11-10.json", "make-20261102.json", "2026_11_05-make.json"]
    folder = files({name: hyperfine(1 + k) for k, name in enumerate(names)})
    (folder / "README.txt").write_text("what these are\n")
    found = read_nights([folder])
    (series,) = [one for one in found.series if one.benchmark and one.metric == "time"]
    assert [n.trial for n in series.values] == [names[1], names[2], names[0]]
    by_hand = [math.log(k * (0.5 * 0.6 * 0.7) ** (1 / 3)) for k in (2, 3, 1)]
    assert series.logs == pytest.approx(by_hand, abs=1e-12)
    assert found.left_out == ()


def git(folder, *words):
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *words],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"},
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """Make a repository of five commits; give it with them, oldest first."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    commits = []
    for k in range(5):
        git(folder, "commit", "-q", "--allow-empty", "-m", f"{k}", "--date", f"{2000 - k} +0000")
        commits.append(git(folder, "rev-parse", "HEAD"))
    return folder, commits


def test_files_without_dates_go_by_commits_in_the_order_of_git(files, repository, monkeypatch):
    # authority: the order in which the commits were made; their dates go backwards
    folder, commits = repository
    monkeypatch.chdir(folder)
    order = [3, 0, 4, 1]
    names = {k: f"make-{commits[k][:10]}.json" for k in order}
    place = files({names[k]: hyperfine(1 + k) for k in order})
    found = read_nights([place])
    (series,) = [one for one in found.series if one.metric == "time"]
    assert [n.trial for n in series.values] == [names[k] for k in sorted(order)]
    assert [n.commit for n in series.values] == [commits[k][:10] for k in sorted(order)]
    assert [n.started_at for n in series.values] == [None] * 4


def test_a_commit_that_the_file_names_goes_before_its_name(files, repository, monkeypatch):
    folder, commits = repository
    monkeypatch.chdir(folder)
    made = {f"{k}.json": google(1.0, commit=commits[4 - k]) for k in range(3)}
    series = read_nights([files(made)]).series[0]
    assert [n.trial for n in series.values] == ["2.json", "1.json", "0.json"]
    assert [n.commit for n in series.values] == commits[2:5]


def test_a_hook_that_names_another_repository_does_not_change_the_order(
    files, repository, monkeypatch, tmp_path
):
    folder, commits = repository
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another"))
    place = files({f"make-{commits[k][:10]}.json": hyperfine(1 + k) for k in (2, 0)})
    (series,) = [one for one in read_nights([place]).series if one.metric == "time"]
    assert [n.commit for n in series.values] == [commits[k][:10] for k in (0, 2)]


@pytest.mark.parametrize(("night", "gone"), [(1, ()), (4, ("fib",))])
def test_the_newest_night_is_the_last_commit_whatever_earlier_one_a_series_lacks(
    files, repository, monkeypatch, night, gone
):
    folder, commits = repository
    monkeypatch.chdir(folder)
    made = {f"{commit[:10]}.json": pyperf(1.0) for commit in commits}
    made[f"{commits[night][:10]}.json"]["benchmarks"].pop(0)
    history = judge_nights(read_nights([files(made)]), gate="slower>2%")
    assert (history.gone, history.outcome) == (gone, "undecided")


@pytest.mark.parametrize("where", ["elsewhere", "other commits", "no git"])
def test_what_cannot_be_ordered_is_refused_with_a_remedy(
    files, repository, monkeypatch, tmp_path, where
):
    folder, commits = repository
    monkeypatch.chdir(tmp_path if where == "elsewhere" else folder)
    if where == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    known = commits[:2] if where != "other commits" else ["1234567", "abcdef0"]
    place = files({f"make-{sha[:10]}.json": hyperfine(1.0) for sha in known})
    with pytest.raises(UsageError, match="cannot be ordered") as error:
        read_nights([place])
    assert "put the date into their names" in str(error.value)


def test_a_date_in_most_files_is_not_enough(files):
    # negative control: with a date in the name of the last one it is
    made = {"a.json": pyperf(1.0, "2026-11-01 02:00:00"), "b.json": pyperf(1.0)}
    with pytest.raises(UsageError, match=r"cannot be ordered.*b\.json"):
        read_nights([files(made)])
    folder = files({"a.json": made["a.json"], "b-2026-10-30.json": made["b.json"]})
    (folder / "b.json").unlink()
    series = read_nights([folder]).series[0]
    assert [n.trial for n in series.values] == ["b-2026-10-30.json", "a.json"]


def test_a_file_a_benchmark_makes_series_of_their_own(files):
    made = {}
    for k in (1, 2, 3):
        whole = pyperf(float(k), f"2026-11-0{k} 02:00:00")
        for bench in whole["benchmarks"]:
            own = {**whole, "benchmarks": [bench]}
            made[f"{bench['metadata']['name']}-{k}.json"] = own
    found = read_nights([files(made)])
    assert {(s.benchmark, len(s.values), s.ends) for s in found.series} == {
        ("fib", 3, None),
        ("sort", 3, None),
    }


def test_another_unit_ends_a_series(files):
    made = {f"{k}.json": pyperf(1.0, f"2026-11-0{k} 02:00:00") for k in (1, 2, 3)}
    made["3.json"]["metadata"]["unit"] = "byte"
    found = read_nights([files(made)])
    assert [s.ends for s in found.series if s.benchmark == "fib"] == ["campaign", None]


def test_damaged_files_are_named_and_hide_no_other(files):
    made = {f"2026-11-0{k}.json": pyperf(1.0) for k in (1, 2, 3)}
    folder = files(made)
    (folder / "2026-11-04.json").write_text(json.dumps(pyperf(1.0))[:-40])
    found = read_nights([folder])
    assert [name for name, _ in found.left_out] == ["2026-11-04.json"]
    assert len(found.series[0].values) == 3


def test_trials_and_files_are_no_series_together(files, night, tmp_path):
    folder = files({"2026-11-01.json": pyperf(1.0)})
    night(1)
    with pytest.raises(UsageError, match="no series together"):
        read_nights([folder / "2026-11-01.json", tmp_path / "runs"])
    # in a folder of trials other files are passed over
    night(2)
    (tmp_path / "runs" / "2026-11-01.json").write_text(json.dumps(pyperf(1.0)))
    assert read_nights([tmp_path / "runs"]).series[0].paired


def test_commits_of_one_file_are_nights_of_equal_values_too(tmp_path):
    def entry(k):
        benches = [{"name": "fib", "value": 10 + k % 2, "unit": "ns/iter"}]
        return {
            "commit": {"id": f"c{k}", "timestamp": f"2026-01-0{k}T00:00:00Z"},
            "benches": benches,
        }

    path = tmp_path / "data.js"
    path.write_text(
        "window.BENCHMARK_DATA = " + json.dumps({"entries": {"Rust": [entry(2), entry(1)]}})
    )
    (series,) = read_nights([path]).series
    assert [night.commit for night in series.values] == ["c1", "c2"]
    every = {"Rust": [entry(k) for k in range(1, 10)]}
    path.write_text("window.BENCHMARK_DATA = " + json.dumps({"entries": every}))
    (series,) = read_nights([path]).series
    assert [night.commit for night in series.values] == [f"c{k}" for k in range(1, 10)]
    with pytest.raises(InsufficientDataError, match=r"no metric 'size'\n.*known here: time"):
        read_nights([path], metric="size")
    path.write_text("window.BENCHMARK_DATA = " + json.dumps({"entries": {"Rust": [entry(1)]}}))
    with pytest.raises(UsageError, match="one night is no series"):
        read_nights([path])


@pytest.mark.parametrize(
    ("heading", "ids"),
    [("date", None), ("timestamp,sha", ["c1", "c2", "c3"]), ("started at,variant", None)],
)
def test_dates_and_commits_of_a_table_are_nights(tmp_path, heading, ids) -> None:
    rows = [
        f"2026-01-0{4 - k} 03:00:00".removesuffix("" if "," in heading else " 03:00:00")
        + (f",c{4 - k}" if ids else ",v" if "," in heading else "")
        + f",fib,{value}"
        for k in (1, 2, 3)
        for value in (10.0 + k, 11.0 + k)
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([f"{heading},benchmark,time_ms", *rows]) + "\n")
    (series,) = read_nights([path]).series
    assert [night.commit for night in series.values] == (ids or [None] * 3)
    logs = [(math.log(0.010 + k / 1000) + math.log(0.011 + k / 1000)) / 2 for k in (3, 2, 1)]
    assert series.logs == pytest.approx(logs, abs=1e-12)


@pytest.mark.parametrize("session", ["1", "2026-11-03 02:00"])
def test_a_table_with_a_date_in_its_name_is_one_night(tmp_path, session) -> None:
    for day in (3, 4):
        rows = "".join(f"f,{one},{1 + k}\n" for k, one in enumerate((session, "2026-11-09")))
        (tmp_path / f"2026-11-0{day}.csv").write_text(f"benchmark,session,time_ms\n{rows}")
    (series,) = read_nights([tmp_path / "2026-11-03.csv", tmp_path / "2026-11-04.csv"]).series
    assert len(series.values) == 2
    assert series.logs == pytest.approx([math.log(0.001) + math.log(2) / 2] * 2, abs=1e-12)


def test_a_file_of_numbers_is_no_result(files, tmp_path):
    (tmp_path / "numbers.txt").write_text("1\n2\n")
    with pytest.raises(UsageError, match="no result of another tool"):
        read_nights([tmp_path / "numbers.txt"])


def test_imported_trials_go_by_the_dates_that_their_files_hold(files, night, tmp_path):
    # what an import stored is read as the file is
    from analysis.data.opening import open_foreign
    from analysis.importers.gathering import ReadingChoices, gather
    from analysis.importers.importing import import_files
    from analysis.importers.registry import read_foreign

    made = {f"{k}.json": google(1.0 + k, f"2026-11-0{4 - k}T02:00:00") for k in (1, 2)}
    folder = files(made)
    for name in made:
        file = read_foreign(open_foreign(str(folder / name)))
        import_files(gather([file], ReadingChoices()), tmp_path / "runs" / name[0])
    imported = read_nights([tmp_path / "runs"], plain=True).series
    direct = read_nights([folder]).series
    assert [n.trial for n in imported[0].values] == ["2", "1"]
    assert imported[0].logs == pytest.approx(direct[0].logs, abs=1e-12)
    file = read_foreign(open_foreign(str(files({"c.json": google(1.0)}) / "c.json")))
    import_files(gather([file], ReadingChoices()), tmp_path / "runs" / "c")
    with pytest.raises(UsageError, match="imported trials cannot be ordered") as error:
        read_nights([tmp_path / "runs"])
    assert "put the date into their names" in str(error.value)
    # among trials that were measured it is left out, with the reason
    for k in (1, 2):
        night(k)
    found = read_nights([tmp_path / "runs"])
    assert [name for name, _ in found.left_out] == ["c"]
    assert [s.campaign for s in found.series] == ["synthetic", "synthetic", ""]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-11-03T02:00:00+01:00", "2026-11-03T02:00:00+01:00"),
        ("2016-10-21 03:14:19.670631", "2016-10-21T03:14:19.670631+00:00"),
        ("2016/05/04-15:10:59", "2016-05-04T15:10:59+00:00"),
        ("fib-20261103", "2026-11-03T00:00:00+00:00"),
        ("fib_2026-11-03_0310", "2026-11-03T03:10:00+00:00"),
        ("1793671200000", "2026-11-03T02:00:00+00:00"),
        ("2026-11-03", "2026-11-03T00:00:00+00:00"),
        # what is none
        ("fib-20261345", None),
        ("", None),
        (None, None),
        ("2026-11-03-to-2026-11-05", None),
        ("x120261103", None),
    ],
)
def test_dates_are_read_as_tools_and_people_write_them(text, found):
    assert date_in(text) == found


def test_the_first_of_dates_needs_all_of_them():
    assert first_date(["2026-11-03", "2026-11-01"]) == "2026-11-01T00:00:00+00:00"
    assert first_date(["2026-11-03", "nothing"]) is None
    assert first_date([]) is None


def test_it_is_said_how_many_files_were_read(files, monkeypatch):
    said = []
    monkeypatch.setattr(nights, "doing", lambda *words: said.append(words))
    read_nights([files({f"2026-11-0{k}.json": pyperf(1.0) for k in (1, 2)})])
    assert said == [("reading", 0, 2, "files"), ("reading", 1, 2, "files")]


def test_several_commands_in_a_file_are_a_series_each(files):
    # authority: docs/import.md, there is no baseline: each variant has a series of its own
    made = {}
    for k in (1, 2, 3):
        one = hyperfine(k)
        one["results"] += [one["results"][0] | {"command": "ninja", "times": [0.3, 0.31, 0.32]}]
        made[f"2026-11-0{k}-build.json"] = one
    found = read_nights([files(made)])
    assert [(one.variant, one.paired, len(one.values)) for one in found.series] == [
        ("make", False, 3),
        ("ninja", False, 3),
    ]


def test_files_of_no_tool_are_refused_with_what_can_be_read(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("hello\n")
    with pytest.raises(UsageError, match="no format is known for what is there: 2 files"):
        read_nights([tmp_path])


def test_a_metric_that_nobody_has_is_said_once(files):
    made = {f"2026-11-0{k}.json": hyperfine(k) for k in (1, 2, 3)}
    with pytest.raises(InsufficientDataError) as refused:
        read_nights([files(made)], metric="user")
    assert refused.value.what.count("'user'") == 1
    assert "in each of 3 nights" in refused.value.what
    assert refused.value.fix == "known here: time"


def test_a_direction_that_no_file_says_is_asked_for_and_taken(tmp_path, night):
    # authority: docs/verdict.md, --better says the direction where the file does not
    folder = tmp_path / "results"
    folder.mkdir()
    for k in (1, 2):
        (folder / f"2026-11-0{k}.csv").write_text(f"benchmark,run,score\nx,1,{k}0\nx,2,{k}0\n")
    with pytest.raises(InsufficientDataError, match=r"in each of 2 nights, .* 'score'") as refused:
        read_nights([folder])
    assert refused.value.fix == "add --better lower (times) or --better higher (scores, rates)"
    for better, sign in (("lower", 1), ("higher", -1)):
        (series,) = read_nights([folder], better=better).series
        assert (series.better, series.unit) == (better, "")
        assert series.logs == pytest.approx([sign * math.log(10), sign * math.log(20)])


@pytest.mark.parametrize("kind", ["trials", "files"])
def test_a_direction_that_nights_contradict_is_refused(files, night, tmp_path, kind):
    night(1)
    night(2)
    made = {f"2026-11-0{k}.json": hyperfine(k) for k in (1, 2)}
    place = tmp_path / "runs" if kind == "trials" else files(made)
    assert read_nights([place], better="lower").series
    with pytest.raises(FairtrialError, match="lower values") as refused:
        read_nights([place], better="higher")
    assert refused.value.fix == "leave out --better higher"


ASV = ["result", "params", "version", "started_at", "duration", "samples"]


@pytest.fixture
def tree(tmp_path):
    """Write an asv tree: a machine, an environment and results for each night, the newest first."""

    def write(results, *, below="results", machines=("box",), samples=False):
        for (k, machine), env in itertools.product(
            itertools.product(range(4), machines),
            ("py3",) if len(machines) == 1 else ("py3", "a-b"),
        ):
            data = {
                "commit_hash": f"{9 - k:040x}", "date": 1500000000000 + k * 86400000, "env_name": env,
                "params": {"machine": machine}, "result_columns": ASV, "version": 2,
                "results": {name: [one, [], *way, 1, 1.0, *([one] if samples else ())]
                            for name, (one, *way) in results(k).items()},
            }  # fmt: skip
            path = tmp_path / "project" / below / machine / f"{9 - k:08x}-{env}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(data))
            (path.parent / "machine.json").write_text('{"machine": "x", "version": 1}')
        (tmp_path / "project" / below / "benchmarks.json").write_text('{"version": 2}')
        return tmp_path / "project"

    return write


@pytest.mark.parametrize("below", ["results", ".asv/results", "benchmarks/.asv/results"])
@pytest.mark.parametrize("samples", [True, False])
def test_a_tree_of_asv_gives_its_nights_by_the_dates_of_its_commits(tree, below, samples):
    # authority: the result is the number of the night
    def results(k):
        return {"mem_b": ([100 + k], "v"), "time_a": ([0.5 + k], "v"), "time_none": (None, "v"), "track_c": ([k], "v")}  # fmt: skip

    (series,) = read_nights([tree(results, below=below, samples=samples)]).series
    assert (series.benchmark, series.variant, series.metric) == ("time_a", "asv", "time")
    assert series.logs == pytest.approx([math.log(0.5 + k) for k in range(4)], abs=1e-12)
    assert [night.commit for night in series.values] == [f"{9 - k:040x}" for k in range(4)]
    (rate,) = read_nights([tree(results, below=below)], better="higher").series
    assert (rate.benchmark, len(rate.values)) == ("track_c", 3)  # zero has no log


def test_machines_and_environments_of_a_tree_are_series_of_their_own(tree):
    found = read_nights([tree(lambda k: {"time_a": ([0.5 + k], "v")}, machines=("box", "lab"))])
    names = ["a-b, box", "a-b, lab", "py3, box", "py3, lab"]
    assert sorted(one.variant for one in found.series) == names
    assert [len(one.values) for one in found.series] == [4] * 4


def test_a_new_version_of_a_benchmark_begins_a_series(tree):
    old, new = read_nights([tree(lambda k: {"time_a": ([0.5], f"v{k // 2}")})]).series
    assert (old.ends, len(old.values), len(new.values)) == ("inputs", 2, 2)
    assert "another way: version v1, which was version v0" in old.changed


def test_a_tree_without_a_value_is_refused_with_what_helps(tree):
    with pytest.raises(InsufficientDataError, match="measure again: did every benchmark fail"):
        read_nights([tree(lambda _: {"time_a": (None, "v")})])
