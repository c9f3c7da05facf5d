"""What a new optional key of a campaign costs: three files by hand, its test, and `make generated`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from harness.campaign.identity import first_defaults, identity_of
from harness.campaign.load import load_campaign
from harness.cli import main
from tests.contract.copies import ROOT, copied, edited, python

NEEDED = (
    *("analysis", "configs", "distribution", "docs", "harness", "tests/golden/campaign_identity"),
    *("tests/golden/schemas", "tests/golden/sources", "tests/data"),
    *("runs/sample", "runs/README.md", "pyproject.toml", "README.md", "CHANGELOG.md"),
)
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
# The steps after the edits, in one process of the copy: what is made, what campaigns and trials become
USED = """
import io, json, runpy, sys
from pathlib import Path
words, sys.argv[1:] = sys.argv[1:], []
runpy.run_path("tests/contract/generate.py", run_name="__main__")
from harness.campaign.identity import first_defaults, identity_of
from harness.campaign.load import load_campaign
from harness.cli import main
plain, scored, *campaigns = map(Path, words)
for path in campaigns:
    then = load_campaign(path, defaults=first_defaults())
    print(path.name, identity_of(then, 1), identity_of(load_campaign(path)))
for path, options in ((plain, ["--resume", "--accept-drift"]), (scored, [])):
    said = io.StringIO()
    words = ["run", str(path), "--dir", str(path.with_name("runs")), *options]
    assert main(words, said, said) == 0, said.getvalue()
"""


@pytest.fixture
def tree(tmp_path):
    """Give a copy of the tree, as far as campaigns reach."""
    left_out = ("golden", "calibration", "analysis", "e2e", "browser", "data")
    return copied(copied(tmp_path / "tree", NEEDED), ("tests",), *left_out)


def texts(tree: Path) -> dict[str, str]:
    paths = (path for path in tree.rglob("*") if path.suffix in {".py", ".json", ".md", ".toml"})
    return {path.relative_to(tree).as_posix(): path.read_text("utf-8") for path in paths}


def written(folder: Path, name: str, **isolation: object) -> Path:
    folder.mkdir(exist_ok=True)
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
    scored, like_it = tmp_path / "scored", tmp_path / "like_it"
    plain, bare = written(tmp_path, "c.yaml"), written(like_it, "plain.yaml")
    campaigns = [*(tmp_path / name for name in known), bare]
    identities = [
        f"{path.name} {identity_of(load_campaign(path, defaults=first_defaults()), 1)} "
        f"{identity_of(load_campaign(path))}"
        for path in campaigns
    ]
    said = io.StringIO()  # the cap stops it half-way
    assert main(["run", str(plain), "--dir", str(tmp_path / "runs")], said, said) == 0

    before = texts(tree)
    assert all(before[name].count(mark) == 1 for name, (mark, _) in BY_HAND.items())
    edited(tree, {
        name: lambda text, mark=mark, lines=lines: text.replace(mark, lines + mark)
        for name, (mark, lines) in BY_HAND.items()
    })  # fmt: skip
    # raising the cap is a change; nothing else is
    plain.write_text(json.dumps(CAMPAIGN | {"protocol": {"sessions": 1, "runs": 2, "max_runs": 9}}))
    with_key = written(scored, "scored.yaml", oom_score=321)
    told = python(tree, "-c", USED, plain, with_key, *campaigns, with_key).splitlines()
    after = texts(tree)
    assert {name for name in after if after[name] != before.get(name)} == {*BY_HAND, *GENERATED}
    assert ROW in after["docs/campaign.md"]

    # campaigns without the key are what they were, and a trial from before goes on
    assert told[:-1] == identities
    assert len([row for row in rows(tmp_path) if row["position"] >= 0]) == 3
    drifts = (tmp_path / "runs").glob("*/findings.jsonl")
    drift = [line for path in drifts for line in path.read_text().splitlines() if "drift" in line]
    assert len(drift) == 1
    assert "max_runs" in drift[0]

    # with the key: read, checked, applied, and part of the identity
    assert {value for row in rows(scored) for value in row["metrics"]["score"]} == {321.0}
    both = [line.split() for line in told[-2:]]
    assert all(old != new for old, new in zip(*both, strict=True))
    python(
        tree,
        *("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"),
        *("-k", "not relative_link and not judge_each and not text_is_read and not exactly"),
        "tests/unit/harness/campaign/test_schema.py",
        "tests/unit/harness/campaign/test_identity.py",
        "tests/property/test_campaign_property.py",
        "tests/contract/test_docs.py",
    )
