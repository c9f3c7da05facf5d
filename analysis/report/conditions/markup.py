"""The chapter as HTML."""

from __future__ import annotations

from markupsafe import Markup

from ...words import shorten
from ..chapter import html_of
from ..shell import template
from ..table_markup import table_html
from .page import answers_table, counted, facts_table, failed_sentence
from .result import Conditions

__all__: list[str] = []

_LINE = 60  # characters of a line of standard error that is folded


@html_of.register(Conditions)
def _conditions_html(chapter: Conditions) -> Markup:
    room = template("conditions")
    room.filters["short"] = lambda text: shorten(text, _LINE)
    return Markup(  # noqa: S704 - the template escapes
        room.get_template("chapter.html.jinja").render(
            chapter=chapter,
            facts=table_html(
                facts_table(chapter, chapter.facts, "conditions"),
                "Host, programs and protocol",
                "conditions-facts",
            ),
            everything=table_html(
                facts_table(chapter, chapter.everything, "environment"),
                "All that was recorded when the first session began",
                "conditions-everything",
            ),
            answers=[
                table_html(answers_table(host), "Answers of the checks of the host")
                for host in chapter.hosts
            ],
            counts=[counted(host) for host in chapter.hosts],
            failed=[failed_sentence(host) for host in chapter.hosts],
        )
    )
