"""What a trial stores of what it found in its environment, and who may read it."""

from __future__ import annotations

import json
import re
import runpy
import zipfile
from pathlib import Path

from tests.forks import early

ROOT = Path(__file__).parents[2]
PLANTED = runpy.run_path(
    str(ROOT / "tests/unit/harness/host/test_variables.py"), run_name="planted"
)["PLANTED"]
SECRET = re.compile(rb"zq-\w+")


def stored(trial):
    """Give what is stored beside the campaign and what programs wrote: name -> bytes."""
    files = (path for path in trial.iterdir() if path.is_file() and path.name != "campaign.yaml")
    return {path.name: path.read_bytes() for path in files}


def test_none_of_the_planted_values_is_stored(lab):
    # attacks on the first version: 12 of 22 everyday secrets stood in environment.jsonl
    lab.virtual = None  # modes are those of the real launcher
    lab.environment |= PLANTED | {"CFLAGS": "-O2 -DAPI_KEY=zq-cflags"}
    tells = "echo no login with $DBPW and $DB_COMMAND >&2; exit 3"
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh(tells)}},
        hooks={"finish": {"shell": "env; exit 1"}, "setup": {"shell": "env"}},
        protocol={"sessions": 2, "runs": 1, "warmup": 0},  # it ends in the first: no cell is left
    )
    assert lab.run_fairtrial("run", path).returncode == 1
    trial = lab.trial()
    assert "no login with <value of DBPW>" in lab.manifest()["reason"]
    for name, data in stored(trial).items():
        assert not SECRET.search(data), name
    (environment,) = map(json.loads, (trial / "environment.jsonl").read_text().splitlines())
    assert environment["hidden_variables"]["hashes"].keys() >= PLANTED.keys()
    assert environment["variables"]["CFLAGS"] == "-O2 -DAPI_KEY=<redacted>"
    assert "no login with <value of DBPW>" in lab.read_rows()[0]["detail"]
    log = (trial / "outputs" / "setup-session1-1.log").read_bytes()
    assert SECRET.search(log)  # outputs are kept as they are: the search can find something

    found = {p: p.stat().st_mode & 0o777 for p in (trial, *trial.rglob("*"))}
    assert {mode for p, mode in found.items() if p.is_dir()} == {0o700}
    assert {mode for p, mode in found.items() if p.is_file()} == {0o600}


def test_a_changed_secret_is_noticed_when_a_trial_goes_on(lab):
    lab.environment["MY_PIN"] = "zq-1234"
    path = lab.write_campaign(protocol={"sessions": 1, "runs": 1, "warmup": 0})
    assert lab.run_fairtrial("run", path, "--share").returncode == 0
    assert lab.trial().stat().st_mode & 0o777 == 0o755
    lab.environment["MY_PIN"] = "zq-5678"
    assert lab.run_fairtrial("run", path, "--resume", "--sessions", "2").returncode == 0
    said = [row["what"] for row in lab.findings() if row["check"] == "environment"]
    assert said == ["environment variables changed: MY_PIN"]
    assert not SECRET.search((lab.trial() / "findings.jsonl").read_bytes())


def test_without_a_key_that_is_said_once_and_names_are_kept(lab, tmp_path):
    (tmp_path / "state").write_text("a file in the way")
    lab.environment |= {"XDG_STATE_HOME": str(tmp_path / "state"), "MY_PIN": "zq-1234"}
    path = lab.write_campaign(share=True, protocol={"sessions": 2, "runs": 1, "warmup": 0})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0
    said = " ".join(done.stderr.split())
    assert said.count("the key of their hashes cannot be used") == 1
    assert [row["check"] for row in lab.findings()].count("variables") == 1
    environments = (lab.trial() / "environment.jsonl").read_text()
    assert "zq-1234" not in environments
    for line in environments.splitlines():
        assert json.loads(line)["hidden_variables"]["hashes"]["MY_PIN"] is None
    assert lab.trial().stat().st_mode & 0o777 == 0o755


# Forms in which listed variables handed secrets over; each stood in trials of an earlier version.
LISTED = {
    "LC_PASSWORD": "zq-locale",
    "LC_API_TOKEN": "zq-token",
    "CC": "cc -DPW=zq-compiler -Dpwd=zq-dpwd",
    "MAKEFLAGS": "-j2 -- PW='zq-make zq-blank' DBPW=zq-dbpw",
    "CFLAGS": "-O2 -DKEY:=zq-cmake '-DKEY=zq-whole zq-whole2' -DKEY=zq-esc\\ zq-aped",
    "JAVA_TOOL_OPTIONS": "-Xmx1g -Djavax.net.ssl.keyStorePassword=zq-store -storepass zq-keytool",
    "GOFLAGS": "-ldflags='-X main.token=zq-golang'",
    "NODE_OPTIONS": "--token 'zq-node zq-node2' --title x",
    "PKG_CONFIG_PATH": "/usr/lib:https://user:zq-login@zq-login2@host/x",
    "PYTHONPATH": "https://user:zq-slash/zq-slash2@host/x",
    "OMP_DISPLAY_ENV": "Authorization: Basic zq-basic",
    "RUSTFLAGS": '{"password": "zq-json zq-json2"}',
    "XZ_OPT": "machine h login u password zq-netrc",
    "GZIP": "-u user:zq-curl",
}


def test_no_secret_of_a_listed_variable_is_in_a_trial_its_report_or_its_bundle(lab):
    own = lab.environment
    lab.environment = own | LISTED
    path = lab.write_campaign(protocol={"sessions": 1, "runs": 2, "warmup": 0})
    assert lab.run_fairtrial("run", path).returncode == 0
    trial = lab.trial()
    # what an interpreter reads at its start would have each of these begin one
    lab.environment = own | {k: v for k, v in LISTED.items() if k not in early(LISTED)}
    for args in (
        ("report", trial, "-o", lab.folder / "report.html"),
        ("report", trial, "-o", lab.folder / "report.json"),
        ("bundle", trial, "-o", lab.folder / "all.zip"),
    ):
        done = lab.run_fairtrial(*args)
        assert done.returncode == 0, done.stderr
    words = [word.encode() for text in LISTED.values() for word in re.findall(r"zq-\w+", text)]
    files = (*trial.rglob("*"), *lab.folder.glob("report.*"))
    texts = {p.name: p.read_bytes() for p in files if p.is_file()}
    with zipfile.ZipFile(lab.folder / "all.zip") as bundle:
        texts |= {f"bundle: {name}": bundle.read(name) for name in bundle.namelist()}
    assert {name for name, data in texts.items() if any(w in data for w in words)} == set()
    (environment,) = map(json.loads, texts["environment.jsonl"].splitlines())
    assert set(LISTED) <= {*environment["variables"], *environment["hidden_variables"]["hashes"]}
    assert environment["variables"]["CC"] == "cc -DPW=<redacted> -Dpwd=<redacted>"
