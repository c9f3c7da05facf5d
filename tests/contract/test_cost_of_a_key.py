"""What a new optional key of a campaign costs: three files by hand, its test, and `make generated`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    "analysis",
    "configs",
    "docs",
    "harness",
    "tests",
    "runs/sample",
    "runs/README.md",
)
NEEDED += ("pyproject.toml", "README.md", "CHANGELOG.md")
# file -> the line before which something is added, and what
BY_HAND = {
    "harness/campaign/schema.py": (
        '        "scheduling": Key(choice("other", "batch", "fifo"), "`other`, `batch` or `fifo`"),\n',
        """\
        "oom_score": Key(
            whole(-1000, 1000), "who is killed first when memory runs out: -1000 (never) to 1000"
        ),
""",
    ),
    "harness/campaign/model.py": (
        '    scheduling: Literal["other", "batch", "fifo"] = "other"\n',
        "    oom_score: int | None = None\n",
    ),
    "harness/launch/in_launcher/system_calls.py": (
        '    if config["scheduling"] == "batch":\n',
        """\
    if config["oom_score"] is not None:
        def _write() -> None:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write(str(config["oom_score"]))
        _try("oom_score", _write)
""",
    ),
}
GENERATED = {"configs/campaign.schema.json", "docs/campaign.md"}
ROW = (
    "| `isolation.oom_score` | none | who is killed first when memory runs out:"
    " -1000 (never) to 1000 |\n"
)
CAMPAIGN = {
    "name": "c",
    "variants": {"a": {}},
    "benchmarks": {
        "x": {
            "command": ["cat", "/proc/self/oom_score_adj"],
            "metrics": {"score": {"regex": "(-?[0-9]+)", "unit": "points", "better": "lower"}},
        }
    },
    "protocol": {"sessions": 1, "runs": 2, "max_runs": 2},
    "isolation": {"cpus": "none"},
}
IDENTITIES = """
import json, pathlib, sys
from harness.campaign.identity import first_defaults, identity_of
from harness.campaign.load import load_campaign
for path in map(pathlib.Path, sys.argv[1:]):
    then = load_campaign(path, defaults=first_defaults())
    print(path.name, identity_of(then, 1), identity_of(load_campaign(path)))
"""


@pytest.fixture
def tree(tmp_path):
    """Give a copy of the tree, as far as campaigns reach."""
    skipped = shutil.ignore_patterns("__pycache__", "calibration", "analysis", "e2e")
    for name in NEEDED:
        source, place = ROOT / name, tmp_path / "tree" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_file():
            shutil.copy(source, place)
        else:
            ignore = skipped if name == "tests" else shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, place, ignore=ignore)
    return tmp_path / "tree"


def execute(tree: Path, *words: object, cwd: Path | None = None) -> str:
    env = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-P", *map(str, words)],
        cwd=cwd or tree, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def texts(tree: Path) -> dict[str, str]:
    paths = (path for path in tree.rglob("*") if path.suffix in {".py", ".json", ".md", ".toml"})
    return {path.relative_to(tree).as_posix(): path.read_text("utf-8") for path in paths}


def written(folder: Path, name: str, **isolation: object) -> Path:
    path = folder / name
    campaign = CAMPAIGN | {"isolation": {**CAMPAIGN["isolation"], **isolation}}
    path.write_text(json.dumps(campaign))
    return path


def rows(folder: Path) -> list[dict]:
    (path,) = folder.glob("runs/*/measurements.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_key_is_a_row_of_the_schema_a_field_of_the_model_and_its_use(tree, tmp_path):
    known = json.loads((ROOT / "tests/golden/campaign_identity/first_version.json").read_text())
    for name, campaign in known.items():
        (tmp_path / name).write_text(campaign["text"])
    campaigns = [tmp_path / name for name in known]
    identities = execute(ROOT, "-c", IDENTITIES, *campaigns)
    plain = written(tmp_path, "c.yaml")
    execute(ROOT, "-m", "harness", "run", plain, cwd=tmp_path)  # the cap stops it half-way

    before = texts(tree)
    for name, (mark, lines) in BY_HAND.items():
        text = (tree / name).read_text("utf-8")
        assert text.count(mark) == 1, name
        (tree / name).write_text(text.replace(mark, lines + mark), "utf-8")
    execute(tree, "tests/contract/generate.py")
    after = texts(tree)
    assert {name for name in after if after[name] != before.get(name)} == {*BY_HAND, *GENERATED}
    assert ROW in after["docs/campaign.md"]

    # campaigns without the key are what they were, and a trial from before goes on
    assert execute(tree, "-c", IDENTITIES, *campaigns) == identities
    plain.write_text(json.dumps(CAMPAIGN | {"protocol": {"sessions": 1, "runs": 2, "max_runs": 9}}))
    execute(
        tree, "-m", "harness", "run", plain, "--resume", "--accept-drift", cwd=tmp_path
    )  # raising the cap is a change; nothing else is
    assert len([row for row in rows(tmp_path) if row["position"] >= 0]) == 3
    drifts = (tmp_path / "runs").glob("*/findings.jsonl")
    told = [line for path in drifts for line in path.read_text().splitlines() if "drift" in line]
    assert len(told) == 1
    assert "max_runs" in told[0]

    # with the key: read, checked, applied, and part of the identity
    folder = tmp_path / "scored"
    folder.mkdir()
    scored = written(folder, "scored.yaml", oom_score=321)
    execute(tree, "-m", "harness", "run", scored, cwd=folder)
    assert {value for row in rows(folder) for value in row["metrics"]["score"]} == {321.0}
    both = execute(tree, "-c", IDENTITIES, written(folder, "plain.yaml"), scored).split()
    assert both[1] != both[4]
    assert both[2] != both[5]
    execute(
        tree,
        *("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"),
        *("-k", "not relative_link and not judge_each and not text_is_read and not exactly"),
        "tests/unit/harness/campaign/test_schema.py",
        "tests/unit/harness/campaign/test_identity.py",
        "tests/property/test_campaign_property.py",
        "tests/contract/test_docs.py",
    )
