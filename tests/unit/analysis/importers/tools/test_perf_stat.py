"""perf stat: values by hand from the samples; fields as its manual's "CSV FORMAT" orders them."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError


def found(file) -> dict:
    return {
        (c.benchmark, c.metric): (c.unit, [round(value, 12) for value in c.values])
        for c in file.cells
    }


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(foreign, separator) -> None:
    line = "1.25,msec,task-clock:u,1250000,100.00,0.9,CPUs utilized\n7,,cycles,9,50.00,,\n"
    file = foreign("# started on Sun\n\n" + line.replace(",", separator), "r.csv")
    assert found(file) == {("r", "task-clock:u"): ("s", [0.00125]), ("r", "cycles"): ("", [7.0])}
    assert [note.code for note in file.notes] == ["multiplexed"]


def test_decimal_commas(foreign) -> None:
    line = "1,25;msec;task-clock;10,08%;1250000;100,00;0,9;CPUs utilized\n"
    assert found(foreign(line, "r.csv")) == {("r", "task-clock"): ("s", [0.00125])}
    with pytest.raises(AnalysisError, match="decimal comma") as told:
        foreign(line.replace(";", ","), "r.csv")
    assert "r.csv:1" in str(told.value)
    assert "-x ;" in str(told.value)
    text = '{"counter-value" : "1,25", "unit" : "msec", "event" : "e", "event-runtime" : 5, "pcnt-running" : 100,00}\n'
    assert found(foreign(text, "r.json")) == {("r", "e"): ("s", [0.00125])}


def test_each_cpu_is_counted_for_itself(foreign) -> None:
    text = "CPU0,5,,cycles,100,100.00,,\nCPU1,6,,cycles,100,100.00,,\n"
    assert found(foreign(text, "r.csv")) == {
        ("r CPU0", "cycles"): ("", [5.0]),
        ("r CPU1", "cycles"): ("", [6.0]),
    }
    text = "S0-D0-C0,2,5,,cycles,100,100.00,,\nS0-D0-C1,2,6,,cycles,100,100.00,,\n"
    assert list(found(foreign(text, "r.csv"))) == [
        ("r S0-D0-C0", "cycles"),
        ("r S0-D0-C1", "cycles"),
    ]
    text = "     1.000105,CPU0,5,,cycles,100,100.00,,\n     1.000105,CPU1,6,,cycles,100,100.00,,\n"
    assert list(found(foreign(text, "r.csv"))) == [("r CPU0", "cycles"), ("r CPU1", "cycles")]
    text = '{"cpu" : "0", "counter-value" : "5", "unit" : "", "event" : "cycles"}\n'
    assert list(found(foreign(text, "r.json"))) == [("r cpu 0", "cycles")]


def test_further_metrics_and_summaries_are_no_counters(foreign) -> None:
    text = (
        "1.0,5,,cycles,100,100.00,,\n1.0,,,,,,,0.59,insn per cycle\n"
        "             summary,5,,cycles,100,100.00,,\n"
    )
    assert found(foreign(text, "r.csv")) == {("r", "cycles"): ("", [5.0])}
    text = (
        '{"counter-value" : "5", "unit" : "", "event" : "cycles"}\n'
        '{"metric-value" : "0.5", "metric-unit" : "x"}\n'
    )
    assert found(foreign(text, "r.json")) == {("r", "cycles"): ("", [5.0])}


TABLE = """
 Performance counter stats for 'sleep 0.1' (3 runs):

              0.49 msec task-clock     #    0.118 CPUs utilized  ( +- 10.08% )

           # Table of individual measurements:
           0.10112 (-0.00021) #
           0.10154 (+0.00021) ##
           0.10133 (+0.00000) #

           # Final result:
           0.10133 +- 0.00012 seconds time elapsed  ( +-  0.12% )
"""


def test_the_table_holds_runs(foreign) -> None:
    file = foreign(TABLE, "r.txt")
    (cell,) = file.cells
    assert (cell.benchmark, cell.metric, cell.unit, cell.better) == (
        "sleep 0.1",
        "time",
        "s",
        "lower",
    )
    assert cell.processes == ((0.10112,), (0.10154,), (0.10133,))
    assert cell.known
    assert foreign(TABLE.replace(".1", ",1"), "r.txt").cells[0].processes == cell.processes
    two = foreign(TABLE + TABLE.replace("sleep", "wait"), "r.txt")
    assert [(c.benchmark, len(c.values)) for c in two.cells] == [("sleep 0.1", 3), ("wait 0.1", 3)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TABLE.split("           # Table")[0], "no runs"),
        ("<not supported>,,cycles,0,100.00,,\n", "no event was counted"),
        ("5,,cycles,100,100.00,,\n5,,cyc", "no value, unit and event"),
        ('{"counter-value" : "5", "event" : "e"}\n{"counter-val', "not the object of a counter"),
        ('{"counter-value" : "nan", "event" : "e"}\n', "not a finite number"),
        ('{"counter-value" : "-5", "event" : "e"}\n', "negative"),
    ],
)
def test_damage_is_an_error_with_its_remedy(foreign, text, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(text, "r.txt")


def test_a_table_with_headings_is_not_claimed(foreign) -> None:
    text = "value,unit,benchmark,session,run\n1.5,ms,sort,1,2\n"
    assert foreign(text, "r.csv").format == "long-csv"
    with pytest.raises(AnalysisError, match="--columns"):
        foreign("a,b,c,d,e\n1.5,ms,sort,1,2\n", "r.csv")


def test_threads_are_no_runs(foreign) -> None:
    """--per-thread: two threads of one process were two runs."""
    text = "".join(
        f"{name},{value},msec,task-clock,1500000,100.00,0.9,CPUs utilized\n"
        for name, value in (("sort-12", 1.5), ("sort-13", 2.5))
    )
    assert [(c.benchmark, c.values) for c in foreign(text, "r.csv").cells] == [
        ("r sort-12", (0.0015,)),
        ("r sort-13", (0.0025,)),
    ]
