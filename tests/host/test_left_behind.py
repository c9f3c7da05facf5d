"""A process that begins many trials keeps nothing of them: no descriptor, no child, no temporary folder.

Authority: what the kernel lists of this process before and after.
"""

from __future__ import annotations

import io
from pathlib import Path

from harness.cli import main


def held(folder: Path) -> dict[str, list[str]]:
    """List what this process has: children, and what lies in its folder for temporary files."""
    tasks = Path("/proc/self/task").iterdir()
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    return {
        "children": sorted(children),
        "temporary": sorted(path.name for path in folder.iterdir()),
    }


def test_trials_leave_nothing_behind_in_a_process_that_makes_many(
    lab, tmp_path, monkeypatch, leaks
):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.chdir(lab.folder)
    campaign = str(
        lab.write_campaign(
            hooks={"setup": {"shell": ":"}, "before": {"shell": ":"}},
            counters={"events": ["page-faults"]},
            checks={"probe": "1ms"},
            protocol={"sessions": 1, "runs": 1, "warmup": 0},
        )
    )

    def all_of_them() -> None:
        for words, code in (
            (["run", campaign], 0),
            (["run", campaign, "--resume", "--sessions", "2"], 0),
            (["run", campaign, "--resume"], 0),
            (["run", campaign, "--resume", "--seed", "9", "--sessions", "3"], 5),
            (["run", campaign, "--dry-run", "--probe"], 0),
            (["status"], 0),
        ):
            said = io.StringIO()
            assert main(words, said, said) == code, (words, said.getvalue())

    all_of_them()  # what is loaded once stays
    before, opened = held(folder), leaks("")
    all_of_them()
    assert held(folder) == before
    assert leaks("") <= opened
