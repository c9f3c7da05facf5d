"""perf stat: values by hand from the samples; fields as its manual's "CSV FORMAT" orders them."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError, UsageError


def found(file) -> dict:
    return {
        (c.benchmark, c.metric): (c.unit, [round(value, 12) for value in c.values])
        for c in file.cells
    }


CYCLES = "{},5,,cycles,100,100.00,,\n{},6,,cycles,100,100.00,,\n"
OBJECT = '{"counter-value" : "5", "unit" : "", "event" : "cycles"'
LINES = "# started on Sun\n\n1.25,msec,task-clock:u,1250000,100.00,0.9,CPUs utilized\n7,,cycles,9,50.00,,\n"
READ = {
    **{
        f"separated by {sign!r}": (LINES.replace(",", sign), {("r", "task-clock:u"): ("s", [0.00125]), ("r", "cycles"): ("", [7.0])})
        for sign in ",;\t|"
    },
    "decimal commas": (
        "1,25;msec;task-clock;10,08%;1250000;100,00;0,9;CPUs utilized\n", {("r", "task-clock"): ("s", [0.00125])}
    ),
    "decimal commas of objects": (
        '{"counter-value" : "1,25", "unit" : "msec", "event" : "e", "event-runtime" : 5, "pcnt-running" : 100,00}\n',
        {("r", "e"): ("s", [0.00125])},
    ),
    "each CPU is counted for itself": (
        CYCLES.format("CPU0", "CPU1"), {("r CPU0", "cycles"): ("", [5.0]), ("r CPU1", "cycles"): ("", [6.0])}
    ),
    "each core": (
        CYCLES.format("S0-D0-C0,2", "S0-D0-C1,2"),
        {("r S0-D0-C0", "cycles"): ("", [5.0]), ("r S0-D0-C1", "cycles"): ("", [6.0])},
    ),
    "each CPU in an interval": (
        CYCLES.format("     1.000105,CPU0", "     1.000105,CPU1"),
        {("r CPU0", "cycles"): ("", [5.0]), ("r CPU1", "cycles"): ("", [6.0])},
    ),
    "each CPU's object": (f'{OBJECT}, "cpu" : "0"}}\n', {("r cpu 0", "cycles"): ("", [5.0])}),
    "further metrics and summaries are no counters": (
        "1.0,5,,cycles,100,100.00,,\n1.0,,,,,,,0.59,insn per cycle\n             summary,5,,cycles,100,100.00,,\n",
        {("r", "cycles"): ("", [5.0])},
    ),
    "nor in objects": (f'{OBJECT}}}\n{{"metric-value" : "0.5", "metric-unit" : "x"}}\n', {("r", "cycles"): ("", [5.0])}),
    # --per-thread: two threads of one process were two runs
    "threads are no runs": (
        "sort-12,1.5,msec,task-clock,1500000,100.00,0.9,CPUs utilized\nsort-13,2.5,msec,task-clock,1500000,100.00,0.9,CPUs utilized\n",
        {("r sort-12", "task-clock"): ("s", [0.0015]), ("r sort-13", "task-clock"): ("s", [0.0025])},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_counters_of_a_file(foreign, name) -> None:
    text, told = READ[name]
    file = foreign(text, "r.csv")
    assert found(file) == told
    assert ("multiplexed" in {note.code for note in file.notes}) == ("50.00" in text)


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
        ("1,25,msec,task-clock,10,08%,1250000,100,00,0,9,CPUs utilized\n", "(?s)r.txt:1.*decimal comma.*-x ;"),
        ("<not supported>,,cycles,0,100.00,,\n", "no event was counted"),
        ("5,,cycles,100,100.00,,\n5,,cyc", "no value, unit and event"),
        ('{"counter-value" : "5", "event" : "e"}\n{"counter-val', "not the object of a counter"),
        ('{"counter-value" : "nan", "event" : "e"}\n', "not a finite number"),
        ('{"counter-value" : "-5", "event" : "e"}\n', "negative"),
    ],
)  # fmt: skip
def test_damage_is_an_error_with_its_remedy(foreign, text, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(text, "r.txt")


def test_a_table_with_headings_is_not_claimed(foreign) -> None:
    text = "value,unit,benchmark,session,run\n1.5,ms,sort,1,2\n"
    assert foreign(text, "r.csv").format == "long-csv"
    with pytest.raises(AnalysisError, match="--columns"):
        foreign("a,b,c,d,e\n1.5,ms,sort,1,2\n", "r.csv")
    with pytest.raises(UsageError, match="no tool is known"):
        foreign(f"results of lab1\n\n{text}", "r.csv")
