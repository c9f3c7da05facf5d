"""The first screen as HTML: whole without script, nothing foreign acts, every picture says its result."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

from analysis.pages.model import Table
from analysis.report.answer import chapter
from analysis.report.assembling import chapter_html
from analysis.report.subject import Subject

Make = Callable[..., Subject]
EVEN, FAST = (1.0,) * 4, (0.8, 0.7, 0.9, 0.85)
VOID = {"meta", "br", "img", "input", "link"}


class Tree(HTMLParser):
    """Collects the elements, and checks that they close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def tree(subject: Subject) -> Tree:
    return Tree(str(chapter_html(chapter(subject))))


FORMS = {
    "alone": {"only": EVEN},
    "one": {"base": EVEN, "fast": FAST},
    "three": {"base": EVEN, "a": FAST, "b": EVEN, "c": (1.2,) * 4},
    "matrix": {"base": EVEN} | {f"v{k}": FAST for k in range(5)},
    "dense": {"base": (1.0,) * 20, "fast": (0.9,) * 20},
    "bins": {"base": (1.0,) * 80, "fast": (0.9,) * 80, "slow": (1.1,) * 80},
}


HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}]]>&amp;")


def test_foreign_names_stay_text(subject: Make) -> None:
    names = [*HOSTILE, "\N{RIGHT-TO-LEFT OVERRIDE}\x07" + "n" * 200]
    found = tree(subject({"<i>base": EVEN, "</table>fast": FAST}, benchmarks=names))
    assert not {"script", "img", "i"} & {tag for tag, _ in found.elements}
    shown = "".join(found.words)
    assert "<i>base" in shown
    assert "</table>fast" in shown
    assert "{{7*7}}]]>&amp;" in shown
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in shown
    assert "\x07" not in shown
    assert "n" * 60 not in shown
    values = "".join(str(v) for _, attributes in found.elements for v in attributes.values())
    assert not {"\N{RIGHT-TO-LEFT OVERRIDE}", "\x07"} & set(values)
    handlers = [
        key for _, attributes in found.elements for key in attributes if key.startswith("on")
    ]
    assert handlers == []


def test_the_tables_of_the_other_forms_hold_the_same_values(subject: Make) -> None:
    answer = chapter(subject(FORMS["bins"], sessions=2))
    tables = [
        block
        for section in answer.sections()
        for block in section.blocks
        if isinstance(block, Table)
    ]
    assert [table.name for table in tables] == ["answer-1", "answer-2"]
    for table, column in zip(tables, answer["columns"], strict=True):
        assert len(table.rows) == 82  # all benchmarks and the suite's two lines
        for cells, row in zip(table.rows, (*column["every"], *column["suite"]), strict=True):
            keys = ("baseline", "candidate", "speedup", "low", "high", "word")
            assert cells[1:7] == tuple(row[key] for key in keys)
