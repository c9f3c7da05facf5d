"""Names taken out of a bundle's folder: what is replaced, what must stay, what is listed."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import re
import shutil
import sys
import unicodedata

import pytest
import yaml

from analysis.artifact.redacted_names import Scrubber, known_here
from analysis.data.trial import read_trial
from analysis.errors import UsageError
from analysis.record.manifest import read_manifest
from analysis.record.shapes import checksum_holds, encode_checked
from analysis.record.trial_files import ENVIRONMENT, read_builds
from analysis.verdict.judging import judge

from .conftest import SAMPLE

HOST = "lab07.example.org"
USER = "jdoe"


@functools.cache
def answers_of_the_sample():
    return judge(read_trial(SAMPLE)).to_dict()["candidates"]


def environment(folder, **changes):
    def change(_, row):
        for key, value in changes.items():
            section, _, name = key.partition("__")
            row.setdefault(section, {})[name] = value

    folder.lines(ENVIRONMENT, change)


def planted(folder):
    """Plant names at every place that a trial has."""
    folder.manifest(host=HOST, campaign_path=f"/home/{USER}/proj/campaign.yaml")
    environment(
        folder,
        host__name=HOST,
        process__cwd=f"/home/{USER}/proj",
        variables__PWD=f"/home/{USER}/proj",
        variables__USER=USER,
        variables__HOSTNAME=HOST,
        variables__CFLAGS=f"-O2 -I/home/{USER}/include",
        kernel__boot_arguments=f"root=/dev/sda host={HOST}",
    )
    folder.put("trials/sample/outputs/setup-1.log", f"make by {USER} on lab07\n/home/{USER}/x.c\n")
    folder.put("trials/sample/outputs/0003.stdout", f'{{"host": "{HOST}", "seconds": 0.10}}\n')
    folder.lines(
        "findings.jsonl",
        lambda k, row: row.update(what=f"{USER} is logged in at LAB07") if k == 0 else None,
    )
    folder.measurements(
        lambda k, row: row.update(detail=f"exit 1 of /home/{USER}/a") if k == 5 else None
    )
    text = folder.read("trials/sample/campaign.yaml") + f"# measured by {USER} on {HOST}\n"
    folder.put("trials/sample/campaign.yaml", text)
    folder.put("campaigns/sample/campaign.yaml", text)
    why = f"no warm-up of session 1 was ok, the last one: exit: /home/{USER}/db is not on {HOST}"
    never = {"benchmark": "text", "variant": "gzip-1", "session": 1, "position": 0, "why": why}
    folder.manifest(
        given_up=[never | {"runs": 0, "never_ok": True, "warmups": 0}],
        reason=f"no cell of variant gzip-1 is left: text / gzip-1: {why}",
    )
    return folder


def test_a_whole_trial_loses_its_names_and_still_holds_together(folder):
    planted(folder)
    before = judge(read_trial(folder.trial)).to_dict()
    done = folder.redact()
    whole = folder.whole()
    for name in (USER, HOST, "lab07", "LAB07", "/home/"):
        assert name not in whole
    assert all(done.record.replaced[kind] > 0 for kind in ("user", "host", "paths", "env"))
    assert done.record.what == ("user", "host", "paths", "env")
    assert done.record.left == ()
    # each altered file with the hash that it had
    assert set(done.record.files) == {
        "campaigns/sample/campaign.yaml",
        *(
            f"trials/sample/{name}"
            for name in ("campaign.yaml", "environment.jsonl", "findings.jsonl", "manifest.json")
        ),
        "trials/sample/measurements.jsonl",
        "trials/sample/outputs/0003.stdout",
        "trials/sample/outputs/setup-1.log",
    }
    for name, sha256 in done.record.files.items():
        assert hashlib.sha256(done.before[name]).hexdigest() == sha256
        assert (folder.root / name).read_bytes() != done.before[name]
    # the trial is read, every checksum holds, and the numbers are the same
    after = judge(read_trial(folder.trial)).to_dict()
    assert after["host"] == "redacted-host-1"
    for key in ("candidates", "runs", "sessions", "caution_codes"):
        assert after[key] == before[key]
    manifest = read_manifest(folder.trial)
    assert manifest.given_up[0].never_ok
    for told in (manifest.reason, manifest.given_up[0].why):
        assert "the last one: exit: " in told


def test_one_name_has_one_placeholder_everywhere_and_all_else_keeps_its_bytes(folder):
    planted(folder)
    before = (folder.trial / "measurements.jsonl").read_bytes().splitlines()
    done = folder.redact()
    row = json.loads(folder.read("trials/sample/environment.jsonl").splitlines()[0])
    manifest = read_manifest(folder.trial)
    assert manifest.host == row["host"]["name"] == "redacted-host-1"
    assert manifest.host_id == row["host"]["machine_id_sha256"]
    # with a tag of this redaction: another one's first machine is another machine
    assert re.fullmatch(r"redacted-machine-1-[0-9a-f]{8}", manifest.host_id)
    assert manifest.campaign_path == "/redacted-home-1/proj/campaign.yaml"
    assert row["process"]["cwd"] == "/redacted-home-1/proj"
    log = folder.read("trials/sample/outputs/setup-1.log")
    assert "/redacted-home-1/x.c" in log
    assert "make by redacted-user-1 on redacted-host-1\n" in log  # its short name is the same host
    text = folder.read("trials/sample/outputs/0003.stdout")
    assert text == '{"host": "redacted-host-1", "seconds": 0.10}\n'  # numbers keep their digits
    after = (folder.trial / "measurements.jsonl").read_bytes().splitlines()
    assert [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [3, 5]
    assert all(map(checksum_holds, after))
    rows = [json.loads(line) for line in after]
    # only runs whose output was altered lose its hash
    assert [row["position"] for row in rows if row["stdout_sha256"] is None] == [3]
    assert rows[5]["detail"] == "exit 1 of /redacted-home-1/a"
    # later texts are scrubbed alike
    assert done.scrub(f"/home/{USER}/data on {HOST}") == "/redacted-home-1/data on redacted-host-1"


def test_a_repeated_warm_up_whose_output_was_altered_loses_its_hash(folder):
    # its position is negative, and the file is named w1
    folder.put("trials/sample/outputs/w1.stdout", f"{HOST}\n")
    folder.put("trials/sample/outputs/0003.stdout", "nobody\n")
    folder.measurements(lambda k, row: row.update(position=-1) if k == 0 else None)
    folder.manifest(host=HOST)
    folder.redact()
    rows = [
        json.loads(line) for line in folder.read("trials/sample/measurements.jsonl").splitlines()
    ]
    assert [row["position"] for row in rows if row["stdout_sha256"] is None] == [-1]


def test_nothing_changes_where_nothing_is_to_be_found(folder):
    done = folder.redact("user")
    assert done.record.files == {}
    assert done.record.replaced == {"user": 0}
    assert {p: (folder.root / p).read_bytes() for p in done.before} == done.before


def test_kinds_are_taken_alone(folder):
    planted(folder).redact("user")
    whole = folder.whole()
    assert HOST in whole
    assert USER not in whole
    assert "/home/redacted-user-1/proj" in whole


def test_equal_values_of_variables_stay_equal(folder):
    folder.lines(
        ENVIRONMENT,
        lambda k, row: row.update(
            variables={"A": "one", "B": "two" if k else "one"},
            hidden_variables={"key": "k", "hashes": {"S": "same"}},
        ),
    )
    folder.redact("env")
    rows = [json.loads(x) for x in folder.read("trials/sample/environment.jsonl").splitlines()]
    assert rows[0]["variables"]["A"] == rows[0]["variables"]["B"] == rows[1]["variables"]["A"]
    assert rows[1]["variables"]["B"] != rows[1]["variables"]["A"]
    assert rows[0]["hidden_variables"] == rows[1]["hidden_variables"]
    assert "same" not in json.dumps(rows[0]["hidden_variables"])
    assert "one" not in json.dumps([row["variables"] for row in rows])


# --- hostile names


def test_a_name_inside_a_longer_word_is_left_and_listed(folder):
    folder.manifest(host="lab7")
    path = "trials/sample/outputs/setup-1.log"
    folder.put(path, "lab7 collab7s lab77 lab7_x ulab7\n")
    done = folder.redact("host")
    assert folder.read(path) == "redacted-host-1 collab7s lab77 lab7_x ulab7\n"
    assert done.record.left == (
        "trials/sample/outputs/...: redacted-host-1 inside of longer words, 4 times",
    )


@pytest.mark.parametrize("name", ["vm", "localhost", "runner", "pc", "42"])
def test_a_short_or_common_name_is_replaced_in_its_own_field_only(folder, name):
    folder.manifest(host=name)
    environment(folder, host__name=name, variables__HOSTNAME=name)
    folder.put("trials/sample/outputs/setup-1.log", f"the {name} says {name}\n")
    done = folder.redact("host")
    assert read_manifest(folder.trial).host == "redacted-host-1"
    row = json.loads(folder.read("trials/sample/environment.jsonl").splitlines()[0])
    assert row["variables"]["HOSTNAME"] == "redacted-host-1"
    assert f"the {name} says {name}" in folder.whole()
    assert "trials/sample/outputs/...: redacted-host-1, 2 times" in done.record.left
    read_trial(folder.trial)


@pytest.mark.parametrize("name", ["text", "gzip-1", "logs/gzip-1", "sample"])
def test_a_name_that_is_a_benchmarks_too_leaves_the_data_alone(folder, name):
    folder.manifest(host=name)
    done = folder.redact("host")
    assert read_manifest(folder.trial).host == "redacted-host-1"
    assert judge(read_trial(folder.trial)).to_dict()["candidates"] == answers_of_the_sample()
    if name == "gzip-1":
        assert any(one.startswith("trials/sample/plan.jsonl: ") for one in done.record.left)


def test_the_question_is_not_taken_for_a_name(folder):
    """A host of the name of a metric must not change what is judged."""
    folder.manifest(host="max_rss", judge=[{"at": "2026-11-21T04:12:00Z", "metrics": ["max_rss"]}])
    folder.redact("host")
    assert read_manifest(folder.trial).host == "redacted-host-1"
    assert read_manifest(folder.trial).questions == ("max_rss",)
    assert judge(read_trial(folder.trial)).data.metric == "max_rss"


def test_a_benchmark_that_holds_a_name_keeps_it_in_texts_too(folder):
    def rename(_, row):
        if row["benchmark"] == "text":
            row["benchmark"] = "sort-jdoe"

    folder.measurements(rename)
    folder.lines("plan.jsonl", rename)
    names = ["sort-jdoe", "logs", "json", "table", "binary", "random"]
    folder.manifest(benchmarks=names, campaign_path="/home/jdoe/c.yaml")
    folder.put("trials/sample/outputs/setup-1.log", "sort-jdoe by jdoe\n")
    done = folder.redact()
    assert folder.read("trials/sample/outputs/setup-1.log") == "sort-jdoe by redacted-user-1\n"
    assert read_trial(folder.trial).manifest.benchmarks == tuple(names)
    assert any(
        one.startswith("trials/sample/measurements.jsonl: redacted-user-1")
        for one in done.record.left
    )


def test_keys_are_never_altered_and_told(folder):
    targets = {f"/home/{USER}/bin/prog": "0" * 64}
    folder.manifest(targets=targets, campaign_path=f"/home/{USER}/c.yaml")
    done = folder.redact()
    manifest = json.loads(folder.read("trials/sample/manifest.json"))
    assert manifest["targets"] == targets
    assert manifest["campaign_path"] == "/redacted-home-1/c.yaml"
    assert any(one.startswith("trials/sample/manifest.json: redacted-") for one in done.record.left)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_unicode_names_are_found_in_each_of_their_spellings(folder, form):
    name = unicodedata.normalize(form, "jörgensen")
    folder.put("trials/sample/outputs/setup-1.log", "J\N{COMBINING DIAERESIS} unrelated\n")
    folder.put(
        "trials/sample/outputs/a.log",
        "".join(f"{unicodedata.normalize(f, name)} x\n" for f in ("NFC", "NFD")),
    )
    folder.put("trials/sample/outputs/b.log", json.dumps(f"by {name}") + " is not an object\n")
    folder.lines("findings.jsonl", lambda k, row: row.update(what=f"{name} was here"))
    folder.redact(f"user={name}")
    assert folder.read("trials/sample/outputs/a.log") == "redacted-user-1 x\n" * 2
    assert folder.read("trials/sample/outputs/b.log") == '"by redacted-user-1" is not an object\n'
    rows = [json.loads(line) for line in folder.read("trials/sample/findings.jsonl").splitlines()]
    assert {row["what"] for row in rows} == {"redacted-user-1 was here"}


def test_bytes_that_are_no_text_stay_and_are_told(folder):
    mixed = b"jdoe \xff\xfe caf\xe9 jdoe\n"
    binary = b"\x00\x01jdoe\x00"
    folder.put("trials/sample/outputs/mixed.log", mixed)
    folder.put("trials/sample/outputs/0004.stdout", binary)
    done = folder.redact("user=jdoe")
    path = folder.trial / "outputs"
    assert (path / "mixed.log").read_bytes() == mixed.replace(b"jdoe", b"redacted-user-1")
    assert (path / "0004.stdout").read_bytes() == binary
    assert done.record.left == (
        "trials/sample/outputs/...: redacted-user-1, 1 time",
        "trials/sample/outputs/0004.stdout: binary, names in it are not replaced",
    )


def test_what_a_benchmark_reads_is_not_altered_and_told(folder):
    folder.put("campaigns/sample/data/in.txt", "jdoe\n")
    done = folder.redact("user=jdoe")
    assert folder.read("campaigns/sample/data/in.txt") == "jdoe\n"
    assert done.record.left == ("campaigns/sample/data/in.txt: redacted-user-1, 1 time",)


def test_keys_of_a_campaign_stay_and_its_values_go(folder):
    text = "name: c\nvariants: {jdoe: {home: /home/jdoe/x}}  # jdoe\nnote: [jdoe, 'by jdoe']\n"
    folder.put("campaigns/sample/campaign.yaml", text)
    folder.redact()
    assert folder.read("campaigns/sample/campaign.yaml") == (
        "name: c\nvariants: {jdoe: {home: /redacted-home-1/x}}  # redacted-user-1\n"
        "note: [redacted-user-1, 'by redacted-user-1']\n"
    )


def test_a_damaged_file_is_left_to_its_reader(folder):
    path = folder.trial / "measurements.jsonl"
    torn = path.read_bytes() + b'{"position":144,"detail":"jdoe'
    path.write_bytes(torn)
    folder.put("campaigns/sample/campaign.yaml", "a: [jdoe\nb: {")
    done = folder.redact("user=jdoe")
    assert path.read_bytes() == torn
    assert "campaigns/sample/campaign.yaml: redacted-user-1, 1 time" in done.record.left


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": "\\ud800 é jdoe"}', '{"a": "\\ud800 \\u00e9 redacted-user-1"}'),  # half a sign
        ('{"a": "é \\n jdoe", "jdoe": 1.0}', '{"a": "é \\n redacted-user-1", "jdoe": 1.0}'),
        ('{"a": "\\q jdoe"}\n', '{"a": "\\q redacted-user-1"}\n'),  # no JSON, so it is text
        ("[" * 3000 + '"jdoe"' + "]" * 3000, "[" * 3000 + '"redacted-user-1"' + "]" * 3000),
    ],
)
def test_difficult_documents_lose_names_and_nothing_else(folder, before, after):
    folder.put("trials/sample/outputs/a.json", before)
    folder.redact("user=jdoe")
    assert folder.read("trials/sample/outputs/a.json") == after


def test_a_record_nested_deeply_is_left_and_told(folder):
    # since 3.12 Python counts frames of C apart, and a comprehension has none
    depth = 700 if sys.version_info < (3, 12) else 1200

    def nest(k, row):
        inner: object = "jdoe"
        for _ in range(depth if k == 0 else 0):
            inner = [inner]
        row["what_else"] = inner

    before = str(read_trial(folder.trial))
    folder.lines("findings.jsonl", nest)
    deep = folder.read("trials/sample/findings.jsonl").splitlines()[0]
    done = folder.redact("user=jdoe")
    first, *others = folder.read("trials/sample/findings.jsonl").splitlines()
    assert first == deep
    assert "jdoe" not in "".join(others)
    assert done.record.left == ("trials/sample/findings.jsonl: redacted-user-1, 1 time",)
    assert str(read_trial(folder.trial)) == before


def test_a_program_that_writes_any_number_of_paths_is_no_reason_to_stop(folder, monkeypatch):
    monkeypatch.setattr("analysis.artifact.redacted_names._MOST", 100)
    folder.put("trials/sample/outputs/a.log", "\n".join(f"/home/person{k}/x" for k in range(120)))
    done = folder.redact("user,paths")
    assert "/home/person0/" not in folder.read("trials/sample/outputs/a.log")
    assert any("further home folders are left" in one for one in done.record.left)


# --- files of other tools

FOREIGN = {
    "bench.json": (
        '{"context": {"host_name": "lab07", "date": "2026"},\n "lab07": 1,\n'
        ' "benchmarks": [{"name": "BM_lab07/1", "real_time": 1.50e+00, "user": "jdoe"}]}\n',
        '{"context": {"host_name": "redacted-host-1", "date": "2026"},\n "lab07": 1,\n'
        ' "benchmarks": [{"name": "BM_lab07/1", "real_time": 1.50e+00, "user": "redacted-user-1"}]}\n',
    ),
    "runs.xml": (
        '<r hostname="lab07" date="x"><t>on lab07</t></r>',
        '<r hostname="redacted-host-1" date="x"><t>on redacted-host-1</t></r>',
    ),
    "stat.txt": (
        "# hostname : lab07\n 1.25 seconds user\nuser: 0.12\n",
        "# hostname : redacted-host-1\n 1.25 seconds user\nuser: 0.12\n",
    ),
    "short.json": ('{"hostname": "vm", "x": "vm"}', '{"hostname": "redacted-host-1", "x": "vm"}'),
    "node.json": (
        '{"machine_info": {"node": "lab07", "machine": "x86_64"}}',
        '{"machine_info": {"node": "redacted-host-1", "machine": "x86_64"}}',
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_other_tools_lose_the_names_that_they_say(folder, name):
    before, after = FOREIGN[name]
    shutil.rmtree(folder.trial)
    folder.put(f"sources/{name}", before)
    done = folder.redact("user,host")
    assert folder.read(f"sources/{name}") == after
    assert f"sources/{name}" in done.record.files


# --- what is asked for


def test_given_names_and_folders_are_found(folder):
    path = "trials/sample/outputs/setup-1.log"
    folder.put(path, "cc -I/scratch/secret/include /scratch/secretly at node7.cluster\n")
    folder.redact("host=node7.cluster,paths=/scratch/secret")
    assert folder.read(path) == (
        "cc -I/redacted-folder-1/include /scratch/secretly at redacted-host-1\n"
    )


def test_names_that_are_learned_later_go_from_later_texts():
    scrubber = Scrubber(("host", "paths"), kept=())
    text = "/scratch/secret/x of node7.cluster, /data/me/y"
    assert scrubber.text(text) == text
    scrubber.learn_folder("/scratch/secret")
    assert scrubber.text(text) == "/redacted-folder-1/x of node7.cluster, /data/me/y"
    scrubber.learn("host", "node7.cluster")
    assert scrubber.text(text) == "/redacted-folder-1/x of redacted-host-1, /data/me/y"
    scrubber.learn_home("/data/me")
    assert scrubber.text(text) == "/redacted-folder-1/x of redacted-host-1, /redacted-home-1/y"


def test_data_beside_a_campaign_hide_no_name_of_the_files_behind_them(folder):
    folder.put("campaigns/sample/data/in.txt", '{"hostname": "unmeant"}\n')
    folder.put("sources/a.json", '{"hostname": "lab07", "x": "lab07"}')
    folder.put("trials/sample/outputs/setup-1.log", "on lab07 and unmeant\n")
    folder.redact("host")
    # the first host is the trial's own
    assert folder.read("trials/sample/outputs/setup-1.log") == "on redacted-host-2 and unmeant\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "knows user, host, paths, env"),
        ("users", "not 'users'"),
        ("user,", "not ''"),
        ("env=HOME", "env takes no name"),
        ("host=", "is empty"),
        ("paths=home", "no absolute path"),
        ("paths=/", "no absolute path"),
    ],
)
def test_wrong_kinds_are_refused(folder, text, said):
    with pytest.raises(UsageError, match=said):
        folder.redact(text)


def test_twice_gives_the_same_bytes_and_again_changes_nothing(folder, tmp_path):
    planted(folder)
    shutil.copytree(folder.root, tmp_path / "other")
    folder.redact()
    first = {p.name: p.read_bytes() for p in folder.root.rglob("*") if p.is_file()}
    again = folder.redact()
    assert again.record.files == {}
    shutil.rmtree(folder.root)
    shutil.copytree(tmp_path / "other", folder.root)
    folder.redact()
    assert {p.name: p.read_bytes() for p in folder.root.rglob("*") if p.is_file()} == first


# ---- values of variables: everywhere where they tell something, else in their own fields only


@pytest.mark.parametrize(
    "value",
    """1|yes|hunter|production|en_US.UTF-8|C.UTF-8|1024|3.11.7|x86_64|xterm-256color|/usr/bin:/bin
    |/usr/lib/jvm/java|True|output-mismatch|a b""".replace("\n    ", "").split("|"),
)
def test_a_value_that_stands_everywhere_goes_from_its_own_field_only(folder, value):
    campaign = f"name: x\nvariants:\n  a: {{env: {{A: {json.dumps(value)}}}}}\n# {value}\n"
    folder.put("trials/sample/campaign.yaml", campaign)
    said = f"it is {value} here\n"
    folder.put("trials/sample/outputs/9.stdout", said)
    folder.redact("env")
    assert folder.read("trials/sample/outputs/9.stdout") == said
    after = folder.read("trials/sample/campaign.yaml")
    assert after == campaign.replace(json.dumps(value), "redacted-value-1")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("SEKRET77", "SEKRET77"),
        ('"SEKRET 77"', "SEKRET 77"),
        ("'SEKRET: 77'", "SEKRET: 77"),
        ('"{{SEKRET77}}"', "{SEKRET77}"),
        ("|\n    SEKRET77\n    two\n", "SEKRET77\ntwo"),
        (">-\n    SEKRET77\n    two\n", "SEKRET77 two"),
    ],
)
def test_a_value_goes_however_yaml_writes_it(folder, written, value):
    campaign = f"name: x\nbenchmarks:\n a:\n  env:\n   A: {written}\n   B: b\n  command: [c]\n"
    folder.put("trials/sample/campaign.yaml", campaign)
    folder.put("trials/sample/outputs/9.stdout", f"say <{value}> x{value}x\n")
    folder.redact("env")
    after = yaml.safe_load(folder.read("trials/sample/campaign.yaml"))
    assert list(after["benchmarks"]["a"]["env"]) == ["A", "B"]
    assert after["benchmarks"]["a"]["command"] == ["c"]
    assert "SEKRET" not in folder.whole()
    assert "<redacted-value-" in folder.read("trials/sample/outputs/9.stdout")


def test_what_a_template_makes_is_made_again_of_the_placeholder(folder):
    campaign = (
        "name: x\nvariants:\n  a: {tok: QQ88QQ, few: 4}\n"
        "benchmarks:\n  b: {env: {T: 'x{tok}y', F: '{few}'}, command: [c, '{few}']}\n"
    )
    folder.put("trials/sample/campaign.yaml", campaign)
    cell = {"env": {"T": "xQQ88QQy", "F": "4"}, "command": {"argv": ["c", "4"]}}
    resolved = {"campaign": {"cells": [cell]}}
    folder.put("trials/sample/resolved.json", json.dumps(resolved, indent=2) + "\n")
    done = folder.redact("env")
    after = json.loads(folder.read("trials/sample/resolved.json"))["campaign"]["cells"][0]
    free = yaml.safe_load(folder.read("trials/sample/campaign.yaml"))["variants"]["a"]
    assert after["env"]["T"] == f"x{free['tok']}y" != "xQQ88QQy"
    assert (free["few"], after["env"]["F"], after["command"]["argv"][1]) == (4, "4", "4")
    assert any("a template puts into a variable" in line for line in done.record.left)


@pytest.mark.parametrize("home", ["/x/y/home2/jdoe", "/data/people/jdoe", "/usr/home/jdoe"])
def test_a_home_lies_anywhere(folder, home):
    folder.lines(
        "environment.jsonl", lambda _, row: row["variables"].update({"USER": "jdoe", "A": home})
    )
    folder.put("trials/sample/outputs/9.stderr", f"{home}/src/a.c:3: -I{home}/i {home}\n")
    folder.redact("paths")
    said = folder.read("trials/sample/outputs/9.stderr")
    assert said == "/redacted-home-1/src/a.c:3: -I/redacted-home-1/i /redacted-home-1\n"


def test_a_machine_id_is_known_by_its_hash(folder):
    machine = "0123456789abcdef" * 2
    stored = hashlib.sha256(machine.encode()).hexdigest()
    folder.lines(
        "environment.jsonl", lambda _, row: row["host"].update({"machine_id_sha256": stored})
    )
    other = "fedcba9876543210" * 2  # nobody knows it to be one
    folder.put("trials/sample/outputs/9.stdout", f"id={machine} {other}\n")
    folder.redact("host")
    said = folder.read("trials/sample/outputs/9.stdout")
    assert re.fullmatch(rf"id=redacted-machine-\d-[0-9a-f]{{8}} {other}\n", said)


def test_what_the_packer_knows_counts_only_where_it_stands(folder, tmp_path):
    machine, values = "ab" * 16, ("S3cret+value", "root=UUID=1234-5678")
    known = [
        ("user", "jdoe", None),
        ("user", "somebody", None),
        ("paths", "/strange/place", None),
        ("host", "lab07", None),
        ("host", machine, "machine"),
        ("host", "3eae1594-2102-46e0-abf1-a359893b5082", "boot"),
        *(("env", value, "value") for value in values),
    ]
    other = type(folder)(tmp_path / "other")
    plain, knowing = folder.redact(), other.redact(known=known)
    assert plain.record == knowing.record
    assert folder.whole() == other.whole()  # whoever packs it
    third = type(folder)(tmp_path / "third")
    said = " ".join(["jdoe /strange/place/x lab07", machine, *values])
    third.put("trials/sample/outputs/9.stdout", said)
    third.redact(known=known)
    assert re.fullmatch(
        r"redacted-user-1 /redacted-home-1/x redacted-host-\d redacted-machine-\d-\w{8}"
        r" redacted-value-\d+ redacted-value-\d+",
        third.read("trials/sample/outputs/9.stdout"),
    )


def test_this_machine_and_account_are_known(monkeypatch):
    monkeypatch.setenv("A_TOKEN", "S3cret+value")
    monkeypatch.setenv("HOME", "/strange/place")
    found = known_here()
    assert {("env", "S3cret+value", "value"), ("paths", "/strange/place", None)} < {*found}
    assert [name for kind, name, sort in found if (kind, sort) == ("host", None)] == [
        platform.node()
    ]
    assert "1" not in [name for _, name, _ in found]


def test_builds_lose_the_names_in_their_paths_and_keep_their_checksums(folder):
    planted(folder)
    row = {
        "session": 1,
        "segment": 0,
        "variant": "gzip-1",
        "layout_seed": 5,
        "artifacts": {f"/home/{USER}/out/prog": {"sha256": "a" * 64, "bytes": 9}},
        "programs": {f"/home/{USER}/out/prog": "a" * 64, "build/prog": "b" * 64},
        "seconds": 0.1,
        "log": ["outputs/build-gzip-1-session1-1.log"],
        "at": "t",
    }
    line = encode_checked(row) + b"\n"
    torn = line[:-9]
    (folder.trial / "builds.jsonl").write_bytes(line + torn)
    done = folder.redact()
    (one,) = read_builds(folder.trial)
    assert set(one.artifacts) == {"/redacted-home-1/out/prog"}
    assert set(one.programs) == {"/redacted-home-1/out/prog", "build/prog"}
    assert one.hashes["build/prog"] == "b" * 64
    assert "trials/sample/builds.jsonl" in done.record.files
    # a torn line is the reader's to tell: it stays, and that a name is left in it is listed
    assert (folder.trial / "builds.jsonl").read_bytes().endswith(torn)
    assert any("builds.jsonl" in one for one in done.record.left)
