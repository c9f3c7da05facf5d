"""Which files a campaign names: the campaign's documentation is the authority for where it may."""

from __future__ import annotations

import json

import pytest

from analysis.artifact.packed_campaign import NamedPath, named_files


def test_every_place_of_a_campaign_that_may_name_a_file_is_looked_at():
    campaign = {
        "cells": [
            {
                "command": {"argv": ["./run.sh", "--data=in/a", "-Iinclude", "@args", "3"]},
                "cwd": "work",
                "stdin": "in/std",
                "inputs": ["in/more"],
                "expect": {"stdout_file": "want.txt"},
                "before": [{"argv": ["python3", "before.py"]}],
                "after": [{"argv": ["./after"]}],
            }
        ],
        "builds": [{"steps": [{"argv": ["make", "OUT=build/a"]}], "cwd": "src"}],
        "hooks": {"setup": [{"argv": ["sh", "setup.sh"]}], "cleanup": [], "finish": []},
    }
    found = set(named_files(campaign))
    assert found >= {
        NamedPath(path="./run.sh", cwd="work", role="program"),
        NamedPath(path="in/a", cwd="work", role="word"),
        NamedPath(path="include", cwd="work", role="word"),
        NamedPath(path="args", cwd="work", role="word"),
        NamedPath(path="in/std", role="input"),
        NamedPath(path="in/more", role="input"),
        NamedPath(path="want.txt", role="input"),
        NamedPath(path="before.py", cwd="work", role="word"),
        NamedPath(path="./after", cwd="work", role="program"),
        NamedPath(path="build/a", cwd="src", role="word"),
        NamedPath(path="Makefile", cwd="src", role="word"),
        NamedPath(path="setup.sh", role="word"),
    }
    # a program that is looked up on the PATH is no file of the campaign
    assert not {one.path for one in found} & {"make", "python3", "sh"}


@pytest.mark.parametrize(
    "stored", ["", "[]", '{"campaign": {"cells": 3}}', '{"campaign": {"builds": [3]}}', "[" * 10**5]
)
def test_what_no_campaign_came_to_is_not_known(stored):
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError, RecursionError)):
        list(named_files(json.loads(stored)["campaign"]))
