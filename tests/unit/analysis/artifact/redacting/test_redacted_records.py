"""Records that versions added since, without names: builds, services, commits and files of values."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.artifact.archive import open_archive
from analysis.data.iterations import values_of_run
from analysis.data.trial import read_trial
from analysis.record.environment import commits_of_all
from analysis.record.manifest import about_quantile
from analysis.record.shapes import packed, sample_file
from analysis.record.trial_files import ENVIRONMENT
from analysis.verdict.judging import judge
from harness.campaign.resolve import load_campaign
from harness.cli import main
from tests.examples import examples

MAKE = ["make", "SEED={layout_seed}", "OUT=/home/anna/src/app"]
BUILD = {
    "each": "session",
    "run": [MAKE],
    "artifacts": ["/home/anna/src/{variant}", "build/{variant}"],
}


def built(folder):
    """Plant a build of each session where a trial has it."""
    stored = {
        "variant": "gzip-6",
        "steps": [{"argv": MAKE}],
        "cwd": ".",
        "env": {"SEED": "{layout_seed}"},
        "each": "session",
        "artifacts": ["/home/anna/src/gzip-6", "build/gzip-6"],
    }
    resolved = {"campaign": {"builds": [stored]}}
    folder.put("trials/sample/resolved.json", json.dumps(resolved, indent=2) + "\n")
    campaign = {
        "name": "sample",
        "build": BUILD,
        "variants": {"gzip-6": {"env": {"SEED": "{layout_seed}"}}, "gzip-1": None},
        "benchmarks": {"text": {"command": ["gzip"]}},
    }
    folder.put("trials/sample/campaign.yaml", json.dumps(campaign, indent=2) + "\n")
    return folder


def test_folders_go_from_builds_and_placeholders_stay(folder):
    done = built(folder).redact("paths")
    assert "anna" not in folder.whole()
    assert done.record.left == ()
    (build,) = json.loads(folder.read("trials/sample/resolved.json"))["campaign"]["builds"]
    assert build["steps"][0]["argv"][:2] == MAKE[:2]
    assert (build["each"], build["env"]) == ("session", {"SEED": "{layout_seed}"})
    assert build["artifacts"][1] == "build/gzip-6"
    assert build["artifacts"][0].endswith("/gzip-6")
    campaign = load_campaign(folder.trial / "campaign.yaml")
    first = campaign.builds[0]
    # the campaign that lies beside it asks for the same files and the same seeds
    assert list(map(str, first.artifacts)) == [
        build["artifacts"][0],
        str(Path(folder.trial) / "build/gzip-6"),
    ]
    assert campaign.to_dict()["builds"][0]["steps"] == build["steps"]


def test_nothing_of_a_build_goes_where_nobody_asks_for_paths(folder):
    before = built(folder).read("trials/sample/campaign.yaml")
    folder.redact("env,host")
    assert folder.read("trials/sample/campaign.yaml") == before


SECRET = "correct-horse-battery"
SERVER = ["/home/anna/srv/server", "--port", "{s.port}", "--data=/home/anna/srv/{variant}"]
LOG = f"up at /home/anna/srv as anna on thinkpad, DB_PASSWORD={SECRET}\n"


@pytest.fixture
def served(folder):
    """Plant a service of each variant where a trial has it."""
    stored = {
        "name": "s",
        "variant": "gzip-6",
        "command": {"argv": SERVER},
        "cwd": ".",
        "env": {"DB_PASSWORD": SECRET, "AT": "{s.port}"},
        "ready": {"output": "^up at"},
    }
    resolved = {"campaign": {"services": [stored]}}
    folder.put("trials/sample/resolved.json", json.dumps(resolved, indent=2) + "\n")
    service = {"command": SERVER, "env": stored["env"], "ready": stored["ready"]}
    campaign = {
        "name": "sample",
        "variants": {"gzip-6": None, "gzip-1": None},
        "benchmarks": {"text": {"command": ["client", "{s.port}"]}},
        "services": {"s": service},
    }
    folder.put("trials/sample/campaign.yaml", json.dumps(campaign, indent=2) + "\n")
    folder.put("trials/sample/outputs/service-s-gzip-6-session1-1.log", LOG)
    about = {"port": 15432, "path": SERVER[0], "sha256": "a" * 64, "cpus": "1", "beside": None}
    folder.lines(
        "environment.jsonl",
        lambda _, row: row.update(services={"s/gzip-6": dict(about)}, host={"name": "thinkpad"}),
    )
    return folder


def test_names_and_secrets_go_from_services_and_their_logs(served):
    served.redact("user=anna,host=thinkpad,paths,env")
    whole = served.whole()
    assert "anna" not in whole
    assert "thinkpad" not in whole
    assert SECRET not in whole
    record = json.loads(served.read("trials/sample/environment.jsonl").splitlines()[0])
    told = record["services"]["s/gzip-6"]
    assert (told["port"], told["sha256"], told["cpus"]) == (15432, "a" * 64, "1")
    assert told["path"].endswith("/server")
    campaign = load_campaign(served.trial / "campaign.yaml")
    (one, other) = campaign.services
    assert (one.label, other.label) == ("s/gzip-6", "s/gzip-1")
    (stored,) = json.loads(served.read("trials/sample/resolved.json"))["campaign"]["services"]
    assert one.command.argv[0] == stored["command"]["argv"][0]
    assert stored["command"]["argv"][2] == "{s.port}"
    assert stored["env"]["AT"] == "{s.port}"
    assert one.ready.output == stored["ready"]["output"] == "^up at"
    log = served.read("trials/sample/outputs/service-s-gzip-6-session1-1.log")
    assert log.startswith("up at /")


def test_nothing_of_a_service_goes_where_nobody_asks(served):
    before = served.read("trials/sample/campaign.yaml")
    served.redact("host=thinkpad")
    assert served.read("trials/sample/campaign.yaml") == before


SHA = "4f0c2a19b77e02c0ffee4f0c2a19b77e02c0ffee"


def committed(folder, old=SHA, new="v1.5.0-rc1"):
    """Plant the commits of two variants where a trial has them."""

    def change(_, row):
        for name, about in row["targets"].items():
            about["commit"] = old if name.endswith("gzip-6") else new

    folder.lines(ENVIRONMENT, change)
    resolved = {"campaign": {"commit": {"gzip-6": old, "gzip-1": new}}}
    folder.put("trials/sample/resolved.json", json.dumps(resolved, indent=2) + "\n")
    text = folder.read("trials/sample/campaign.yaml") + f"# {old} and {new}\n"
    folder.put("trials/sample/campaign.yaml", f"{text}commit: {old}\n")
    folder.put("trials/sample/outputs/setup-1.log", f"HEAD is now at {old}\ncd w_{old}\n")
    return folder


def test_commits_go_with_the_paths(folder):
    done = committed(folder).redact("paths")
    whole = folder.whole()
    assert SHA not in whole
    assert "v1.5.0-rc1" not in whole
    assert done.record.left == ()
    rows = [json.loads(line) for line in folder.read(f"trials/sample/{ENVIRONMENT}").splitlines()]
    for row in rows:  # what was one commit still is one, and nobody takes it for a name
        told = {name.partition("/")[2]: one["commit"] for name, one in row["targets"].items()}
        assert sorted(told.values()) == ["redacted-commit-1", "redacted-commit-2"]
        assert commits_of_all([row]) == {"gzip-1": None, "gzip-6": None}
    campaign = yaml.safe_load(folder.read("trials/sample/campaign.yaml"))
    assert campaign["commit"] == told["gzip-6"]
    resolved = json.loads(folder.read("trials/sample/resolved.json"))
    assert resolved["campaign"]["commit"] == told
    assert judge(read_trial(folder.trial)).cautions is not None  # it holds together


def test_commits_stay_where_nobody_asks_for_paths(folder):
    before = committed(folder).whole()
    folder.redact("user,host,env")
    assert folder.whole().count(SHA) == before.count(SHA)


def test_a_short_commit_goes_from_its_fields_and_is_listed_elsewhere(folder):
    done = committed(folder, old="v1", new="main").redact("paths")
    resolved = json.loads(folder.read("trials/sample/resolved.json"))
    assert set(resolved["campaign"]["commit"].values()) == {
        "redacted-commit-1",
        "redacted-commit-2",
    }
    assert (
        yaml.safe_load(folder.read("trials/sample/campaign.yaml"))["commit"]
        in resolved["campaign"]["commit"].values()
    )
    assert any("campaign.yaml: redacted-commit-" in one for one in done.record.left)  # the comment


HASHES = st.text("0123456789abcdef", min_size=7, max_size=64).filter(
    lambda text: not text.isdigit()
)
TAGS = st.from_regex(r"[a-z]{2,5}/?v[0-9]{1,2}\.[0-9]{1,2}-(rc|beta)[0-9]", fullmatch=True)


@given(st.lists(HASHES | TAGS, min_size=2, max_size=2, unique=True), st.booleans())
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_file_of_a_trial_holds_a_commit_afterwards(staged, commits, template):
    old, new = commits
    folder = staged()
    committed(folder, old, new)
    if template:
        text = folder.read("trials/sample/campaign.yaml").replace(
            f"commit: {old}", "commit: '{rev}'"
        )
        folder.put(
            "trials/sample/campaign.yaml", f"{text}a: {{rev: '{old}'}}\nb: {{rev: '{new}'}}\n"
        )
    folder.redact("paths")
    whole = folder.whole()
    assert old not in whole
    assert new not in whole


def test_samples_and_quantiles_pass_a_redaction(folder):
    values = np.random.default_rng(3).lognormal(0, 1, 2000).tolist()
    data, about = packed(values)
    name = sample_file(0, "t", warmup=False)

    def printed(number, row):
        row["metrics"] = {"t": [1.5], "t.p99": [9.0]} if not number else {}
        if not number:
            row["samples"] = {"t": about.to_dict()}

    folder.measurements(printed)
    unit = {"unit": "ms", "better": "lower"}
    folder.manifest(metrics={"t": unit, "t.p99": about_quantile("ms", "lower", "t", 0.99)})
    folder.put(f"trials/sample/{name}", data)
    folder.redact("user,host,paths,env")
    assert (folder.trial / name).read_bytes() == data
    trial = read_trial(folder.trial)
    assert not {one.code for one in trial.cautions} & {"samples-gone", "samples-changed"}
    assert values_of_run(trial, "t", 0).tolist() == values
    assert trial.manifest.metrics["t.p99"]["of"] == "t"


# --- A bundle made with --redact: no name in the archive, the same numbers, every hash right


HOST, USER = "lab07.example.org", "jdoe"
CLAIMS = f"""\
claims:
  - text: on {HOST} gzip-1 is faster
    command: verdict TRIAL --json
    value: /candidates/0/multilevel/these/speedup
    is: at_least
    expected: 1.2
