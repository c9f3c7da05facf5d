"""The first screen: golden text of small invented trials, and every number a field of `multilevel`."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.calibrate.calibration import calibrate_trial
from analysis.calibrate.certificates import write_certificate
from analysis.data.trial import read_trial
from analysis.errors import StoreError
from analysis.methods.multilevel.compare import multilevel
from analysis.pages.model import CommandLine, Section, Sentence, Table, Value, page_of
from analysis.stats.arguments import stream
from analysis.verdict.judging import judge

GOLDEN = """\
synthetic on lab07 · wall time · baseline gzip-6 · 4 sessions x 4 runs, paired · margin 1 %

gzip-1             gzip-6   gzip-1  spread  speedup  95 %                     would decide in about 80 %
text              24.2 ms  5.26 ms  0.43 %    4.60x  [4.54, 4.67]  faster
logs              30.7 ms  11.7 ms  0.43 %    2.62x  [2.60, 2.65]  faster
random            31.9 ms  31.8 ms  0.43 %    1.00x  [0.99, 1.01]  undecided  about 15 more sessions (7 to 18)
these 3                                       2.30x  [2.29, 2.30]  faster
others like them                              2.30x  [0.34, 15.6]  undecided
more runs alone would not do
HPT: no speedup has reliability 0.95

cautions
  [1] the whole host did not keep its speed: consecutive runs of different programs are alike: …
  [2] 3 benchmarks say little about others like them
  [3] no A/A certificate for this machine and design: fairtrial calibrate

fairtrial verdict PATH --explain   # why, and what the published methods say"""


@pytest.fixture
def judged(synthetic, tmp_path):
    def judge_it(data, *, sessions=4, **options):
        trial = read_trial(synthetic(data, sessions=sessions).write(tmp_path / "t"))
        return judge(trial, **options)

    return judge_it


def blocks(sections, kind):
    for section in sections:
        for block in section.blocks:
            if isinstance(block, kind):
                yield block
            if isinstance(block, Section):
                yield from blocks((block,), kind)


def cells(table, name):
    return next(row for row in table.rows if row[0] == name)


def test_the_golden_screen(judged, tmp_path, three):
    text = str(judged(three(gzip_1=(0.217, 0.382, 0.999))))
    assert text.replace(str(tmp_path / "t"), "PATH") == GOLDEN


def test_each_number_is_a_field_of_multilevel(judged, three):
    found = judged(three(gzip_1=(0.217, 0.382, 0.999)))
    result = found.candidates[0].multilevel
    (table,) = blocks(page_of(found).sections, Table)
    for line in result.benchmarks:
        _, base, ours, spread, speedup, interval, word, _ = cells(table, line.name)
        assert (base.value, ours.value) == (line.mean_baseline, line.mean_candidate)
        assert spread.value == max(line.spread_baseline, line.spread_candidate)
        assert speedup.value == line.speedup == pytest.approx(base.value / ours.value)
        low, high = map(float, interval.strip("[]").split(", "))
        assert (low, high) == pytest.approx((line.low, line.high), abs=0.006)
        assert word == line.outcome
    for name, line in (("these 3", result.these), ("others like them", result.similar)):
        _, *_, speedup, interval, word, _ = cells(table, name)
        assert speedup.value == line.speedup
        assert word == line.outcome


def test_it_is_the_multilevel_of_the_same_matrices(judged, synthetic, tmp_path, three):
    data = three(gzip_1=(0.217, 0.382, 0.999))
    trial = read_trial(synthetic(data, sessions=4).write(tmp_path / "again"))
    alone = multilevel(trial.matrix("gzip-1"), trial.matrix("gzip-6"), margin=0.02)
    found = judged(data, margin=0.02).candidates[0].multilevel
    assert found.benchmarks == alone.benchmarks
    assert (found.these, found.similar) == (alone.these, alone.similar)


def test_the_interval_is_t_on_session_values(judged, three):
    # computed again, by another way: scipy's t of the sessions' mean differences
    data = three(gzip_1=(0.217, 0.382, 0.999))
    line = judged(data).candidates[0].multilevel.benchmarks[0]
    logs = [np.log(data[v]["text"]).reshape(4, 4).mean(axis=1) for v in ("gzip-6", "gzip-1")]
    differences = logs[0] - logs[1]
    ends = stats.t.interval(0.95, 3, differences.mean(), stats.sem(differences))
    assert (line.low, line.high) == pytest.approx(tuple(np.exp(ends)), rel=1e-6)


def test_of_many_benchmarks_the_ends_are_shown_and_25_lines_hold(judged, many):
    text = str(judged(many(40, fast=0.01)))
    lines = text.splitlines()
    assert len(lines) <= 25
    assert "and 32 more (--all)" in text
    shown = re.findall(r"(?m)^bench-(\d+)", text)
    assert shown == ["00", "01", "02", "03", "36", "37", "38", "39"]
    assert max(map(len, lines[:-1])) <= 106


def test_whole_shows_all(judged, many):
    text = str(replace(judged(many(40, fast=0.01)), whole=True))
    assert len(re.findall(r"(?m)^bench-", text)) == 40
    assert "--all" not in text


