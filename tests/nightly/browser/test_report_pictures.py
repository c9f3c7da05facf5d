"""Our pages look as they did when somebody looked at them, all in one font."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

pictures = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("pictures.py"))))
# what a fault of the style sheet, of the template or of a drawing would do
FAULTS = {
    "no style": ("<style>", "<style media='speech'>"),
    "no drawings": ("</head>", "<style>figure{display:none!important}</style></head>"),
    "no first chapter": (
        "</head>",
        "<style>main section:first-of-type{display:none}</style></head>",
    ),
    "one narrow column": ("</head>", "<style>main{max-width:300px!important}</style></head>"),
    "black boxes": ("</head>", "<style>td,p{background:#000}</style></head>"),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pictures.report(tmp_path_factory.mktemp("picture") / "report.html")


def golden(view: str, name: str = "report") -> Image.Image:
    return Image.open(pictures.GOLDEN / name / f"{view}.png")


@pytest.mark.parametrize("view", pictures.VIEWS)
@pytest.mark.parametrize("name", pictures.PAGES)
def test_the_page_looks_as_it_did(browser, tmp_path: Path, name: str, view: str) -> None:
    # if it is meant to look otherwise: python tests/nightly/browser/pictures.py --update
    seen = pictures.taken(browser, pictures.PAGES[name](tmp_path / "page.html"), view)
    assert pictures.apart(seen, golden(view, name)) < pictures.FAR


def test_strips_without_what_was_found_are_a_difference(browser, tmp_path: Path) -> None:
    page = pictures.history(tmp_path / "page.html")
    fault = "<style>.history-plot{display:none!important}</style></head>"
    page.write_text(page.read_text("utf-8").replace("</head>", fault), "utf-8")
    seen = pictures.taken(browser, page, "desktop-light")
    assert pictures.apart(seen, golden("desktop-light", "history")) > pictures.FAR


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_a_difference(browser, page: Path, tmp_path: Path, name: str) -> None:
    other = tmp_path / "other.html"
    other.write_text(page.read_text("utf-8").replace(*FAULTS[name], 1), "utf-8")
    far = pictures.apart(pictures.taken(browser, other, "desktop-light"), golden("desktop-light"))
    assert far > pictures.FAR


def test_dark_is_not_light() -> None:
    assert pictures.apart(golden("desktop-dark"), golden("desktop-light")) == 1.0
    assert pictures.apart(golden("phone"), golden("phone")) == 0.0


def test_golden_pictures_are_small() -> None:
    for name in pictures.PAGES:
        for view in pictures.VIEWS:
            assert (pictures.GOLDEN / name / f"{view}.png").stat().st_size < 150_000
