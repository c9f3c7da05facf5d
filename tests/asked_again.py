"""A test of the installed command on the real machine that fails is executed once more, and that is told.

Who else works on the machine moves what it measures: of thousands of such tests one in a run or so fails by
chance. Few may: with more than `AT_MOST` of them the suite fails, whatever the second time gave.
"""

from __future__ import annotations

import pytest

AT_MOST = 3


def pytest_itemcollected(item: pytest.Item) -> None:
    measures = item.nodeid.startswith("tests/e2e/") or item.get_closest_marker("host")
    if measures and item.config.pluginmanager.hasplugin("rerunfailures"):
        item.add_marker(pytest.mark.flaky(reruns=1))


def names(config: pytest.Config) -> list[str]:
    """Give the tests that failed the first time."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("rerun", ()) if reporter else ()
    return sorted({report.nodeid for report in reports})


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    too_many = len(names(session.config)) > AT_MOST
    if too_many and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    again = names(config)
    if again:
        terminalreporter.section(f"{len(again)} asked again")
    for report in terminalreporter.stats.get("rerun", ()):
        crash = getattr(report.longrepr, "reprcrash", None)
        why = crash.message if crash else str(report.longrepr)
        terminalreporter.line(f"{report.nodeid}: {why.partition(chr(10))[0][:160]}")
    if len(again) > AT_MOST:
        terminalreporter.line(f"ERROR  {len(again)} asked again, {AT_MOST} at most", red=True)
