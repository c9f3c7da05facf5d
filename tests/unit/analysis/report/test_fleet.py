"""The report of a fleet: its headline, its numbers and its hosts are those of the fleet's verdict.

Authority: `judge_fleet`, which is held to its own tests, and each host's own trial.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from analysis.importers.reader import Reading, open_trial
from analysis.pages import (
    as_markup as as_csv,
    as_markup as as_latex,
    as_markup as as_markdown,
    as_text,
)
from analysis.record.fleet import read_fleet, write_fleet
from analysis.report.assembling import assemble, brief_page, data_page, html_page
from analysis.report.subject import subject_of
from analysis.verdict.fleet import judge_fleet
from analysis.verdict.judging import judge
from harness.cli import main


@pytest.fixture
def fleet(fleet_folder, synthetic):
    """Write a fleet: a shift of the logs a host, and how far its sessions go apart."""

    def make(shifts, *, wobble=0.004, absent=(), variants=("new",), change=None):
        names = [f"lab{k}" for k in range(1, len(shifts) + 1)]
        folder = fleet_folder(names)
        rng = np.random.default_rng(20261122)
        for name, shift in zip(names, shifts, strict=True):
            if name in absent:
                continue
            times = {one: {} for one in ("old", *variants)}
            for bench in ("text", "logs", "random"):
                times["old"][bench] = (0.02 * np.exp(rng.normal(0, 0.002, 16))).tolist()
                moved = np.repeat([wobble, -wobble, wobble, -wobble], 4) - shift
                for one in variants:
                    noise = rng.normal(0, 0.002, 16)
                    times[one][bench] = (0.02 * np.exp(moved + noise)).tolist()
            made = synthetic(times, sessions=4, warmup=1, host=name, trial=f"t-{name}")
            if change is not None:
                change(name, made)
            made.write(folder / name)
        return folder

    return make


def told_of(folder):
    """Give the report as JSON, without the methods, which take longest."""
    whole = assemble([subject_of([str(folder)], Reading(), explain=False)])
    return json.loads(json.dumps(whole.to_dict()))


def report(folder, *words):
    out, err = io.StringIO(), io.StringIO()
    assert main(["report", str(folder), *words], out, err) == 0, err.getvalue()
    return out.getvalue()


def test_the_headline_is_the_fleets_and_not_that_of_hosts_taken_for_sessions(fleet):
    folder = fleet([0.030, 0.031, 0.029], wobble=0.1)
    pooled = judge(open_trial(folder)).candidates[0].multilevel
    assert pooled.these.outcome == "faster"  # what the hosts' means alone would claim
    assert judge_fleet(folder).candidates[0].multilevel.these.outcome == "undecided"
    headline = assemble([subject_of([str(folder)], Reading(), explain=False)]).headline
    assert "; on hosts like these: undecided, between " in headline
    assert headline.startswith(judge_fleet(folder).sentence)


def test_all_numbers_are_those_of_the_verdict(fleet):
    folder = fleet([0.02, 0.1, -0.05, 0.3])
    known = judge_fleet(folder, explain=True).candidates[0]
    subject = subject_of([str(folder)], Reading())
    (one,) = subject.candidates
    assert one.hosts == known.hosts
    assert one.panel == known.panel
    told = json.loads(report(folder, "--format", "json"))
    (brief,) = told["brief"]
    rows = {row["name"]: row for row in brief["candidates"][0]["rows"]}
    result = known.multilevel
    for line in (*result.benchmarks, result.these, result.similar):
        row = rows[line.name]
        assert [row[key]["value"] for key in ("speedup", "low", "high")] == [
            line.speedup,
            line.low,
            line.high,
        ]
        assert row["outcome"] == line.outcome
    more = {one.benchmark: one.hosts for one in known.hosts.more_hosts}
    assert more, "nothing is undecided: this fleet tests no advice"
    for name, count in more.items():
        told = rows[name or "these"]["advice"]
        number = "> 100" if count is None else f"about {count}"
        assert f"{number} more host" in told or told.startswith("after correction")
    assert "more host" in rows["these"]["advice"]
    assert brief["rests_on"] == "hosts"


def test_every_form_says_hosts_x_sessions_x_runs_and_names_the_hosts(fleet):
    folder = fleet([0.1, 0.1, 0.1, 0.3, 0.1, 0.1], absent=("lab2",))
    whole = assemble([subject_of([str(folder)], Reading())])
    for text in (
        as_markdown.render_markdown(whole.screen()),
        as_latex.render_latex(whole.screen()),
        as_text.render(brief_page(whole)),
        as_csv.render(data_page(whole)),
        html_page(whole),
    ):
        told = " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())
        assert "5 hosts x 4 sessions x 4 runs" in told
        assert "5 sessions x 16 runs" not in told
        assert "missing: lab2" in told
        assert "lab4 disagree" in told
        assert "more session" not in told


def test_what_holds_on_these_hosts_alone_stands_beside_the_claim(fleet):
    folder = fleet([0.05, 0.15])
    level = judge_fleet(folder).candidates[0].hosts
    assert level.these.outcome == "faster"
    text = as_markdown.render_markdown(
        assemble([subject_of([str(folder)], Reading(), explain=False)]).screen()
    )
    assert re.match(
        r"### new takes [\d.]+ % less time than old over these 3 benchmarks on these 2 hosts "
        r"\(.*\); on hosts like these: undecided, between ",
        text.splitlines()[0],
    )
    assert "On these 2 hosts alone, over these 3: new 1.1" in text
    assert ", faster." in text


def test_the_conditions_list_the_hosts_those_that_are_odd_first(fleet):
    def cut(name, made):
        if name == "lab3":
            made.rows = made.rows[:60]
            made.manifest = replace(made.manifest, status="interrupted")

    folder = fleet([0.1] * 4, absent=("lab2",), change=cut)
    told = told_of(folder)
    facts = {one["name"]: one["texts"][0] for one in told["conditions"][0]["facts"]}
    assert list(facts)[2:] == ["lab2", "lab3", "lab1", "lab4"]
    assert facts["lab2"].startswith("missing, 0 of 120 runs")
    assert facts["lab3"].startswith("partial, 60 of 120 runs")
    assert facts["hosts"] == "3 of 4 judged"
    assert "four sessions" not in facts["measured"]


def test_the_paper_says_what_was_measured_where(fleet):
    folder = fleet([0.1] * 4, absent=("lab4",))
    write_fleet(folder, replace(read_fleet(folder), submitted_at="2026-11-22T10:00:00Z"))
    told = told_of(folder)["paper"][0]
    text = "".join(one["text"] for one in told["paragraph"])
    assert "in four sessions on each of three hosts, four runs of each in a session" in text
    assert "One more host was planned, but left nothing to judge." in text
    assert "for hosts like these (2 degrees of freedom)" in text
    assert told["commands"][0] == "fairtrial submit campaign.yaml --hosts lab1,lab2,lab3,lab4"
    names = [one["name"] for one in told["hashes"]]
    assert names[1:] == ["fleet.json", *(f"lab{k}: manifest.json" for k in (1, 2, 3))]
    assert all(one["text"] for one in told["hashes"])


def test_one_host_that_can_be_judged_gives_the_report_of_its_own_trial(fleet):
    folder = fleet([0.1, 0.1], absent=("lab1",))
    subject = subject_of([str(folder)], Reading(), explain=False)
    assert subject.trial.path == folder / "lab2"
    report = assemble([subject])
    own = assemble([subject_of([str(folder / "lab2")], Reading(), explain=False)])
    assert report.headline == own.headline
    text = as_text.render(report.screen())
    assert "missing: lab1" in text
    assert "one host only (lab2)" in text


def test_several_candidates_and_one_alone_have_reports_as_well(fleet, tmp_path, monkeypatch):
    # which kinds apply is asked here; that each is PDF and PNG as well, in figures/test_files.py
    monkeypatch.setattr("analysis.report.figures.ENDINGS", (".svg",))
    folder = fleet([0.1, 0.1, 0.12], variants=("new", "newer"))
    report = assemble([subject_of([str(folder)], Reading(), explain=False)])
    text = as_latex.render_latex(report.screen()) + html_page(report)
    assert "newer" in text
    chosen = subject_of([f"{folder}:newer"], Reading(), explain=False)
    assert [one.variant for one in chosen.candidates] == ["newer"]
    streams = (io.StringIO(), io.StringIO())
    words = ["report", str(folder), "--benchmark", "text", "--plots", str(tmp_path / "p")]
    assert main(words, *streams) == 0
    assert list((tmp_path / "p").rglob("*.svg"))


def keep_old(_, made):
    made.plan = [row for row in made.plan if row.variant == "old"]
    made.rows = [row for row in made.rows if row.variant == "old"]
    made.manifest = replace(made.manifest, variants=("old",), planned=len(made.plan))


def test_a_fleet_of_one_variant_has_a_report_with_intervals_by_hosts(fleet):
    text = " ".join(report(fleet([0.1, 0.1, 0.1], change=keep_old), "--format", "md").split())
    assert "old was measured alone: there is nothing to compare" in text
    assert "interval, over its hosts" in text
    assert "on 3 hosts with 16 runs a cell" in text
    assert "Student's t on the logarithms of the host means" in text
    assert "3 sessions" not in text


def test_the_sources_of_variation_are_those_of_the_command_on_the_fleet(fleet, tmp_path):
    folder = fleet([0.1, 0.14, 0.09, 0.12], absent=("lab2",))
    out = io.StringIO()
    assert main(["sources", str(folder), "--json"], out, io.StringIO()) == 0
    assert {one["source"] for one in json.loads(out.getvalue())["components"]} >= {"host", "run"}
    report(folder, "--sources", "-o", str(tmp_path / "r.html"))
    told = (tmp_path / "r.html").read_text().split('id="variation"')[1]
    assert "between hosts" in told
    assert "missing: lab2" in told
    assert f"fairtrial sources {folder}" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--always-valid",), "--looks N"),
        (("--certificate", "x"), "of one machine"),
        (("--level", "iteration"), "by their processes"),
    ],
)
def test_what_is_for_one_host_is_refused_with_what_else(fleet, words, said):
    folder, err = fleet([0.1, 0.1, 0.1]), io.StringIO()
    assert main(["report", str(folder), "--format", "txt", *words], io.StringIO(), err) == 2
    assert said in err.getvalue()


def test_a_figure_has_the_interval_of_the_verdict(fleet, tmp_path):
    folder = fleet([0.10, 0.12, 0.11])
    out = io.StringIO()
    assert main(["plot", "forest", str(folder), "-o", str(tmp_path / "f.svg")], out, out) == 0
    assert "hosts like these 3" in out.getvalue()
    rows = list(csv.DictReader(io.StringIO((tmp_path / "f.csv").read_text())))
    these = next(row for row in rows if row["line"] == "these")
    line = judge_fleet(folder).candidates[0].multilevel.these
    assert float(these["low"]) == line.low
    assert float(these["high"]) == line.high


def test_a_candidate_that_one_host_only_has_is_said_to_be(fleet):
    def fail(name, made):
        if name != "lab2":
            made.fail(lambda row: row.variant == "new")

    folder = fleet([0.1, 0.1, 0.1], change=fail)
    text = " ".join(report(folder, "--format", "md").split())
    assert text.startswith(
        "### no answer for new against old over these 3 benchmarks: runs of new failed"
    )
    assert "new can be compared on one host only (lab2)" in text


def test_two_variants_over_all_hosts_rest_on_hosts_and_not_on_sessions(fleet):
    folder = fleet([0.1, -0.1, 0.02, 0.3, 0.05])
    text, own = (
        " ".join(report(f"{place}:new", f"{place}:old", "--format", "md").split())
        for place in (folder, folder / "lab1")
    )
    assert "on 5 hosts with 16 runs a cell" in text
    assert "95 % intervals from the 5 hosts" in text
    assert "over its hosts; what hosts do to both sides alike" in text
    assert "new is ahead in 4 of 5 hosts" in text
    assert "hosts; ratio of suite means" in text
    assert (
        "executed two variants on three benchmarks on five hosts, 16 runs of each on a host" in text
    )
    assert "fairtrial merge lab1 lab2 lab3 lab4 lab5 -o fleet" in text
    assert "--seed 1 --sessions 4" in text  # of each host
    assert "5 sessions" not in text
    assert "five sessions" not in text
    # the negative control: the report of a trial rests on its sessions
    assert "95 % intervals from the 4 sessions" in own
    assert "over its sessions; what sessions do" in own
    assert "fairtrial merge" not in own
