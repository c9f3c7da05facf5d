"""The report looks as it did when somebody looked at it; its fonts may be others."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

pictures = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("pictures.py"))))
OTHER_FONTS = "<style>*{font-family:Courier,serif!important}p,td{letter-spacing:.3px}</style>"
# what a fault of the style sheet, of the template or of a drawing would do
FAULTS = {
    "no style": ("<style>", "<style media='speech'>"),
    "no drawings": ("</head>", "<style>svg{visibility:hidden}</style></head>"),
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


def golden(view: str) -> Image.Image:
    return Image.open(pictures.GOLDEN / f"{view}.png")


@pytest.mark.parametrize("view", pictures.VIEWS)
def test_the_page_looks_as_it_did(browser, page: Path, view: str) -> None:
    # if it is meant to look otherwise: python tests/browser/pictures.py --update
    assert pictures.apart(pictures.taken(browser, page, view), golden(view)) < pictures.FAR


def test_other_fonts_are_no_difference(browser, page: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.html"
    other.write_text(page.read_text("utf-8").replace("</head>", f"{OTHER_FONTS}</head>"), "utf-8")
    far = pictures.apart(pictures.taken(browser, other, "desktop-light"), golden("desktop-light"))
    assert 0.01 < far < pictures.FONTS


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
    for view in pictures.VIEWS:
        assert (pictures.GOLDEN / f"{view}.png").stat().st_size < 150_000
