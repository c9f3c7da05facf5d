"""What was executed, as a trial's resolved campaign says it; whatever is damaged says nothing."""

import json
from pathlib import Path

import pytest

from analysis.data.protocol import read_commands


def written(folder: Path, text: str) -> Path:
    (folder / "resolved.json").write_text(text)
    return folder


def test_arguments_of_each_cell(tmp_path: Path) -> None:
    cells = [
        {"benchmark": "text", "variant": name, "command": {"argv": ["gzip", level]}}
        for name, level in (("gzip-1", "-1"), ("gzip-6", "-6"))
    ]
    trial = written(tmp_path, json.dumps({"campaign": {"cells": cells}}))
    assert read_commands(trial) == {
        ("text", "gzip-1"): ("gzip", "-1"),
        ("text", "gzip-6"): ("gzip", "-6"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        "[]",
        '{"campaign": 3}',
        '{"campaign": {"cells": 7}}',
        '{"campaign": {"cells": [1, {"command": 2}, {"command": {"argv": []}}]}}',
        '{"campaign": {"cells": [{"benchmark": 1, "variant": "v", "command": {"argv": ["a"]}}]}}',
        '{"campaign": {"cells": [{"benchmark": "b", "variant": "v", "command": {"argv": [1]}}]}}',
    ],
)
def test_what_is_no_campaign_tells_nothing(tmp_path: Path, text: str) -> None:
    assert read_commands(written(tmp_path, text)) == {}


def test_trials_without_it_tell_nothing(tmp_path: Path) -> None:
    assert read_commands(tmp_path) == {}
