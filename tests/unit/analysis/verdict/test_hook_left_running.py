"""What a hook left running, as the verdict tells it from the findings of a trial; the sentences are counted by hand."""

from __future__ import annotations

import json
from types import SimpleNamespace

from analysis.verdict.cautions import service_cautions


def told(folder, *rows):
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "findings.jsonl").write_text(text)
    return list(service_cautions(SimpleNamespace(path=folder)))


def test_what_worked_during_runs_is_said_with_its_sessions(tmp_path):
    what = "what a hook left running (redis-server) used 1.50 s of processor time during runs"
    rows = [{"session": k, "check": "hook-left-running", "what": what} for k in (1, 2, 3)]
    (one,) = told(tmp_path, {"session": 1, "check": "hook", "what": "x"}, *rows)
    assert one.code == "hook-left-running"
    assert one.text.startswith(f"{what} of session 1, and likewise in 2 more: nobody saw")
    (alone,) = told(tmp_path, rows[0])
    assert "likewise" not in alone.text


def test_without_such_a_finding_nothing_is_said(tmp_path):
    assert told(tmp_path, {"session": 1, "check": "hook", "what": "x"}) == []