def test_many_cautions_still_leave_25_lines(judged, synthetic, tmp_path, many):
    made = synthetic(many(40, fast=0.01), sessions=4)
    made.rows = [
        replace(row, outcome="exit", exit_code=3)
        if (row.benchmark, row.session) in {(f"bench-{k:02}", 1 + k % 4) for k in range(10, 30, 3)}
        else row
        for row in made.rows
    ]
    made.manifest = replace(made.manifest, status="interrupted", reason="by you")
    found = judge(read_trial(made.write(tmp_path / "many")))
    text = str(found)
    assert len(text.splitlines()) <= 25
    shown = re.findall(r"(?m)^bench-(\d+)", text)
    assert len(shown) == 12  # four of those with cautions stand between the ends
    assert re.search(r"(?m)^bench-10 .*\[2\]$", text)
    assert re.search(r"# why, \d more cautions, and", text.splitlines()[-1])


def test_two_candidates_stand_side_by_side(judged, three):
    found = judged(three(gzip_1=(0.217, 0.382, 0.99), gzip_9=(1.4, 1.2, 1.0)))
    (table,) = blocks(page_of(found).sections, Table)
    assert [column.heading for column in table.columns[1::3]] == ["gzip-1", "gzip-9", ""][:3]
    row = cells(table, "text")
    lines = [one.multilevel.benchmarks[0] for one in found.candidates]
    assert (row[1], row[4]) == ("faster", "slower")
    assert [row[2].value, row[5].value] == [line.speedup for line in lines]
    (told,) = (one.text for one in blocks(page_of(found).sections, Sentence) if "HPT" in one.text)
    assert re.fullmatch("HPT: gzip-1: [^;]+ reliability 0.95[^;]*; gzip-9: [^;]+", told)


def test_more_than_three_are_a_matrix_of_words(judged, many):
    text = str(judged(many(3, a=0.02, b=0.01, c=0.03, d=0.5)))
    (row,) = re.findall(r"(?m)^bench-01 .*$", text)
    assert re.findall(r"(faster|slower|=|\?) [\d.]+x", row) == ["?", "?", "faster", "faster"]
    assert "[0." not in row


def test_one_variant_has_its_own_interval(judged, three):
    found = judged({"only": three(x=(1, 1, 1))["x"]})
    assert found.candidates == ()
    assert [one.unit for one in found.alone] == ["session"] * 3
    text = str(found)
    assert "one variant only: there is nothing to compare" in text
    assert re.search(r"text +24.2 ms +± 1.3 % +4 sessions", text)
    codes = found.to_dict()["caution_codes"]
    assert "one-variant" in codes  # its sentence is the answer already
    assert text.count("there is nothing to compare") == 1
    assert "no-certificate" not in codes


def test_one_session_says_so(judged, three):
    found = judged(three(gzip_1=(0.217, 0.382, 0.99)), sessions=1)
    text = str(found)
    assert "1 session x 16 runs, within one session" in " ".join(text.split())
    assert "one-session" in {c.code for c in found.cautions}


def test_several_looks_share_the_risk(judged, three):
    data = three(gzip_1=(0.217, 0.382, 0.999))
    one, two = judged(data), judged(data, looks=2)
    assert "97.5 %" in str(two)
    assert "2 looks are planned, each judged at 2.5 % (alpha/2)" in " ".join(str(two).split())
    narrow, wide = (v.candidates[0].multilevel.benchmarks[0] for v in (one, two))
    assert wide.high - wide.low > narrow.high - narrow.low


def test_always_valid_is_said(judged, three):
    text = str(judged(three(gzip_1=(0.217, 0.382, 0.999)), always_valid=True))
    assert "valid at every look" in " ".join(text.split())


def test_a_correction_that_changes_a_word_is_marked(judged, many):
    data = many(12, fast=0.004)
    corrected, plain = judged(data), judged(data, correction="none")
    changed = [
        line.name
        for line in corrected.candidates[0].multilevel.benchmarks
        if line.outcome != line.outcome_uncorrected
    ]
    assert changed
    assert str(corrected).count("after correction for 12") == len(changed)
    assert "after correction" not in str(plain)


@pytest.mark.parametrize("names", [("fast", "same"), ("fast", "same", "third", "fourth")])
def test_beside_others_a_correction_that_changes_words_is_said_once(judged, many, names):
    speeds = dict.fromkeys(names[1:], 0.0) | {"fast": 0.004}
    data = many(12, **speeds)
    corrected, plain = judged(data), judged(data, correction="none")
    changed = {
        one.variant: sum(
            line.outcome != line.outcome_uncorrected for line in one.multilevel.benchmarks
        )
        for one in corrected.candidates
    }
    assert changed["fast"]
    text = " ".join(str(corrected).split())
    assert text.count("undecided after correction for 12") == 1
    assert f"fast {changed['fast']}" in text.partition("would decide: ")[2]
    assert "after correction" not in str(plain)


