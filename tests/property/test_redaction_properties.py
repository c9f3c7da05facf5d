"""Secrets of every kind, planted at every place: each is gone from the archive, or its place is named.

Authority: the bytes of the archive, all packed files of it opened.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import runpy
import shlex
import string
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from analysis.artifact import bundle as answers
from analysis.artifact.bundle import pack_bundle
from analysis.artifact.describing import PackingRequest
from analysis.artifact.recomputing import Recomputed
from analysis.artifact.redacted import (
    decoded,
    encoded,
    json_text,
    plain_text,
    redact_folder,
    yaml_text,
)
from analysis.artifact.redacted_names import KnownName, Scrubber, wanted_of
from analysis.record.manifest import read_manifest
from analysis.record.shapes import encode, encode_checked
from harness.host.variables import HIDDEN, names_a_secret, redact_text
from tests.examples import drawn_seed, examples

signed = SimpleNamespace(
    **runpy.run_path(
        str(Path(__file__).parents[1] / "unit/analysis/artifact/redacting/conftest.py")
    )
)
ALL = "user,host,paths,env"


class Secrets:
    """Makes secrets that nothing else holds, and remembers them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.known: dict[str, str] = {}

    def make(self, what: str, length: int = 9) -> str:
        signs = string.ascii_letters + string.digits
        word = "".join(self.random.choices(signs, k=length))
        self.known[what] = f"{word[:-2]}Q7"
        return self.known[what]

    def say(self, what: str, text: str) -> str:
        self.known[what] = text
        return text


