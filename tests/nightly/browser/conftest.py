"""One Chromium for all tests that look at pages; they and their pages are made by one worker."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

chromium = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("chromium.py"))))


_SHARED = {"browser", "report", "site"}  # fixtures that two workers would make twice


def pytest_itemcollected(item: pytest.Item) -> None:
    shares = _SHARED & set(getattr(item, "fixturenames", ()))
    if shares and item.config.pluginmanager.hasplugin("xdist"):
        item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def _started() -> Iterator[SimpleNamespace]:
    with chromium.Browser() as browser:
        yield browser


@pytest.fixture
def browser(request: pytest.FixtureRequest):
    """Give a Chromium that shows what it shows by default."""
    if chromium.CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    if chromium.DRIVER is None:
        pytest.skip("no chromedriver is installed")
    browser = request.getfixturevalue("_started")
    browser.width(1200)
    browser.media()
    return browser
