"""README is one screen, and true: its commands work, its numbers are those of a simulation, each page is found.

Authority: the specification of the first minute, section 4; the table's by the arithmetic of looks (Pocock 1977)
and by hyperfine's own formula of its ±.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from analysis.record.trial_files import LOOKS
from analysis.stats.multiplicity import nominal_risk

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
INDEX = ROOT / "docs" / "README.md"
CLAIMS = ("README.md", "docs/compare.md", "docs/coming-from/hyperfine.md")


def test_it_is_one_screen():
    lines = README.splitlines()
    assert len(lines) <= 60
    plain = [line for line in lines if not line.startswith("|") and "](" not in line]
    assert [line for line in plain if len(line.removeprefix("    ")) > 80] == []


def test_what_to_try_stands_near_the_top():
    head = README.splitlines()[:30]
    for command in ("make demo", "make test", "pipx install ."):
        assert any(line.startswith(f"    {command}") for line in head), command


# --- its numbers

PATHS = 4000


def looked_at(difference: float, run_sd: float, session_sd: float, rng: np.random.Generator):
    """Give words (+1 less time, -1 more, 0 none) and runs of both, of runs that take 100 ms: one a session."""
    sd = np.sqrt(2 * (session_sd**2 + run_sd**2))
    values = np.log1p(-difference) + sd * rng.standard_normal((PATHS, LOOKS[-1]))
    words, sessions = np.zeros(PATHS, int), np.full(PATHS, LOOKS[-1])
    going = np.ones(PATHS, bool)
    for look in LOOKS:
        if look < 6:  # where a session takes less than a second the first stop is at six
            continue
        part = values[:, :look]
        half = student.isf(nominal_risk(0.05) / 2, look - 1) * part.std(1, ddof=1) / np.sqrt(look)
        centre = part.mean(1)
        same = (centre + half < -np.log(0.99)) & (centre - half > np.log(0.99))
        decided = (np.abs(centre) > half) | same
        ends = going & decided
        words[ends] = np.where(same, 0, -np.sign(centre))[ends]
        sessions[ends] = look
        going &= ~decided
    return words, 2 * sessions + 2  # and each was tried once before


def excluded_by_hyperfine(difference, run_sd, session_sd, rng):
    """Give whether its ratio lies further from 1 than its ±: the spread of single runs, propagated."""
    means, sds = [], []
    for mean in (1.0, 1 - difference):
        session = np.exp(session_sd * rng.standard_normal((PATHS, 1)))
        times = mean * session * np.exp(run_sd * rng.standard_normal((PATHS, 10)))
        means.append(times.mean(1))
        sds.append(times.std(1, ddof=1))
    ratio = means[0] / means[1]
    spread = ratio * np.sqrt((sds[0] / means[0]) ** 2 + (sds[1] / means[1]) ** 2)
    return np.abs(ratio - 1) > spread


def row(start: str) -> list[str]:
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_is_what_a_simulation_gives():
    rng = np.random.default_rng(29)
    heading = row("runs of 100 ms")[0]
    run_sd, session_sd = (float(part) / 100 for part in re.findall(r"(\d+) %", heading))
    _, fast, ten = row("twice as fast")
    for difference in (0.5, 0.2):
        words, runs = looked_at(difference, run_sd, session_sd, rng)
        assert (words == 1).mean() > 0.999
        assert int(fast) <= runs.mean() < int(fast) + 1
    assert ten == "20"
    _, fast, ten = row("5 % less")
    words, runs = looked_at(0.05, run_sd, session_sd, rng)
    share, count = map(int, re.findall(r"\d+", fast))
    assert round(100 * (words == 1).mean()) == share
    assert runs.mean() == pytest.approx(count, abs=1.5)
    found = 100 * excluded_by_hyperfine(0.05, run_sd, session_sd, rng).mean()
    assert found == pytest.approx(int(ten.removesuffix(" %")), abs=1.5)
    words, _ = looked_at(0.0, run_sd, session_sd, rng)
    assert row("equal")[1] == "5 % at most"
    assert (words != 0).mean() < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / PATHS)


def test_plain_intervals_at_each_look_would_break_what_the_table_says(monkeypatch):
    # the negative control: t at 5 % at each of the looks from the sixth session on
    monkeypatch.setitem(looked_at.__globals__, "nominal_risk", lambda risk: risk)
    words, _ = looked_at(0.0, 0.05, 0.01, np.random.default_rng(29))
    assert (words != 0).mean() > 0.15


@pytest.mark.parametrize("name", CLAIMS)
def test_no_page_claims_5_percent_of_looks_without_its_condition(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for part in re.split(r"\n\s*\n|^- |^#", text, flags=re.MULTILINE):
        words = " ".join(part.split())
        if re.search(r"5 % at most|at most 5 %", words) and not part.startswith("|"):
            assert "sessions that are independent" in words, words


# --- its commands


def told(text: str) -> list[str]:
    """List the commands of ours that a page tells: behind a $, in fences, in backticks."""
    found = re.findall(r"^(?: {4}\$ |)(fairtrial .*?)(?:  +#.*)?$", text, re.MULTILINE)
    return found + re.findall(r"`(fairtrial [^`]+)`", text)


def test_the_makefile_has_the_targets_and_the_project_the_command():
    for target in re.findall(r"^    make (\w+)", README, re.MULTILINE):
        done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, check=False)
        assert done.returncode == 0, target
    assert 'fairtrial = "harness.cli:console"' in (ROOT / "pyproject.toml").read_text()


# --- the index of the pages


def test_each_page_stands_in_the_index_by_task():
    linked = set()
    for index in (INDEX, ROOT / "docs" / "methods" / "README.md"):
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", index.read_text(encoding="utf-8")):
            linked.add((index.parent / link).resolve())
    first = ROOT / "docs" / "site" / "index.md"  # of the site: it leads to the index
    pages = {page for page in (ROOT / "docs").rglob("*.md") if page not in (INDEX, first)}
    assert sorted(str(page.relative_to(ROOT)) for page in pages - linked) == []


def test_the_index_and_the_readme_lead_to_each_other():
    assert "(docs/README.md)" in README
    assert len(told(README)) >= 8
    assert all(shlex.split(command)[0] == "fairtrial" for command in told(README))
