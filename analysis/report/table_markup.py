"""A table of plain cells as HTML; every text in it is escaped, and isolated from what stands beside it."""

from __future__ import annotations

from html import escape

from markupsafe import Markup

from ..pages.model import Table, Value
from ..words import shown

__all__ = ["table_html"]


def table_html(table: Table, caption: str, css: str = "") -> Markup:
    """Set a table that scrolls by itself where it is wider than the page.

    Parameters
    ----------
    table : Table
        The first cell of a row is its heading.
    caption : str
        What the table holds; for those who hear the page.
    css : str
        More classes of the table.
    """
    sides = [' class="right"' if column.align == "right" else "" for column in table.columns]
    head = "".join(
        f'<th scope="col"{side}>{escape(column.heading)}</th>'
        for column, side in zip(table.columns, sides, strict=True)
    )
    body = []
    for k, row in enumerate(table.rows):
        first, *others = zip(row, sides, strict=True)
        cells = [f'<th scope="row"{_sorts(first[0])}>{_text(first[0])}</th>']
        cells += [f"<td{side}{_sorts(cell)}>{_text(cell)}</td>" for cell, side in others]
        body.append(f"<tr>{''.join(cells)}</tr>")
        if table.notes and table.notes[k]:
            body.append(
                f'<tr class="note"><td colspan="{len(row)}">{escape(table.notes[k])}</td></tr>'
            )
    classes = f"facts {css}".strip()
    heading = f"<thead><tr>{head}</tr></thead>" if table.headed else ""
    return Markup(  # noqa: S704 - escaped above
        f'<div class="wide"><table class="{escape(classes)}">'
        f'<caption class="unseen">{escape(caption)}</caption>'
        f"{heading}<tbody>{''.join(body)}</tbody></table></div>"
    )


def _text(cell: str | Value) -> str:
    if isinstance(cell, Value):
        return escape(cell.text)
    return f"<bdi>{escape(shown(cell))}</bdi>" if cell else ""


def _sorts(cell: str | Value) -> str:
    if isinstance(cell, str):
        return ""
    return "" if cell.value is None else f' data-sort="{cell.value!r}"'