def planted(folder: Path, secrets: Secrets) -> tuple[Path, Path, list[KnownName]]:
    """Make a campaign's folder, and a trial of it, that hold some forty secrets."""
    import hashlib

    make = secrets.make
    user = secrets.say("user", f"u{make('part of user').lower()}")
    host = secrets.say("host", f"h{make('part of host').lower()}.example.org")
    secrets.say("short host", host.partition(".")[0])
    home = secrets.say("home outside /home", f"/x/{make('part of home')}/home2/{user}")
    project = f"{home}/{make('project')}"
    machine = secrets.say(
        "machine id", hashlib.md5(host.encode(), usedforsecurity=False).hexdigest()
    )
    other_machine = secrets.say(
        "packer's machine id", hashlib.md5(user.encode(), usedforsecurity=False).hexdigest()
    )
    boot = secrets.say("boot id", "3eae1594-2102-46e0-abf1-a359893b5082")
    arguments = secrets.say(
        "boot arguments", f"quiet root=UUID={make('root of boot arguments', 20)} splash"
    )
    values = {
        name: make(name)
        for name in (
            "variant env",
            "benchmark env",
            "set env",
            "template value",
            "list of a matrix",
            "recorded variable",
            "packer's variable",
            "packer's variable in a log",
        )
    }
    values["with signs"] = secrets.say("with signs", f"p@ss w\"{make('part')}'ö")
    values["inside of a word"] = make("inside of a word", 12)
    values["six signs"] = make("six signs", 6)
    for sign in "-./:=,+#é日":  # in the midst
        what = f"with {sign}"
        values[what] = secrets.say(what, f"{make(f'before {sign}', 6)}{sign}{make('behind', 6)}")
    place = folder / "campaign"
    place.mkdir(parents=True)
    campaign = {
        "name": "red",
        "description": f"by {user} on {host}",
        "variants": {
            "gzip-6": {
                "env": {
                    "A": values["variant env"],
                    "SIGNS": values["with signs"],
                    "IN": values["inside of a word"],
                    "SIX": values["six signs"],
                    **{f"V{k}": values[f"with {sign}"] for k, sign in enumerate("-./:=,+#é日")},
                }
            },
            "gzip-1": {"token": values["template value"], "env": {"N": "1"}},
            "m-{key}": {"matrix": {"key": [values["list of a matrix"]]}, "env": {"K": "{key}"}},
        },
        "benchmarks": {
            "text": {
                "command": ["sh", "-c", f"echo {values['benchmark env']}", f"{project}/data"],
                "env": {"B": values["benchmark env"], "T": "x{token}y"},
            }
        },
        "isolation": {"environment": {"set": {"S": values["set env"]}}},
        "hooks": {"setup": [["sh", "-c", f"login {values['set env']} {project}"]]},
    }
    text = f"# {user} {host} {values['variant env']} {project}\n{json.dumps(campaign, indent=1)}\n"
    (place / "campaign.yaml").write_text(text)
    (place / "bundle.yaml").write_text(
        f"title: On {host} with {values['variant env']}\n"
        f"description: In {project}, {user} and {values['set env']}\n"
        f"authors: [{{name: Ada {user}}}]\nlicense: MIT\nfiles: ['*.txt', '*.bin', '*.gz']\n"
    )
    (place / "data.txt").write_text(f"{host} {values['variant env']}\n")
    (place / "data.bin").write_bytes(b"\0\1" + user.encode())
    (place / "data.gz").write_bytes(gzip.compress(values["set env"].encode()))
    (place / f"{values['benchmark env']}.txt").write_text("a name\n")

    lines = [
        *(f"{name} = {value};" for name, value in values.items()),
        f"{user}@{host.upper()} {host.partition('.')[0]} {machine} {other_machine} {boot}",
        f"BOOT {arguments}",
        f"{project}/src:{home}/.cache -I{home}/include x{values['inside of a word']}x",
        f"token=x{values['template value']}y",
        json.dumps({"a": values["with signs"], "b": [project, host]}),
    ]
    trial = signed.Folder(folder / "staged")
    trial.manifest(
        host=host, campaign_path=f"{project}/campaign.yaml", variants=["gzip-6", "gzip-1"]
    )
    for name in ("1.stdout", "1.stderr", "setup-1.log", "build-gzip-1.log"):
        trial.put(f"trials/sample/outputs/{name}", "\n".join(lines) + "\n")
    trial.put("trials/sample/outputs/2.stdout", b"\0\0" + host.encode())
    trial.put("trials/sample/campaign.yaml", text)

    def environment(_: int, row: dict[str, Any]) -> None:
        row["host"] |= {
            "name": host,
            "machine_id_sha256": hashlib.sha256(machine.encode()).hexdigest(),
            "boot_id": boot,
        }
        row["kernel"]["boot_arguments"] = arguments
        row["process"]["cwd"] = project
        row["variables"] = {
            "USER": user,
            "R": values["recorded variable"],
            "S": values["with signs"],
            "PATH": f"{home}/bin:/usr/bin",
        }

    trial.lines("environment.jsonl", environment, encode)

    def row(number: int, one: dict[str, Any]) -> None:
        if number == 3:
            one["note"] = f"{host} {values['set env']}"

    trial.lines("measurements.jsonl", row, encode_checked)
    cell = {
        "benchmark": "text",
        "variant": "gzip-6",
        "command": {"argv": campaign["benchmarks"]["text"]["command"]},
        "env": {"A": values["variant env"], "SIGNS": values["with signs"], "N": "1"}
        | {"B": values["benchmark env"], "T": f"x{values['template value']}y"},
    }
    resolved = {
        "defaults": {},
        "campaign": {
            "name": "red",
            "cells": [cell],
            "isolation": {"set_environment": {"S": values["set env"]}},
            "hooks": {"setup": [{"argv": campaign["hooks"]["setup"][0]}]},
        },
    }
    trial.put("trials/sample/resolved.json", json.dumps(resolved, indent=2) + "\n")
    known = [
        ("user", user, None),
        ("paths", home, None),
        ("host", host, None),
        ("host", other_machine, "machine"),
        ("env", values["packer's variable"], "value"),
        ("env", values["packer's variable in a log"], "value"),
    ]
    return place, trial.trial, known


def opened(data: bytes, name: str) -> dict[str, bytes]:
    """Give a file and all that is packed in it."""
    found: dict[str, bytes] = {}
    try:
        if zipfile.is_zipfile(io.BytesIO(data)):
            with zipfile.ZipFile(io.BytesIO(data)) as file:
                for one in file.namelist():
                    found |= opened(file.read(one), f"{name}!{one}")
        elif data[:2] == b"\x1f\x8b":
            found |= opened(gzip.decompress(data), f"{name}!")
        else:
            with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                for member in tar:
                    inner = tar.extractfile(member)
                    assert inner is not None
                    found |= opened(inner.read(), f"{name}!{member.name}")
    except tarfile.TarError:
        pass
    return found or {name: data}


