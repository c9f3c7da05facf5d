"""Golden pictures of our pages: how each looked when somebody looked at it.

``python tests/nightly/browser/pictures.py --update`` takes them anew; then look at them. They are compared
coarsely, by the ink in the fields of a grid, and set in a font that comes with matplotlib: a host's own differ.
"""

from __future__ import annotations

import base64
import io
import math
import runpy
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
from PIL import Image

from analysis.importers.reader import Reading
from analysis.report.assembling import assemble, html_page
from analysis.report.history import history_html
from analysis.report.subject import subject_of
from harness.cli import main as fairtrial

HERE = Path(__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
GOLDEN = ROOT / "tests" / "golden"
VIEWS = {"desktop-light": (1200, False), "desktop-dark": (1200, True), "phone": (360, False)}
HEIGHT = 2400  # px of the page: the first screen and what begins below it
SMALL = 0.5  # kept at half its size
COLOURS = 96  # of which blue and orange are some
GRID = (6, 24)
FAR = 0.13  # of the ink that differs: the same page in another Chromium makes up to 0.10, any fault 0.15 and more
FONT = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
URL = f"data:font/ttf;base64,{base64.b64encode(FONT.read_bytes()).decode()}"  # a file's would be refused
STYLE = (
    f"<style>@font-face{{font-family:F;src:url({URL})}}*{{font-family:F!important}}</style></head>"
)


def report(path: Path) -> Path:
    """Write the report on the sample trial."""
    said = io.StringIO()
    assert fairtrial(["report", str(SAMPLE), "-o", str(path)], io.StringIO(), said) == 0, said
    return path


def history(path: Path) -> Path:
    """Write the page of made-up nights."""
    made = SimpleNamespace(**runpy.run_path(str(HERE / "histories.py")))
    path.write_text(history_html(made.usual()), "utf-8")
    return path


def why(path: Path) -> Path:
    """Write the part on why alone, unfolded: of the sample trial with a made-up profile."""
    made = SimpleNamespace(**runpy.run_path(str(HERE.parents[1] / "profiled.py")))
    build = runpy.run_path(str(HERE.parents[1] / "unit" / "analysis" / "conftest.py"))["build"]
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(shutil.copytree(SAMPLE, Path(folder) / "sample"))
        made.profile_beside(trial, build, variant="gzip-1", benchmarks=("text",))
        found = subject_of([str(trial)], Reading(), explain=False)
        report = assemble([found])
        chapters = tuple(one for one in report.chapters if one.name == "why")
        text = html_page(replace(report, chapters=chapters))
    path.write_text(text.replace("<details", "<details open"), "utf-8")
    return path


PAGES = {"report": report, "history": history, "why": why}


def taken(browser: SimpleNamespace, page: Path, view: str) -> Image.Image:
    """Give the page's upper part as a view shows it, at the size in which it is kept."""
    width, dark = VIEWS[view]
    browser.width(width)
    browser.media(dark=dark)
    text = page.read_text("utf-8").replace("img-src data:", "img-src data:; font-src data:", 1)
    (shown := page.with_name("shown.html")).write_text(text.replace("</head>", STYLE, 1), "utf-8")
    browser.open(shown)
    whole = browser.picture(height=HEIGHT).convert("RGB")
    size = (round(whole.width * SMALL), round(whole.height * SMALL))
    return whole.resize(size, Image.Resampling.LANCZOS)


def ink(picture: Image.Image) -> list[float]:
    """Give how far each field of the grid is from the page's own colour, its darkest being 1."""
    grey = picture.convert("L")
    page = max(grey.getcolors(256))[1]
    fields = grey.point(lambda value: abs(value - page)).resize(GRID, Image.Resampling.BOX)
    return [value / 255 for value in fields.tobytes()]


def apart(one: Image.Image, other: Image.Image) -> float:
    """Give the share of ink that lies elsewhere: 0 for one picture twice, 1 for nothing shared.

    Pictures whose page has another brightness share nothing. A field counts with its neighbours
    above and below, since other fonts move what stands far down.
    """
    pages = [max(picture.convert("L").getcolors(256))[1] for picture in (one, other)]
    if abs(pages[0] - pages[1]) > 60:
        return 1.0
    a, b = (_smooth(ink(picture)) for picture in (one, other))
    return sum(abs(x - y) for x, y in zip(a, b, strict=True)) / math.fsum((*a, *b))


def _smooth(fields: list[float]) -> list[float]:
    wide, high = GRID
    return [
        sum(fields[min(max(row + d, 0), high - 1) * wide + column] for d in (-1, 0, 1)) / 3
        for row in range(high)
        for column in range(wide)
    ]


def main() -> None:
    if sys.argv[1:] != ["--update"]:
        sys.exit("give --update to take the golden pictures anew")
    chromium = SimpleNamespace(**runpy.run_path(str(HERE / "chromium.py")))
    with tempfile.TemporaryDirectory() as folder, chromium.Browser() as browser:
        for name, write in PAGES.items():
            (GOLDEN / name).mkdir(exist_ok=True)
            page = write(Path(folder) / f"{name}.html")
            for view in VIEWS:
                whole = taken(browser, page, view)
                few = whole.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
                few.save(GOLDEN / name / f"{view}.png", optimize=True)


if __name__ == "__main__":
    main()
