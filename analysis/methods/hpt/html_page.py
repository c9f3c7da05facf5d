"""The HPT report as one HTML page that needs nothing else: no script, no outside request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ...plots import DARK, LIGHT, PRINT
from ...report import figures
from ...words import shown
from .page import hpt_pvalues
from .provenance import Fact
from .reliability import reliability_plot, reliability_steps
from .report import HptReport
from .result import HptResult

__all__ = ["hpt_page"]

_NAME = 40  # characters of a name; the whole one is in its title


def hpt_page(report: HptReport, facts: Sequence[Fact] = ()) -> str:
    """Give the page; every name in it is escaped.

    Parameters
    ----------
    report : HptReport
        The whole answer.
    facts : sequence of Fact
        What `provenance_of` knows of the runs.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = lambda value: figures.significant(value, 4)
    environment.filters["shown"] = shown
    environment.filters["name"] = _name
    tested = report.tested
    steps = reliability_steps(report.best, tested=tested.speedup_under_test)
    return environment.get_template("page.html.jinja").render(
        report=report,
        tested=tested,
        colours=Markup(_colours()),  # noqa: S704 - our own
        names={"candidate": tested.candidate, "baseline": tested.baseline, "tie": "tie"},
        scores=_scores(tested),
        pvalues=hpt_pvalues(tested),
        context=str(report.context).splitlines(),
        drawn=Markup(reliability_plot(steps, height=220)),  # noqa: S704 - escaped by the parts
        facts=facts,
    )


def _name(name: str) -> Markup:
    """Set a name: cut in its middle, whole in its title, isolated from what stands beside it."""
    whole = shown(name)
    cut = figures.shorten(whole, _NAME)
    title = Markup(' title="{}"').format(whole) if cut != whole else Markup("")
    return Markup("<bdi{}>{}</bdi>").format(title, cut)


def _colours() -> str:
    return (
        f":root{{{LIGHT.css()}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{DARK.css()}}}}}"
        f"@media print{{:root{{{PRINT.css()}}}}}"
    )


def _scores(tested: HptResult) -> str:
    """Say what the scores of the rank table are: they are no medians of the values, but for "raw"."""
    kind = {
        "raw": "the values themselves, negated where lower is better",
        "ratio": "the values relative to the baseline’s median, so that it has 1",
        "log-ratio": "the logarithms of the values relative to the baseline’s median, so that it has 0",
    }[tested.scores]
    text = f"A score is a median over the runs of {kind}; larger is better."
    if tested.speedup_under_test != 1:
        text += (
            f" The candidate’s is divided by the speedup under test, {tested.speedup_under_test:g}."
        )
    return text
