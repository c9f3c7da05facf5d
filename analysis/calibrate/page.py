"""Certificates in words."""

from __future__ import annotations

from ..pages import number_format as figures
from ..pages.model import Cell, Page, Section, Sentence, Table, Value, columns_of, page_of, value_of
from ..words import shorten
from .result import METHODS, Certificate, MethodRate

_NAME = 24  # columns for a benchmark's name
_MOST = 12  # rows of benchmarks


@page_of.register(Certificate)
def _certificate_page(result: Certificate) -> Page:
    ours, theirs = (shorten(name, _NAME) for name in result.variants)
    design = result.design
    many = len(result.benchmarks)
    swapped = (
        f"from {result.relabellings} ways to swap the labels in whole {result.relabelled}s; intervals "
        "by benchmarks and sessions, not by counting relabellings"
    )
    lost: tuple[Sentence, ...] = ()
    if result.lost_share is not None:
        share = f"{100 * result.lost_share:.2f} %"
        lost = (Sentence(f"before the sessions others took at most {share} of a measured CPU"),)
    return Page(
        title=f"False alarms between {ours} and {theirs}",
        sections=(
            Section(
                (
                    Sentence(
                        f"{ours} and {theirs} are one program"
                        f"{'' if result.chosen == 'identical' else ', as was said'}: "
                        f"{result.metric} on {result.machine.name}, {design.sessions} "
                        f"session{'s' * (design.sessions > 1)} x {design.runs} runs, {many} "
                        f"benchmark{'s' * (many > 1)}; every difference that a method finds is a "
                        "false alarm"
                    ),
                    Sentence(result.sentence),
                )
            ),
            Section((_methods(result), Sentence(swapped))),
            Section((Sentence(_checked(result)), *lost)),
            Section((_effects(result), Sentence(_effects_said(result)))),
        ),
        cautions=result.cautions,
    )


def _methods(result: Certificate) -> Table:
    level = f"{100 * result.confidence:g} %"
    return Table(
        name="false-alarms",
        columns=columns_of("<method", "<unit", "says", "errs", f"<{level}"),
        rows=tuple(
            (
                METHODS[one.name, one.unit].words,
                one.unit,
                Value(f"{100 * one.nominal:.3g} %", one.nominal),
                value_of(one.rate, lambda rate: f"{100 * rate:.0f} %"),
                _interval(one),
            )
            for one in result.methods
            if (one.name, one.unit) in METHODS
        ),
    )


def _interval(one: MethodRate) -> str:
    if one.by_construction:
        return "its level by construction: see below"
    if one.low is None or one.high is None:
        return "cannot be told"
    told = f"[{100 * one.low:.0f}, {100 * one.high:.0f}]"
    if one.concluded is not None and one.concluded < 0.995:
        told += f"   concludes in {100 * one.concluded:.0f} %"
    return told


def _checked(result: Certificate) -> str:
    departing = [check for check in result.checks if check.departs]
    if not result.checks:
        return "session-level methods: nothing could be tested of the session values"
    count = len(result.checks)
    if not departing:
        return (
            f"session-level methods: {count} tests of normality and independence of the session values, "
            "none finds a departure"
        )
    told = [f"{check.benchmark} ({check.test})" for check in departing]
    return (
        f"session-level methods: session values depart on {figures.listed(told)}, of {count} tests"
    )


def _effects(result: Certificate) -> Table:
    rows = sorted(result.benchmarks, key=lambda one: -(one.detectable or float("inf")))[:_MOST]
    kept = {one.name for one in rows}
    lines: list[tuple[Cell, ...]] = [
        (
            shorten(one.name, _NAME),
            value_of(one.spread, figures.percent),
            value_of(one.detectable, _effect),
        )
        for one in result.benchmarks
        if one.name in kept
    ]
    if len(result.benchmarks) > 1:
        lines.append((f"these {len(result.benchmarks)}", "", value_of(result.detectable, _effect)))
    return Table(
        name="detectable",
        columns=columns_of("<benchmark", f"sd of {result.relabelled} values", "detectable"),
        rows=tuple(lines),
    )


def _effects_said(result: Certificate) -> str:
    more = len(result.benchmarks) - _MOST
    rest = f"; the {_MOST} largest, {more} more in the JSON" if more > 0 else ""
    where = "" if result.relabelled == "session" else " within one session"
    return (
        f"detectable: told from 1 with probability {result.power:g} by the t test on {result.relabelled} "
        f"values{where}, at {100 * result.confidence:g} % without correction{rest}"
    )


def _effect(value: float) -> str:
    return f"{value:.4f}x" if value < 10 else f"{value:.3g}x"