"""


@pytest.fixture
def named(folder):
    """Plant names in a trial that lies in somebody's folder."""
    folder.manifest(host=HOST, campaign_path=f"/home/{USER}/c.yaml")
    folder.put("trials/sample/outputs/setup-1.log", f"{USER}@{HOST}:/home/{USER}/build\n")
    return folder


@pytest.mark.usefixtures("quick_start")
def test_no_name_is_left_in_the_archive(named, tmp_path):
    claims = tmp_path / "claims.yaml"
    claims.write_text(CLAIMS.replace("TRIAL", str(named.trial)))
    archive = tmp_path / "a.zip"
    words = ["bundle", str(named.trial), "-o", str(archive), "--claims", str(claims)]
    assert "Names taken out" in printed(*words, "--redact", "user,host,paths,env")
    redacted = contents(archive)
    names = (USER, HOST, "lab07", "/home/", "sample-host", "3eae1594-2102-46e0-abf1-a359893b5082")
    for name in names:
        assert [file for file, data in redacted.items() if name.encode() in data] == []
    told = json.loads(redacted["bundle.json"])
    assert told["redacted"]["what"] == ["user", "host", "paths", "env"]
    manifest = (named.trial / "manifest.json").read_bytes()
    assert told["sources"][0]["identity"] == hashlib.sha256(manifest).hexdigest()
    altered = told["redacted"]["files"]
    (root,) = {name.rpartition("/")[0] for name in altered if name.endswith("/manifest.json")}
    assert altered[f"{root}/manifest.json"] == told["sources"][0]["identity"]
    for name, record in told["files"].items():
        if name.endswith(".whl"):
            continue
        assert hashlib.sha256(redacted[name]).hexdigest() == record["sha256"]
    with open_archive(archive):
        pass  # it is canonical
    # what was computed are the same numbers
    before = json.loads(printed("verdict", str(named.trial), "--json"))
    after = json.loads(redacted["analyses/01-verdict.json"])
    assert after["candidates"] == before["candidates"]
    assert (before["host"], after["host"]) == (HOST, "redacted-host-1")


def printed(*words):
    out, err = io.StringIO(), io.StringIO()
    assert main(list(words), out, err) == 0, err.getvalue()
    return out.getvalue()


def test_a_wrong_kind_is_refused_before_anything_is_read(tmp_path):
    out, err = io.StringIO(), io.StringIO()
    words = ["bundle", "none", "-o", str(tmp_path / "a.zip"), "--redact", "names"]
    assert main(words, out, err) == 2
    assert "--redact knows user, host, paths, env" in err.getvalue()


def contents(path):
    """Give the files of an archive, those in its tar archives beside them."""
    with zipfile.ZipFile(path) as file:
        # our own wheel speaks of /home/, too
        names = [name for name in file.namelist() if not name.endswith(".whl")]
        found = {name: file.read(name) for name in names}
    for name in [one for one in found if one.endswith(".tar")]:
        with tarfile.open(fileobj=io.BytesIO(found[name])) as tar:
            found |= {f"{name}/{one.name}": tar.extractfile(one).read() for one in tar}
    return found
