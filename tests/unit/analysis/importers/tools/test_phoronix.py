"""Phoronix Test Suite's composite.xml: the layout is that of its result-file.xsd."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError


def entry(system: str, raw: str | None, value: str = "2") -> str:
    runs = "" if raw is None else f"<RawString>{raw}</RawString>"
    return f"<Entry><Identifier>{system}</Identifier><Value>{value}</Value>{runs}</Entry>"


def result(*entries: str, title="x264", scale="Seconds", better="LIB", shown="BAR_GRAPH") -> str:
    return (
        f"<Result><Identifier>pts/{title}-1.0</Identifier><Title>{title}</Title><AppVersion>3"
        f"</AppVersion><Arguments>-a</Arguments><Description>Preset: fast</Description><Scale>{scale}"
        f"</Scale><Proportion>{better}</Proportion><DisplayFormat>{shown}</DisplayFormat><Data>"
        f"{''.join(entries)}</Data></Result>"
    )


def composite(*results: str) -> str:
    return (
        '<?xml version="1.0"?>\n<PhoronixTestSuite><Generated><Title>t</Title></Generated><System>'
        "<Identifier>old</Identifier><Hardware>Processor: AMD EPYC @ 2.6GHz (2 Cores), Motherboard: M"
        "</Hardware><TimeStamp>2026-01-02 03:04:05</TimeStamp></System>"
        f"{''.join(results)}</PhoronixTestSuite>"
    )


def test_runs_by_system_with_unit_and_direction(foreign) -> None:
    file = foreign(
        composite(
            result(entry("old", "1.5:2.5:2"), entry("new", "1:2")),
            result(entry("old", "60.5:61"), title="game", scale="Frames Per Second", better="HIB"),
            result(entry("old", "250"), title="lag", scale="ms", better=""),
        ),
        "composite.xml",
    )
    assert [
        (c.benchmark, c.variant, c.metric, c.unit, c.better, c.values) for c in file.cells
    ] == [
        ("x264 (Preset: fast)", "old", "time", "s", "lower", (1.5, 2.5, 2.0)),
        ("x264 (Preset: fast)", "new", "time", "s", "lower", (1.0, 2.0)),
        ("game (Preset: fast)", "old", "Frames Per Second", "Frames Per Second", "higher", (60.5, 61.0)),
        ("lag (Preset: fast)", "old", "time", "s", None, (0.25,)),
    ]  # fmt: skip
    first = file.cells[0]
    assert (first.known, len(first.processes), first.warmups, first.failed) == (True, 3, None, None)
    assert first.keys["timestamp"] == "2026-01-02 03:04:05"
    assert first.keys["AppVersion"] == "3"
    assert file.facts == {"cpu_model": "AMD EPYC @ 2.6GHz (2 Cores)"}
    assert file.variant_rule == "the system's identifier"
    assert [note.code for note in file.notes] == ["runs-by-data"]


def test_means_and_curves_are_left_out_and_named(foreign) -> None:
    file = foreign(
        composite(
            result(entry("old", "1:2")),
            result(entry("old", None), title="mean"),
            result(entry("old", "1,2,3"), title="curve", shown="LINE_GRAPH"),
            result(entry("old", None, value=""), title="broken"),
        ),
        "composite.xml",
    )
    assert [(c.benchmark, len(c.values), c.failed) for c in file.cells] == [
        ("x264 (Preset: fast)", 2, None),
        ("broken (Preset: fast)", 0, 1),
    ]
    assert "mean (Preset: fast), curve (Preset: fast)" in file.notes[1].text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (composite(result(entry("old", None))), "keeps its single runs"),
        (composite(), "keeps its single runs"),
        (composite(result(entry("old", "1:x"))), "no number"),
        (composite(result(entry("old", "1:-2"))), "negative"),
        (composite(result(entry("old", "nan"))), "not a finite number"),
        (composite(result(entry("old", "1")))[:-40], "cut off"),
        (composite("<Result/>"), "no title"),
        (composite().replace("?>\n", '?>\n<!DOCTYPE r [<!ENTITY x "y">]>'), "refused"),
    ],
)
def test_damage_is_an_error_with_its_place(foreign, text, said) -> None:
    with pytest.raises(AnalysisError, match=said) as told:
        foreign(text, "composite.xml")
    assert "composite.xml" in str(told.value)
