"""Services beside the runs of a trial: what is stored of them, how they fail, and that none is left behind."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.artifact.redacted import redact_folder
from analysis.artifact.redacted_names import wanted_of
from analysis.verdict.cautions import service_cautions

SERVER = """\
import os, socket, sys
name, port = sys.argv[2], int(sys.argv[3])
one = socket.socket()
one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
one.bind(("127.0.0.1", port))
one.listen()
print("up", name, os.environ.get("SECRET_TOKEN"), flush=True)
while True:
    there, _ = one.accept()
    if there.recv(100) == b"die":
        print("out of luck", flush=True)
        os._exit(7)
    there.sendall(name.encode())
    there.close()
"""
CLIENT = """\
import socket, sys
there = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30)
there.sendall(sys.argv[2].encode())
print(there.recv(100).decode())
"""


def campaign(lab, word="hi", service=(), **sections):
    lab.script("server.py", SERVER)
    lab.script("client.py", CLIENT)
    given = {
        "variants": {"a": {"expect": {"regex": "^a$"}}, "b": {"expect": {"regex": "^b$"}}},
        "benchmarks": {"one": {"command": [sys.executable, "client.py", "{s.port}", word]}},
        "services": {
            "s": {
                "command": [sys.executable, "server.py", lab.marker, "{variant}", "{s.port}"],
                **dict(service),
            }
        },
        "protocol": {"sessions": 1, "runs": 2, "warmup": 0},
    }
    return lab.write_campaign(**{**given, **sections})


def environments(lab):
    text = (lab.trial() / "environment.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("each", ["session", "run"])
def test_each_variant_is_measured_against_its_own(lab, each):
    before = [sys.executable, "client.py", "{s.port}", "{variant}"]
    path = campaign(lab, service={"each": each}, hooks={"before": [before]})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    assert [row["outcome"] for row in lab.read_rows()] == ["ok"] * 4  # each heard its own
    (record,) = environments(lab)
    assert sorted(record["services"]) == ["s/a", "s/b"]
    for one in record["services"].values():
        assert one["port"] >= 10_000
        assert Path(one["path"]).samefile(sys.executable)
        assert len(one["sha256"]) == 64
    logs = sorted(path.name for path in (lab.trial() / "outputs").glob("service-*"))
    stood = ["service-s-a-session1-1.log", "service-s-b-session1-1.log"]
    assert logs == (stood if each == "session" else [])
    assert lab.left() == []
    stored = json.loads((lab.trial() / "resolved.json").read_text())["campaign"]
    assert stored["services"][0]["command"]["argv"][-1] == "{s.port}"


def test_one_that_dies_fails_its_run_and_stands_again_for_the_next(lab):
    lab.script("once.sh", "#!/bin/sh\n[ -e died ] && echo hi || { touch died; echo die; }\n")
    word = f"$({lab.folder}/once.sh)"
    command = {"shell": f"exec {sys.executable} client.py {{s.port}} {word}"}
    protocol = {"sessions": 1, "runs": 2, "warmup": 0, "never_ok": "go_on"}
    one = {"variants": {"a": {}}, "baseline": "a", "benchmarks": {"one": {"command": command}}}
    path = campaign(lab, **one, protocol=protocol)
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 1, done.stderr
    first, second = lab.read_rows()
    assert first["outcome"] == "service-failed"
    assert first["detail"].startswith("the service 's/a' ended with exit code 7\n")
    assert first["detail"].endswith("out of luck")
    assert second["outcome"] == "ok"
    told = [one["what"] for one in lab.findings() if one["check"] == "services"]
    assert told == ["the service 's/a' was started again: the service 's/a' ended with exit code 7"]
    assert "service-failed" in done.stderr
    assert lab.left() == []


def test_one_that_is_not_ready_ends_the_trial_before_a_run(lab):
    path = campaign(lab, service={"ready": {"output": "never", "timeout": 0.2}})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 4
    assert (
        "the service 's/a' was not ready after 0.2 s: no line of its output matches never"
        in done.stderr
    )
    assert "up a" in done.stderr
    assert lab.read_rows() == []
    assert lab.manifest()["status"] == "stopped"
    assert lab.left() == []


def test_a_trial_that_goes_on_has_them_again_at_other_ports(lab):
    lab.hold()
    command = {
        "shell": f"{lab.waiting}; {sys.executable} client.py {{s.port}} hi".replace("{lab", "{lab")
    }
    path = campaign(lab, benchmarks={"one": {"command": command}})
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    assert len(lab.left()) == 2
    process.send_signal(signal.SIGINT)
    code, err = lab.ended(process)
    assert code == 130, err
    assert lab.left() == []
    lab.release()
    done = lab.run_fairtrial("run", path, "--resume")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each()
    first, second = environments(lab)
    ports = [one["port"] for record in (first, second) for one in record["services"].values()]
    assert len(set(ports)) == 4


def test_a_hook_that_fails_since_its_service_has_died_is_not_blamed(lab):
    hooks = {"before": [[sys.executable, "client.py", "{s.port}", word] for word in ("die", "hi")]}
    protocol = {"sessions": 1, "runs": 1, "warmup": 0}
    path = campaign(lab, variants={"a": {}}, baseline="a", hooks=hooks, protocol=protocol)
    assert lab.run_fairtrial("run", path).returncode == 1
    (row,) = lab.read_rows()
    assert row["outcome"] == "service-failed"
    assert row["detail"].endswith("out of luck")


def test_a_trial_does_not_go_on_with_another_server(lab):
    lab.script("serve", f'#!/bin/sh\nexec {sys.executable} server.py "$@"\n')
    one = {"command": ["./serve", lab.marker, "{variant}", "{s.port}"]}
    path = campaign(lab, service=one, protocol={"sessions": 1, "runs": 1, "warmup": 0})
    assert lab.run_fairtrial("run", path).returncode == 0
    lab.script("serve", f'#!/bin/sh\nexec {sys.executable} -B server.py "$@"\n')
    more = ("run", path, "--resume", "--trial", lab.trial(), "--sessions", "2")
    done = lab.run_fairtrial(*more)
    assert done.returncode == 5, done.stderr
    assert "the program of the service s/a is another one than before" in done.stderr
    assert lab.run_fairtrial(*more, "--accept-drift").returncode == 0
    assert "drift" in {one["check"] for one in lab.findings()}


def test_what_a_service_is_told_and_says_is_redacted_in_a_bundle(lab):
    secret = "tr0ub4dor-and-3"
    path = campaign(
        lab,
        service={"env": {"SECRET_TOKEN": secret, "AT": "{s.port}"}},
        variants={"a": {}},
        baseline="a",
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
    )
    assert lab.run_fairtrial("run", path).returncode == 0
    log = "outputs/service-s-a-session1-1.log"
    assert secret in (lab.trial() / log).read_text()  # as it was measured, on this host alone
    assert secret not in (lab.trial() / "environment.jsonl").read_text()
    staged = lab.folder / "staged"
    shutil.copytree(lab.trial(), staged / "trials" / lab.trial().name)
    redact_folder(staged, wanted_of("env,paths"))
    files = [path for path in staged.rglob("*") if path.is_file()]
    assert [path for path in files if secret.encode() in path.read_bytes()] == []
    (trial,) = (staged / "trials").iterdir()
    assert (trial / log).read_text().startswith("up a redacted-value-")
    assert '"AT": "{s.port}"' in (trial / "campaign.yaml").read_text()


def test_the_verdict_says_that_services_had_no_cpu_of_their_own(lab):
    path = campaign(lab, protocol={"sessions": 2, "runs": 2, "warmup": 0})
    assert lab.run_fairtrial("run", path).returncode == 0
    (told,) = [one for one in verdict(lab)["cautions"] if one.startswith("services had no CPU")]
    assert "(s/a, s/b): they shared CPUs with the measured programs" in told  # nothing was pinned
    environment = lab.trial() / "environment.jsonl"
    environment.write_text(environment.read_text().replace('"beside":"runs"', '"beside":null'))
    assert list(service_cautions(SimpleNamespace(path=lab.trial()))) == []  # each had its own


def verdict(lab):
    return json.loads(lab.run_fairtrial("verdict", lab.trial(), "--json").stdout)
