"""Services in a redacted bundle: names go from their commands, variables, records and logs; ports and marks stay.

Authority: the bundle's own rule: what was replaced reads as before, and the campaign beside it says the same.
"""

from __future__ import annotations

import json

import pytest

from harness.campaign.resolve import load_campaign

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
