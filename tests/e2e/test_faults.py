"""What cannot be executed: a clear message, an exit code, and no half of a trial; what is whole has its hashes."""

from __future__ import annotations

import hashlib
import zlib

import pytest

from tests.lab import ONE, only


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["no-such-command-here"], "command 'no-such-command-here' not found"),
        (["./missing"], "command './missing' not found"),
        (["./plain"], "'./plain' is not executable"),
    ],
)
def test_command_that_cannot_be_executed(lab, command, says):
    lab.script("plain", "#!/bin/sh\n", 0o644)
    done = lab.run_fairtrial("run", lab.write_campaign(**only(command)))
    assert done.returncode == 4
    assert says in done.stderr
    assert "c.yaml:" in done.stderr
    assert lab.trials() == []


def test_file_that_the_kernel_cannot_execute(lab):
    lab.script("garbage", "neither program nor script")
    done = lab.run_fairtrial("run", lab.write_campaign(**only(["./garbage"])))
    assert done.returncode == 4
    assert "no program that the kernel can execute" in done.stderr
    assert lab.manifest()["status"] == "stopped"


def test_program_that_vanishes_during_the_trial(lab):
    lab.script("tool", "#!/bin/sh\nrm tool\n")
    path = lab.write_campaign(**{**only(["./tool"]), "protocol": {**ONE, "runs": 3}})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 4
    assert "not found" in done.stderr
    assert len(lab.read_rows()) == 1
    lab.script("tool", "#!/bin/sh\n")
    refused = lab.run_fairtrial("run", path, "--resume")
    assert refused.returncode == 5  # it is another program now
    assert "has changed: sha256" in " ".join(refused.stderr.split())


def test_failing_build_shows_the_end_of_its_log(lab):
    path = lab.write_campaign(build=[{"shell": "seq 1000; echo the reason >&2; exit 2"}])
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 4
    assert "build step 1 of 'a' failed with exit code 2" in done.stderr
    assert "the reason" in done.stderr
    assert "\n    17\n" not in done.stderr  # the tail, not the whole
    assert (lab.trial() / "outputs" / "build-a-1.log").read_text().startswith("1\n2\n")
    assert lab.manifest()["status"] == "stopped"


def test_cpu_that_may_not_be_used(lab):
    done = lab.run_fairtrial("run", lab.write_campaign(isolation={"cpus": [4000]}))
    assert done.returncode == 3
    assert "4000" in done.stderr
    assert lab.trials() == []


def test_checksums_are_those_of_the_format(lab):
    assert lab.run_fairtrial("run", lab.write_campaign()).returncode == 0
    for line in lab.lines():
        body, key, number = line[:-1].rpartition(b',"crc32":')
        assert key
        assert zlib.crc32(body + b"}") == int(number)
    for name, digest in lab.manifest()["files"].items():
        assert hashlib.sha256((lab.trial() / name).read_bytes()).hexdigest() == digest
