"""The first screen: golden text of small invented trials, and every number a field of `multilevel`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError
from analysis.importers.reader import Reading, open_trial
from analysis.methods.multilevel.compare import multilevel
from analysis.pages.model import Caution, Section, Sentence, ShortSentence, Table, Value
from analysis.plan.calibration import calibrate_trial
from analysis.plan.certificate import write_certificate
from analysis.stats.arguments import stream
from analysis.verdict.gate import gate_verdict
from analysis.verdict.judging import judge, judge_sources
from analysis.verdict.ranking import rank_variants

GOLDEN = """\
gzip-1 is 2.30 times as fast as gzip-6 over these 3 benchmarks (2.29 to 2.31)

synthetic on lab07 · wall time · 4 sessions x 4 runs, paired · same within 1 %

                   gzip-6   gzip-1     time              95 %  spread
text              24.2 ms  5.26 ms  -78.3 %  -78.6 to -77.9 %   0.4 %  faster
logs              30.7 ms  11.7 ms  -61.9 %  -62.3 to -61.5 %   0.4 %  faster
random            31.9 ms  31.8 ms   -0.3 %    -1.2 to +0.7 %   0.4 %  undecided
these 3                             -56.5 %  -56.6 to -56.3 %          faster
others like them                      -56 %     -94 to +196 %          undecided

