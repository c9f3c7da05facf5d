"""The campaigns in configs/layouts do what they say: executed in short, each session with layouts of its own."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from analysis.record.environment import of_one_session, whole_targets
from analysis.record.trial_files import ENVIRONMENT, MANIFEST, layouts_by_session, read_builds
from harness.campaign.cells import layout_seed
from harness.campaign.resolve import load_campaign

LAYOUTS = Path(__file__).resolve().parents[2] / "configs" / "layouts"
SESSIONS = 2


def shortened(name: str, folder: Path) -> Path:
    """Copy a campaign with two sessions of one run, on no CPU in particular."""
    shutil.copytree(LAYOUTS, folder / "layouts", ignore=shutil.ignore_patterns("build"))
    path = folder / "layouts" / name
    text = path.read_text(encoding="utf-8")
    for old, new in (
        (r"^  sessions: 10\b", f"  sessions: {SESSIONS}"),
        (r"^  runs: 8\b", "  runs: 1"),
        (r"^  warmup: 1\b", "  warmup: 0"),
        (r"^  pause: 0\.2s\b", "  pause: 0s"),
        (r"^  cpus: auto\b", "  cpus: none"),  # another trial may hold the best one
    ):
        text, count = re.subn(old, new, text, flags=re.MULTILINE)
        assert count == 1, f"{name} has {count} lines like {old}"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["objects.yaml", "sections.yaml"])
def test_each_session_draws_layouts_and_the_verdict_counts_them(lab: Any, name: str) -> None:
    for program in ("cc", "make", "sha256sum"):
        if not shutil.which(program):
            pytest.skip(f"there is no {program!r} on PATH")
    if name == "sections.yaml" and not shutil.which("ld.lld"):
        pytest.skip("lld is not installed")
    path = shortened(name, lab.folder)
    done = lab.run_fairtrial("run", path, "--dir", lab.folder / "runs")
    assert done.returncode == 0, done.stderr
    rows = lab.read_rows()
    assert [row["outcome"] for row in rows] == ["ok"] * 2 * SESSIONS, done.stderr
    (trial,) = (lab.folder / "runs").iterdir()

    drawn = layouts_by_session(read_builds(trial))
    seed = load_campaign(path).seed
    for variant in ("old", "new"):
        seeds = {session: one.layout_seed for session, one in drawn[variant].items()}
        assert seeds == {k: layout_seed(seed, k, variant) for k in range(1, SESSIONS + 1)}
        assert len({one.layout for one in drawn[variant].values()}) == SESSIONS
    assert not {finding["check"] for finding in lab.findings()} & {"drift", "layout-not-varied"}

    two = [{"variant": v, "layouts": SESSIONS, "sessions": SESSIONS} for v in ("old", "new")]
    judged = lab.run_fairtrial("verdict", trial, "--json")
    assert judged.returncode == 0, judged.stderr
    verdict = json.loads(judged.stdout)
    assert verdict["layouts"] == two
    assert not {"two-binaries", "drift", "layout-not-varied"} & set(verdict["caution_codes"])
    told = whole_targets(json.loads((trial / ENVIRONMENT).read_text().splitlines()[0])["targets"])
    assert all(map(of_one_session, told.values()))
    assert json.loads((trial / MANIFEST).read_text())["targets"] == {}