def places_of(secret: str, files: dict[str, bytes]) -> set[str]:
    """Give the files that hold a secret, as it is or as JSON writes it, in whatever case."""
    spelled = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    needles = {one.casefold().encode() for one in spelled} | {one.encode() for one in spelled}
    held = set()
    for name, data in files.items():
        plain = data.decode("utf-8", "replace").casefold().encode()
        if any(needle in data or needle in plain for needle in needles):
            held.add(name)
        if any(needle in name.casefold().encode() for needle in needles):
            held.add(f"name of {name}")
    return held


@pytest.mark.hypothesis  # `make search` plants others
@pytest.mark.parametrize("number", range(2))
def test_each_secret_is_gone_or_its_place_is_named(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recompute(command: object, folder: Path, _: object) -> Recomputed:
        """Print what a report would quote: everything that is in the trial."""
        texts = [path.read_text(errors="replace") for path in sorted(folder.glob("trials/*/*.*"))]
        return Recomputed(
            stdout=json.dumps({"command": command, "all": texts}).encode(), exit_code=0
        )

    monkeypatch.setattr(answers, "recompute", recompute)
    secrets = Secrets(seed := drawn_seed() + number)
    place, trial, known = planted(tmp_path, secrets)
    assert len(secrets.known) >= 40
    claims = tmp_path / "claims.yaml"
    claims.write_text(
        f"claims:\n- text: on {secrets.known['host']} with {secrets.known['set env']}\n"
        f"  command: verdict {trial}\n  value: /command/0\n  is: word\n  expected: verdict\n"
    )
    done = pack_bundle(
        PackingRequest(
            sources=[str(trial)],
            claims=claims,
            campaign=place / "campaign.yaml",
            redact=lambda root: redact_folder(root, wanted_of(ALL), known),
        ),
        tmp_path / "a.zip",
    )
    assert done.contents.redacted is not None
    left = done.contents.redacted.left
    files = {
        name.partition("!")[2]: data
        for name, data in opened((tmp_path / "a.zip").read_bytes(), "a.zip").items()
        if "!" in name and ".whl" not in name
    }
    assert "campaigns/sample-20261121-084355-da5a/data.gz!" in files
    assert any(name.endswith("outputs.tar!1.stderr") for name in files)
    untold = {}
    for what, secret in secrets.known.items():
        for file in places_of(secret, files):
            if not is_told(file, left):
                untold.setdefault(what, set()).add(file)
    assert untold == {}, seed
    # where nothing is left on purpose, nothing is left at all
    for name in ("1.stdout", "1.stderr", "setup-1.log", "build-gzip-1.log"):
        (output,) = (one for one in files if one.endswith(f"outputs.tar!{name}"))
        text = files[output].decode()
        assert [
            what for what, one in secrets.known.items() if one.casefold() in text.casefold()
        ] == []
    stored = json.loads(files["trials/sample-20261121-084355-da5a/resolved.json"])
    env = stored["campaign"]["cells"][0]["env"]
    assert all(value.startswith(("redacted-value-", "xredacted-value-")) for value in env.values())
    assert list(env) == ["A", "SIGNS", "N", "B", "T"]
    # the trial still holds together, and a second one gives the same
    read_manifest(tmp_path / "staged/trials/sample")
    assert not [line for line in left if any(one in line for one in secrets.known.values())]


def is_told(file: str, left: tuple[str, ...]) -> bool:
    """Tell whether what is left names a place: the file, its trial's outputs, or the names of files."""
    if file.startswith("name of ") or file == "SHA256SUMS":
        return any(line.startswith("names of files: ") for line in left)
    file = file.replace("outputs.tar!", "outputs/").partition("!")[0]
    folder = "/".join((*file.split("/")[:3], "..."))
    return any(line.startswith((f"{file}: ", f"{folder}: ")) for line in left)


# --- What must hold of names taken out of documents whatever these are


NAMES = ("jdoe", "lab07.example.org", "jörgensen")
WORDS = st.sampled_from(
    [*NAMES, "lab07", "LAB07", "jdoes", "x_jdoe", "/home/jdoe/x", "sort-jdoe", "a", "\\", '"', "é"]
)
TEXTS = st.lists(WORDS | st.text(max_size=3), max_size=5).map(" ".join)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
DOCUMENTS = st.recursive(
    TEXTS | NUMBERS | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
SETTINGS = settings(max_examples=examples(150), deadline=None)


def scrubber() -> Scrubber:
    found = Scrubber(("user", "host", "paths"), ("sort-jdoe",))
    for name, kind in zip(NAMES, ("user", "host", "user"), strict=True):
        found.learn(kind, name)  # type: ignore[arg-type]
    return found


def shape(value: Any) -> Any:
    """Give a document with its strings taken out, and keys and numbers kept as they are."""
    if isinstance(value, str):
        return "..."
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return repr(value)


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [one for item in value.values() for one in strings(item)]
    return [one for item in value for one in strings(item)] if isinstance(value, list) else []


def left(text: str) -> bool:
    """Tell whether a name stands there as a whole word; a benchmark's name may hold one."""
    plain = re.sub(r"(?<!\w)sort-jdoe(?!\w)", "", text)
    exact = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", plain) for name in NAMES)
    return exact or re.search(r"(?i)(?<!\w)lab07(?!\w)", plain) is not None


@given(DOCUMENTS, st.booleans())
@SETTINGS
def test_json_keeps_keys_and_numbers_and_loses_names(document: Any, ascii_only: bool) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=1)
    one = scrubber()
    after = json_text(one, text)
    assert shape(json.loads(after)) == shape(document)
    assert not any(map(left, strings(json.loads(after))))
    assert json_text(one, after) == after
    if not any(one.touches(string) for string in strings(document)):
        assert after == text  # and no byte


@given(TEXTS)
@SETTINGS
def test_texts_lose_whole_words_and_nothing_else(text: str) -> None:
    one = scrubber()
    after = one.text(text)
    assert not left(after)
    assert one.text(after) == after
    unnamed = re.sub(r"/?redacted-[a-z]+-\d+", "", after)
    for word in re.findall(r"jdoes|x_jdoe|sort-jdoe", text):
        assert word in unnamed or left(word)


@given(st.dictionaries(st.sampled_from(["jdoe", "host", "a-b"]), TEXTS.filter(str.isprintable)))
@SETTINGS
def test_yaml_keeps_its_keys(document: dict[str, str]) -> None:
    import yaml

    text = yaml.safe_dump(document, allow_unicode=True) + "# by jdoe\n"
    found = yaml.safe_load(yaml_text(scrubber(), text))
    assert list(found or {}) == sorted(document)
    assert not any(map(left, strings(found)))


@given(st.binary(max_size=60) | TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")))
@SETTINGS
def test_bytes_without_names_come_back(data: bytes) -> None:
    text = decoded(data)
    if text is None:
        return
    assert encoded(text) == data
    one = scrubber()
    if not one.touches(text):
        assert encoded(plain_text(one, text)) == data


# --- Secrets of every kind that is known, in texts of every shape: none of them is stored
#
# Authority: docs/environment.md. Each kind of writing one stands here once; what surrounds it is drawn.


MARK = "zq"  # of each part of a secret: no word of the surroundings has it
PARTS = st.text("abcXYZ019", min_size=1, max_size=6).map(lambda text: MARK + text)
PLAIN = PARTS
AT = st.lists(PARTS, min_size=1, max_size=3).map("@".join)
BLANKS = st.lists(PARTS, min_size=1, max_size=3).map(" ".join)
ODD = st.lists(PARTS | st.sampled_from([" ", "'", '"', "\\", "=", "$", "&"]), max_size=6).map(
    "".join
)
SECRETS_PROPERTIES_NAMES = st.sampled_from(
    [
        *("PW", "pwd", "PWD_X", "DBPW", "API_KEY", "api-key", "TOKEN", "access_token"),
        *("client.secret", "PASSWORD", "passwd", "Passphrase", "CREDENTIALS", "AUTH", "cookie"),
        *("signing_key", "private_key", "jwt", "DSN", "db_pwd", "MY_PIN"),
    ]
)
OPTIONS = st.sampled_from(
    [
        *("--token", "-storepass", "--password", "--api-key", "--client-secret", "-passin"),
        *("--cookie", "--auth-token", "-pw"),
    ]
)
HEADS = st.sampled_from(
    ["Authorization: Basic ", "Authorization: Bearer ", "Proxy-Authorization: ", "X-Api-Key: "]
)


def escaped(secret: str) -> str:
    """Write a word with a backslash before what a shell would take for something else."""
    return "".join(c if c.isalnum() else f"\\{c}" for c in secret)


KINDS = {
    "assignment": st.builds("{}={}".format, SECRETS_PROPERTIES_NAMES, PLAIN),
    "definition": st.builds("-D{}={}".format, SECRETS_PROPERTIES_NAMES, PLAIN),
    "typed definition": st.builds("-D{}:STRING={}".format, SECRETS_PROPERTIES_NAMES, PLAIN),
    "make assignment": st.builds("{} := {}".format, SECRETS_PROPERTIES_NAMES, PLAIN),
    "quoted value": st.builds(
        "{}={}".format, SECRETS_PROPERTIES_NAMES, (BLANKS | ODD).map(shlex.quote)
    ),
    "quoted with double": st.builds('{}="{}"'.format, SECRETS_PROPERTIES_NAMES, BLANKS),
    "quoted whole": st.builds("'-D{}={}'".format, SECRETS_PROPERTIES_NAMES, BLANKS),
    "escaped": st.builds("-D{}={}".format, SECRETS_PROPERTIES_NAMES, (BLANKS | ODD).map(escaped)),
    "nested": st.builds(
        "MAKEFLAGS={}={}".format, SECRETS_PROPERTIES_NAMES, BLANKS.map(shlex.quote)
    ),
    "option": st.builds("{} {}".format, OPTIONS, PLAIN),
    "option with =": st.builds("{}={}".format, OPTIONS, PLAIN),
    "option quoted": st.builds("{} {}".format, OPTIONS, (BLANKS | ODD).map(shlex.quote)),
    "login": st.builds("https://user:{}@host/path".format, AT),
    "login of a token": st.builds("https://{}@host/path".format, PLAIN),
    "login with a slash": st.builds("ftp://user:{}/{}@host".format, PLAIN, PLAIN),
    "login of an option": st.builds("-u user:{}".format, PLAIN),
    "header": st.builds("-H '{}{}'".format, HEADS, BLANKS),
    "json": st.builds('{{"{}": "{}"}}'.format, SECRETS_PROPERTIES_NAMES, BLANKS),
    "yaml": st.builds("{}: {}\n".format, SECRETS_PROPERTIES_NAMES, PLAIN),
    "query": st.builds("host/x?sv=1&sig={}".format, PLAIN),
    "netrc": st.builds("machine h login u password {}".format, PLAIN),
    "github": st.builds("ghp_{}0123456789abcdef".format, PLAIN),
    "private key": st.builds("-----BEGIN OPENSSH PRIVATE KEY-----\n{}".format, PLAIN),
}
AROUND = st.lists(
    st.sampled_from(
        ["-O2", "-march=native", "X=1", "/usr/bin:/bin", "a", "--verbose", "cc", "http://h:80/"]
    ),
    max_size=3,
).map(" ".join)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), before=AROUND, after=AROUND)
def test_no_part_of_a_secret_stays_in_a_text(kind, data, before, after):
    planted = data.draw(KINDS[kind])
    text = f"{before} {planted} {after}".strip()
    found = redact_text(text, "/home/ada")
    assert MARK not in found, (text, found)
    assert found.startswith(before) or found == HIDDEN  # what stands before it stays
    assert redact_text(found, "/home/ada") == found


@given(AROUND, AROUND)
def test_texts_without_one_stay_as_they_are(before, after):
    text = f"{before} {after}"
    assert redact_text(text, "/home/ada") == text


@given(st.text())
def test_any_text_can_be_looked_through(text):
    assert isinstance(redact_text(text, None), str)


@given(SECRETS_PROPERTIES_NAMES)
def test_the_names_of_secrets_are_known_as_such(name):
    assert names_a_secret(name)
    assert names_a_secret(f"LC_{name}")
    assert not names_a_secret("PWD")