note  the host had two speeds, 0.87 % apart, in all 4 sessions
next  fairtrial run campaign.yaml --resume --trial runs/synthetic --sessions +23
      would settle random"""


@pytest.fixture
def judged(synthetic, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "campaign.yaml").touch()  # or no command names it

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


def at(found, path="runs/synthetic"):
    return replace(found, data=replace(found.data, path=path))


def test_the_golden_screen(judged, three):
    assert str(at(judged(three(gzip_1=(0.217, 0.382, 0.999))))) == GOLDEN


@pytest.mark.parametrize("ratio", [False, True])
def test_each_number_is_a_field_of_multilevel(judged, three, ratio):
    found = replace(judged(three(gzip_1=(0.217, 0.382, 0.999))), ratio=ratio)
    result = found.candidates[0].multilevel
    (table,) = blocks(found.screen().sections, Table)

    def held(cell, interval, line):
        ends = [float(end) for end in re.findall(r"[-+]?[\d.]+", interval)]
        if ratio:
            assert cell.value == line.speedup
            assert ends == pytest.approx([line.low, line.high], abs=0.011)
        else:
            assert cell.value == pytest.approx(1 / line.speedup - 1)
            percents = [100 * (1 / end - 1) for end in (line.high, line.low)]
            assert ends == pytest.approx(percents, abs=1.1)

    for line in result.benchmarks:
        _, base, ours, cell, interval, spread, word, _ = cells(table, line.name)
        assert (base.value, ours.value) == (line.mean_baseline, line.mean_candidate)
        assert spread.value == max(line.spread_baseline, line.spread_candidate)
        assert line.speedup == pytest.approx(base.value / ours.value)
        held(cell, interval, line)
        assert word == line.outcome
    for name, line in (("these 3", result.these), ("others like them", result.similar)):
        _, _, _, cell, interval, _, word, _ = cells(table, name)
        if name == "these 3":
            held(cell, interval, line)
        assert word == line.outcome


def test_it_is_the_multilevel_of_the_same_matrices(judged, synthetic, tmp_path, three):
    data = three(gzip_1=(0.217, 0.382, 0.999))
    trial = read_trial(synthetic(data, sessions=4).write(tmp_path / "again"))
    alone = multilevel(trial.matrix("gzip-1"), trial.matrix("gzip-6"), margin=0.02)
    found = judged(data, margin=0.02).candidates[0].multilevel
    assert found.benchmarks == alone.benchmarks
    assert (found.these, found.similar) == (alone.these, alone.similar)


def test_of_many_benchmarks_the_ends_are_shown_and_24_lines_of_80_columns_hold(judged, many):
    found = at(judged(many(40, fast=0.01)))
    text = str(found)
    lines = text.splitlines()
    assert len(lines) <= 24
    assert "and 32 more (--all)" in text
    shown = re.findall(r"(?m)^bench-(\d+)", text)
    assert shown == ["00", "01", "02", "03", "36", "37", "38", "39"]
    assert max(map(len, lines)) <= 80
    text = str(replace(found, whole=True))
    assert len(re.findall(r"(?m)^bench-", text)) == 40
    assert "--all" not in text


def test_many_cautions_still_leave_24_lines(judged, synthetic, tmp_path, many):
    made = synthetic(many(40, fast=0.01), sessions=4)
    lost = {(f"bench-{k:02}", 1 + k % 4) for k in range(10, 30, 3)}
    made.fail(lambda row: (row.benchmark, row.session) in lost)
    made.manifest = replace(made.manifest, status="interrupted", reason="by you")
    found = judge(read_trial(made.write(tmp_path / "many")))
    text = str(found)
    assert len(text.splitlines()) <= 24
    shown = re.findall(r"(?m)^bench-(\d+)", text)
    assert 3 <= len(shown) <= 12
    assert 1 <= len(re.findall("(?m)^note  ", text)) <= 4


def test_what_fails_has_a_number_at_its_row_and_at_its_note(judged, synthetic, tmp_path, three):
    made = synthetic(three(gzip_1=(0.217, 0.382, 0.999)), sessions=4)
    failed = next(k for k, row in enumerate(made.rows) if (row.benchmark, row.block) == ("logs", 1))
    made.rows[failed] = replace(made.rows[failed], outcome="exit", exit_code=3)
    text = str(judge(read_trial(made.write(tmp_path / "one"))))
    assert re.search(r"(?m)^logs .* faster +\[1\]$", text)
    assert re.search(r"(?m)^note  \[1\] 1 of \d+ runs of logs ", text)


def test_each_of_several_candidates_has_its_own_table(judged, three):
    found = judged(three(gzip_1=(0.217, 0.382, 0.99), gzip_9=(1.4, 1.2, 1.0)))
    for one, table in zip(found.candidates, blocks(found.screen().sections, Table), strict=True):
        alone = replace(found, candidates=(one,))
        (same,) = blocks(alone.screen().sections, Table)
        assert [row[:-1] for row in table.rows] == [row[:-1] for row in same.rows]
    text = str(at(found))
    assert text.startswith("gzip-1 is the fastest of 3: 2.30 times as fast as gzip-6 over these 3")
    assert "HPT" not in text  # which --explain tells
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((100, 200, 100), "best of 3 on parse by value: a and c (the same within 1 %)"),
        ((100, 50, 50), "best of 3 on parse by value: b and c (the same within 1 %)"),
        ((100, 120, 140), "a is the best of 3: b has 120 allocs, a 100 allocs (value) on parse"),
        ((100, 50, 100), "b is the best of 3: b has 50 allocs, a 100 allocs (value) on parse"),
        ((0, 50, 0), "best of 3 on parse by value: a and c (the same within 1 %)"),
        ((50, 0, 50), "b is the best of 3: b has 0 allocs, a 50 allocs (value) on parse"),
    ],
)
def test_counts_of_several_that_never_vary_have_their_best(tmp_path, counts, said):
    session = "".join(f"parse,{v},#,{n},allocs\n" for v, n in zip("abc", counts, strict=True))
    rows = "".join(session.replace("#", str(k)) for k in range(8))
    (tmp_path / "r.csv").write_text(f"benchmark,variant,session,value,unit\n{rows}")
    trial = open_trial(tmp_path / "r.csv", better="lower")
    assert judge(trial).to_dict()["sentence"].startswith(said)
    if said[2:4] == "is":  # a 0 had no rank, and the next one was first
        assert rank_variants(trial).places[0].variant == said[0]


def test_counts_that_never_vary_in_two_sessions_lack_sessions_and_no_clock(tmp_path):
    rows = (f"{b},{v},{s},{n},B\n" for b in "xy" for v, n in (("a", 9), ("b", 8)) for s in (1, 2))
    path = tmp_path / "counts.csv"
    path.write_text("benchmark,variant,session,value,unit\n" + "".join(rows), "utf-8")
    said = judge(open_trial(path, "process", "lower")).to_dict()["sentence"]
    assert said.endswith("x: 8 B against 9 B in all runs, but 2 sessions: 3 more decide")


def test_two_files_are_judged_as_one_with_both_variants(tmp_path):
    # authority: rules-2, 1c and 12; 0 -> 3 passed the gate, for "only n has B: left out"
    for name, b in (("o", 0), ("n", 3)):
        rows = (f"A,{k},5,b\nB,{k},{b},b\nC,{k},7,b\n" for k in range(6))
        (tmp_path / name).write_text(f"benchmark,session,value,unit\n{''.join(rows)}")
    for sides, word in (("no", "slower"), ("on", "faster")):
        asked = (*(str(tmp_path / one) for one in sides), Reading(better="lower"))
        found = judge_sources(*asked).verdict
        lines = found.candidates[0].multilevel.benchmarks
        assert [x.outcome for x in sorted(lines, key=lambda x: x.name)][1] == word
        assert gate_verdict(found, "worse>2%").exit_code == (word == "slower")
        assert "over these 2 benchmarks" in str(found).splitlines()[0]
        alone = judge_sources(*asked, benchmarks=["B"], explain=True).verdict
        assert alone.candidates[0].multilevel.word == word


def test_what_equals_the_baseline_is_not_undecided_in_the_sentence(judged, three):
    text = str(judged(three(same=(1, 1.001, 1), slow=(1.5, 1.5, 1.5))))
    assert ": gzip-6 and same (the same within 1 %)" in " ".join(text.split())


def test_only_a_path_is_wider_than_80_columns_alone_on_its_line(judged, three):
    long = "runs/" + "a-long-name" * 9
    text = str(at(judged(three(gzip_1=(0.217, 0.382, 0.999))), long))
    assert [line.strip() for line in text.splitlines() if len(line) > 80] == [f"{long} \\"]


def test_more_than_three_are_a_row_each_for_the_suite(judged, many):
    found = judged(many(3, a=0.02, b=0.01, c=0.03, d=0.5))
    (table,) = blocks(found.screen().sections, Table)
    assert [row[0] for row in table.rows] == ["a", "b", "c", "d"]
    for row, one in zip(table.rows, found.candidates, strict=True):
        assert row[1].value == pytest.approx(1 / one.multilevel.these.speedup - 1)
        outcome = one.multilevel.these.outcome
        assert row[3] == {"equivalent": "the same"}.get(outcome, outcome)
        assert sum(cell.value for cell in row[4:]) == 3
    assert found.next[0].endswith(" --variant d")  # the fastest


def test_one_variant_has_its_own_interval(judged, three):
    found = judged({"only": three(x=(1, 1, 1))["x"]})
    assert found.candidates == ()
    assert [one.unit for one in found.alone] == ["session"] * 3
    text = str(found)
    assert text.startswith("only was measured alone: there is nothing to compare")
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
    assert "one of 2 looks" in str(two)
    explained = " ".join(str(judged(data, looks=2, explain=True)).split())
    assert "2 looks are planned, each judged at 2.5 % (alpha/2)" in explained
    narrow, wide = (v.candidates[0].multilevel.benchmarks[0] for v in (one, two))
    assert wide.high - wide.low > narrow.high - narrow.low


def changed_in(one):
    lines = one.multilevel.benchmarks
    return [line.name for line in lines if line.outcome != line.outcome_uncorrected]


def test_a_correction_that_changes_a_word_is_marked(judged, many):
    data = many(12, fast=0.004)
    corrected, plain = judged(data), judged(data, correction="none")
    changed = changed_in(corrected.candidates[0])
    assert changed
    text = str(replace(corrected, whole=True))
    assert re.findall(r"(?m)^(\S+) .* undecided\*", text) == changed
    assert text.count("* the interval alone would decide; 12 benchmarks share the risk") == 1
    assert "*" not in str(plain)


@pytest.mark.parametrize("whole", [False, True])
def test_a_caution_of_one_candidate_marks_its_row_and_no_other_ones(judged, three, whole):
    found = judged(three(gzip_1=(0.217, 0.382, 0.999), gzip_7=(1.1, 1.2, 1.3)))
    cautions = (
        Caution(code, "x", about=about, short=ShortSentence("it is so").about(*about))
        for code, about in (("modes", ("gzip-7", "logs")), ("unequal-values", ("text",)))
    )
    page = replace(found, cautions=cautions, whole=whole).screen()
    tables = [one for one in blocks(page.sections, Table) if one.name.startswith("benchmarks-")]
    marks = [{row[0]: row[-1] for row in table.rows if row[-1]} for table in tables]
    assert [{*one} for one in marks] == [{"text"}, {"text", "logs"}]
    assert marks[0]["text"] == marks[1]["text"]


def test_beside_others_a_correction_that_changes_words_is_said_once(judged, many):
    speeds = dict.fromkeys(("same", "third", "fourth"), 0.0) | {"fast": 0.004}
    data = many(12, **speeds)
    corrected, plain = judged(data), judged(data, correction="none")
    changed = {one.variant: len(changed_in(one)) for one in corrected.candidates}
    assert changed["fast"]
    text = " ".join(str(corrected).split())
    said = "undecided only because 48 comparisons share the risk: "  # 12 with each of 4 candidates
    assert text.count(said) == 1
    assert f"fast {changed['fast']}" in text.partition(said)[2]
    assert "share the risk" not in str(plain)


def test_other_metrics_have_their_words(synthetic, tmp_path, three):
    made = synthetic(three(gzip_1=(0.217, 0.382, 0.99)), sessions=4)
    made.rows = [replace(row, max_rss_bytes=row.wall_ns + (20 << 20)) for row in made.rows]
    found = judge(read_trial(made.write(tmp_path)), metric="max_rss")
    (table,) = blocks(found.screen().sections, Table)
    assert cells(table, "text")[6] == "better"
    assert isinstance(cells(table, "text")[1], Value)
    assert found.candidates[0].multilevel.benchmarks[0].outcome == "faster"
    assert re.match("gzip-1 uses [\\d.]+ % less memory \\(max_rss\\) than gzip-6 over", str(found))
    assert [column.heading for column in table.columns][3] == "memory"
    assert "--metric max_rss" in found.next[0]


def test_benchmarks_and_variants_can_be_chosen(judged, three):
    data = three(gzip_1=(0.217, 0.382, 0.99), gzip_9=(1.4, 1.2, 1.0))
    found = judged(data, variants=["gzip-9"], benchmarks=["logs"])
    assert [one.variant for one in found.candidates] == ["gzip-9"]
    (line,) = found.candidates[0].multilevel.benchmarks
    assert line.name == "logs"
    assert found.candidates[0].multilevel.these is None
    assert found.candidates[0].hpt_speedup is None
    (answer, head) = blocks(found.screen().sections, Sentence)
    assert answer.text.startswith("gzip-9 takes 19.7 % more time than gzip-6 on logs (")
    assert head.text.startswith("synthetic on lab07")


def test_what_the_runs_look_like_is_said_and_last_that_there_is_no_certificate(judged, three):
    found = judged(three(gzip_1=(0.217, 0.382, 0.99)))
    assert found.diagnosis is not None
    assert set(found.diagnosis.cautions) <= set(found.cautions)
    assert found.to_dict()["diagnosis"]["findings"] is not None
    assert found.cautions[-1].code == "no-certificate"
    assert "A/A certificate" not in str(found)  # --explain tells
    explained = replace(found.question, explain=True)
    assert "no A/A certificate" in str(replace(found, question=explained))
    assert found.certificate is None


def test_a_certificate_is_cited_where_it_holds(synthetic, tmp_path, many):
    path = synthetic(many(3, fast=0.0), sessions=4).write(tmp_path / "runs" / "t")
    trial = read_trial(path)
    paper = calibrate_trial(trial, pair=("fast", "base"), rng=stream(1))
    written = write_certificate(paper, tmp_path / "runs" / "certificates")
    found = judge(trial)
    assert found.certificate.created == paper.created
    assert "no-certificate" not in {c.code for c in found.cautions}
    assert "A/A certificate" not in str(found)
    assert paper.sentence[:40] in " ".join(str(judge(trial, explain=True)).split())
    assert found.to_dict()["certificate"]["sentence"] == paper.sentence
    again = judge(trial, certificate=str(written))
    assert again.certificate.created == paper.created
    # the negative control: of another machine it is not cited
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


def test_where_nothing_is_compared_the_first_screen_says_why():
    text = str(judge(read_trial(Path(__file__).parents[4] / "runs" / "sample"), metric="max_rss"))
    assert text.count("is not compared: it is the launcher's") == 1
    assert "--metric max_rss --explain" in " ".join(text.replace("\\\n", "").split())


@pytest.mark.parametrize("candidates", [("new",), ("new", "other")])
def test_where_one_of_two_benchmarks_has_no_ratio_the_answer_is_not_the_others(
    synthetic, tmp_path, candidates
):
    """Seen: less on print, though it is more on parse; and no difference between two that differ twice."""
    made = synthetic(
        {name: {"parse": [1.0] * 5, "print": [1.0] * 5} for name in ("old", *candidates)},
        sessions=5,
        metrics={"loads": {"unit": "count", "better": "lower"}},
    )
    counts = {("parse", True): 0.0, ("parse", False): 3.0, ("print", True): 100.0}
    made.rows = [
        replace(
            row,
            metrics={"loads": (counts.get((row.benchmark, row.variant == "old"), 90.0),)},
        )
        for row in made.rows
    ]
    found = judge(read_trial(made.write(tmp_path / "t")), metric="loads")
    assert [x.outcome for x in found.compared[0].benchmarks] == ["slower", "faster"]
    assert found.sentence.startswith("no answer for ")
    assert found.sentence.endswith(": there is no common mean")
