"""Where services are told before anything is executed: previews, bundles, jobs; and what no service may join.

Authority: whoever executes somebody else's campaign is shown every command of it.
"""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import pytest

from analysis.artifact.packed_campaign import named_files
from analysis.artifact.redacted import campaign_values
from analysis.errors import UsageError
from harness.bisect.recipe import recipe_of
from harness.campaign.resolve import load_campaign
from harness.commands.rerun_preview import commands_of, stays_inside
from harness.errors import LaunchError
from harness.fleet.submission import _least_cpus
from harness.launch.commands import resolve_all

TEXT = """\
name: told
variants: {a: {how: x}, b: {how: y}}
benchmarks: {x: {command: [client, "{s.port}"]}}
services:
  s: {command: [./server, "{how}", "{s.port}"], cwd: %s, env: {KEY: hidden-word}, ready: {command: [./ask, "{s.port}"]}%s}
"""


@pytest.fixture
def campaign(tmp_path):
    def load(cwd="data", more=""):
        path = tmp_path / "c.yaml"
        path.write_text(TEXT % (cwd, more))
        return load_campaign(path)

    return load


def test_a_received_campaign_shows_the_commands_of_services(campaign):
    loaded = campaign()
    steps = commands_of(loaded, loaded.source.parent)
    told = [(one.kind, one.of, one.argv) for one in steps if "service" in one.kind]
    assert told[0] == ("service", ("s/a",), ("./server", "x", "{s.port}"))
    assert told[1] == ("is the service ready", ("s/a", "s/b"), ("./ask", "{s.port}"))
    assert len(told) == 3
    assert steps[0].cwd == "data"
    assert steps[0].variables == {"KEY": "hidden-word"}


def test_a_service_that_works_outside_of_the_folder_is_told(campaign):
    loaded = campaign(cwd="../elsewhere")
    assert any("the service s/a in" in one for one in stays_inside(loaded, loaded.source.parent))
    inside = campaign()
    assert list(stays_inside(inside, inside.source.parent)) == []


def test_a_bundle_packs_the_programs_of_services_and_hides_their_variables(campaign):
    loaded = campaign()
    named = {
        (one.path, one.cwd, one.role)
        for one in named_files(json.loads(json.dumps(loaded.to_dict())))
    }
    assert {("./server", "data", "program"), ("./ask", "data", "program")} <= named
    assert "hidden-word" in (campaign_values(loaded.text.decode())[0] or set())


@pytest.mark.parametrize(
    ("more", "least"), [("", 3), (", cpus: [6, 7]", 8), (", cpus: 1, share_cpus: on", 2)]
)
def test_a_job_asks_for_a_node_with_enough_cpus(campaign, more, least):
    assert _least_cpus(campaign(more=more)) == {"mincpus": least}


def test_without_services_a_job_asks_for_what_it_did(campaign):
    assert _least_cpus(SimpleNamespace(services=())) == {}


def test_a_bisection_refuses_them(campaign):
    with pytest.raises(UsageError, match="a bisection starts no services") as caught:
        recipe_of(campaign(), SimpleNamespace(root=None))
    assert caught.value.fix


def test_a_server_that_is_not_there_is_told_before_anything_is_made(tmp_path):
    path = tmp_path / "c.yaml"
    text = TEXT.replace("client", "env").replace("./server", "'{how}'") % ("data", "")
    path.write_text(text.replace("{how: x}", "{how: env}").replace("{how: y}", "{how: ./made}"))
    environment = {"PATH": os.environ["PATH"]}
    resolve_all(
        load_campaign(path), environment
    )  # a hook may make what lies in the campaign's folder
    path.write_text(text.replace("{how: y}", "{how: env}").replace("{how: x}", "{how: no-such}"))
    with pytest.raises(LaunchError) as caught:
        resolve_all(load_campaign(path), environment)
    assert "the service 's/a' cannot be started: command 'no-such' not found" in caught.value.what
    assert "c.yaml:5:" in caught.value.where
    assert resolve_all(load_campaign(path), environment, unbuilt={"a"})