def test_what_is_next_can_be_copied(judged, synthetic, tmp_path, three):
    found = judged(three(gzip_1=(0.217, 0.382, 0.99)))
    (command,) = blocks(page_of(found).following, CommandLine)
    assert command.line.startswith(f"fairtrial verdict {tmp_path}/t --explain   #")
    made = synthetic(three(gzip_1=(0.217, 0.382, 0.99)), sessions=4, status="running")
    made.rows = made.rows[:60]
    unfinished = judge(read_trial(made.write(tmp_path / "a b")))
    (command,) = blocks(page_of(unfinished).following, CommandLine)
    assert command.line.startswith(f"fairtrial status '{tmp_path}/a b'   #")


def test_other_metrics_have_their_words(synthetic, tmp_path, three):
    made = synthetic(three(gzip_1=(0.217, 0.382, 0.99)), sessions=4)
    made.rows = [replace(row, max_rss_bytes=row.wall_ns + (20 << 20)) for row in made.rows]
    found = judge(read_trial(made.write(tmp_path)), metric="max_rss")
    (table,) = blocks(page_of(found).sections, Table)
    assert cells(table, "text")[6] == "better"
    assert isinstance(cells(table, "text")[1], Value)
    assert found.candidates[0].multilevel.benchmarks[0].outcome == "faster"
    assert "--metric max_rss --explain" in str(found)


def test_benchmarks_and_variants_can_be_chosen(judged, three):
    data = three(gzip_1=(0.217, 0.382, 0.99), gzip_9=(1.4, 1.2, 1.0))
    found = judged(data, variants=["gzip-9"], benchmarks=["logs"])
    assert [one.variant for one in found.candidates] == ["gzip-9"]
    (line,) = found.candidates[0].multilevel.benchmarks
    assert line.name == "logs"
    assert found.candidates[0].multilevel.these is None
    assert found.candidates[0].hpt_speedup is None
    (sentence, *_) = blocks(page_of(found).sections, Sentence)
    assert sentence.text.startswith("synthetic on lab07")


def test_what_the_runs_look_like_is_said_beside_the_lines(judged, three):
    found = judged(three(gzip_1=(0.217, 0.382, 0.99)))
    assert found.diagnosis is not None
    assert set(found.diagnosis.cautions) <= set(found.cautions)
    assert found.to_dict()["diagnosis"]["findings"] is not None


def test_without_a_certificate_it_says_so_last(judged, three):
    found = judged(three(gzip_1=(0.217, 0.382, 0.99)))
    assert found.cautions[-1].code == "no-certificate"
    assert "fairtrial calibrate" in str(found)
    assert found.certificate is None


def test_a_certificate_is_cited_where_it_holds(synthetic, tmp_path, many):
    path = synthetic(many(3, fast=0.0), sessions=4).write(tmp_path / "runs" / "t")
    trial = read_trial(path)
    paper = calibrate_trial(trial, pair=("fast", "base"), rng=stream(1))
    written = write_certificate(paper, tmp_path / "runs" / "certificates")
    found = judge(trial)
    assert found.certificate.created == paper.created
    assert "no-certificate" not in {c.code for c in found.cautions}
    (rate,) = (one.rate for one in paper.methods if one.name == "welch")
    line = f"A/A certificate of {paper.created[:10]}: run-level tests err in {100 * rate:.0f} %; "
    told = f"{line}session-level ones could not be checked"  # with 4 sessions
    assert told in " ".join(str(found).split())
    assert paper.sentence[:40] in " ".join(str(judge(trial, explain=True)).split())
    assert found.to_dict()["certificate"]["sentence"] == paper.sentence
    again = judge(trial, certificate=str(written))
    assert again.certificate.created == paper.created


def test_a_certificate_of_another_machine_is_not_cited(synthetic, tmp_path, many):
    path = synthetic(many(3, fast=0.0), sessions=4).write(tmp_path / "runs" / "t")
    paper = calibrate_trial(read_trial(path), pair=("fast", "base"), rng=stream(1))
    written = write_certificate(paper, tmp_path / "runs" / "certificates")
    other = synthetic(many(3, fast=0.0), sessions=4, host_id="other").write(tmp_path / "runs" / "u")
    assert judge(read_trial(other)).certificate is None
    found = judge(read_trial(other), certificate=written)
    assert found.certificate is None
    (said,) = [c for c in found.cautions if c.code == "no-certificate"]
    assert "another machine" in said.text
    with pytest.raises(StoreError):
        judge(read_trial(other), certificate=tmp_path / "none.json")


@pytest.mark.parametrize("name", ["findings.jsonl", "environment.jsonl"])
@pytest.mark.parametrize("content", [b"{", b"[1, 2]\n", b"\xff\xfe\n", b'{"check": 7}\n'])
def test_a_record_of_the_host_that_cannot_be_read_tells_nothing(
    synthetic, tmp_path, three, name, content
):
    made = synthetic(three(gzip_1=(0.217, 0.382, 0.99)), sessions=4, status="running")
    made.extra[name] = content
    found = judge(read_trial(made.write(tmp_path)))
    assert found.candidates[0].multilevel.these.outcome == "faster"
    assert str(found)
