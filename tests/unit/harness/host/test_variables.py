"""Values by a list of what is allowed; of all other variables the name, and a keyed hash."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from analysis.record.environment import diff
from harness.host.variables import (
    ALLOWED,
    HIDDEN,
    Concealed,
    VariableKey,
    allowed,
    stored_variables,
    variable_key,
)

KEY = VariableKey(secret=b"k" * 32)
# attacks on the first version: of such values 12 were stored, by a list of what is secret
PLANTED = {
    "MY_CONFIG": '{"password": "zq-json"}',
    "MY_PAT": "zq-pat",
    "SLACK": "https://hooks.slack.com/services/T0/B0/zq-slack",
    "NETRC": "machine h login u password zq-netrc",
    "OTP": "zq-otp",
    "DB_COMMAND": "mysql -pzq-mysql db",
    "CREDS": "zq-creds",
    "AZURE_SAS": "https://x.blob.core.windows.net/c?sv=1&sig=zq-sig",
    "STRIPE": "rk_live_zq-stripe",
    "LDAP_BINDPW": "zq-ldap",
    "DBPW": "zq-dbpw",
    "PIN": "zq-pin",
    "DB_PASSWORD": "zq-password",
    "GITHUB_TOKEN": "ghp_zq-github",
    "AWS_SECRET_ACCESS_KEY": "zq-aws",
    "DATABASE_URL": "postgres://u:zq-url@h/db",
    "EXTRA_FLAGS": "-DKEY=zq-flag",
    "HTTP_HEADER": "Authorization: Bearer zq-bearer",
    "MYSQL_PWD": "zq-pwd",
    "OPENAI": "sk-zq-openai",
    "SSH_PASSPHRASE": "zq-passphrase",
    "OAUTH_REFRESH": "zq-oauth",
    "USER": "zq-user",
    "EDITOR_TITLE": "zq-everyday",
}
SECRET = re.compile(r"zq-\w+")


@pytest.mark.parametrize("name", PLANTED)
def test_no_value_outside_the_list_is_stored(name):
    stored = stored_variables(PLANTED, KEY, None)
    assert stored["variables"] == {}
    hidden = stored["hidden_variables"]
    message = f"{name}={PLANTED[name]}".encode()
    assert hidden["hashes"][name] == hmac.new(b"k" * 32, message, hashlib.sha256).hexdigest()
    assert not SECRET.search(json.dumps(stored))


@example({"0": "hidden_varia"})  # which the record has of itself
@given(st.dictionaries(st.text(st.characters(codec="ascii"), min_size=1), st.text(min_size=12)))
def test_what_is_not_listed_is_not_stored_whatever_it_is_called(variables):
    stored = json.dumps(stored_variables(variables, KEY, None), ensure_ascii=False)
    listed = allowed(variables)
    elsewhere = (*variables, *listed.values(), json.dumps(stored_variables({}, KEY, None)))
    for name, value in variables.items():
        if name not in listed and not any(value in other for other in elsewhere):
            assert json.dumps(value, ensure_ascii=False)[1:-1] not in stored


@pytest.mark.parametrize(
    "name", ["LC_PASSWORD", "LC_API_TOKEN", "OMP_SECRET", "MALLOC_KEY", "LC_DBPW", "MKL_pwd"]
)
def test_a_name_that_speaks_of_a_secret_is_hidden_whatever_list_lets_it_in(name):
    # ssh forwards LC_*, so they are used to hand secrets over: three of three trials had them
    stored = stored_variables({name: "zq-listed"}, KEY, None)
    assert stored["variables"] == {}
    assert name in stored["hidden_variables"]["hashes"]
    assert Concealed({name: "zq-listed"}).text("x zq-listed") == f"x <value of {name}>"


def test_no_name_of_the_list_speaks_of_a_secret():
    names = {name for names in ALLOWED.values() for name in names}
    assert allowed(dict.fromkeys(names, "x")).keys() == names


def test_listed_values_are_stored_without_what_looks_like_a_secret():
    given = {
        "PATH": "/home/ada/bin:/bin",
        "LC_ALL": "C",
        "OMP_NUM_THREADS": "4",
        "CFLAGS": "-O2 -DAPI_KEY=hunter2",
        "JAVA_TOOL_OPTIONS": "-Xmx1g -Dproxy=http://me:hunter2@h",
    }
    assert stored_variables(given, KEY, "/home/ada")["variables"] == {
        "CFLAGS": f"-O2 -DAPI_KEY={HIDDEN}",
        "JAVA_TOOL_OPTIONS": f"-Xmx1g -Dproxy=http://{HIDDEN}@h",
        "LC_ALL": "C",
        "OMP_NUM_THREADS": "4",
        "PATH": "~/bin:/bin",
    }


def test_the_documentation_has_the_same_list():
    text = (Path(__file__).parents[4] / "docs" / "environment.md").read_text()
    for about, names in ALLOWED.items():
        assert f"| {about} | {', '.join(f'`{name}`' for name in names)} |" in text


# --- the key -----------------------------------------------------------------------------------


@pytest.fixture
def state(tmp_path):
    return {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}


@pytest.fixture
def place(tmp_path):
    return tmp_path / "state" / "fairtrial" / "key"


def test_the_key_is_made_once_and_for_its_user_alone(state, place):
    before = os.umask(0)
    try:
        key = variable_key(state)
    finally:
        os.umask(before)
    assert key.secret == place.read_bytes()
    assert len(key.secret) == 32
    assert place.stat().st_mode & 0o7777 == 0o600
    assert place.parent.stat().st_mode & 0o077 == 0
    assert variable_key(state) == key
    assert [path.name for path in place.parent.iterdir()] == ["key"]


def test_a_key_that_was_read_is_closed(state, place, leaks):
    for _ in range(2):  # it is made, and found
        variable_key(state)
        assert not leaks(place.parent)


def test_without_a_state_folder_the_key_is_below_home(tmp_path):
    variable_key({"HOME": str(tmp_path), "XDG_STATE_HOME": "relative/is/ignored"})
    assert (tmp_path / ".local" / "state" / "fairtrial" / "key").exists()


def test_the_name_of_a_key_says_nothing_about_it(state):
    key = variable_key(state)
    assert key.name == variable_key(state).name
    assert key.name not in key.secret.hex()
    assert VariableKey().name is None


def wrong_mode(place):
    place.write_bytes(b"k" * 32)
    place.chmod(0o644)


def symlink(place):
    place.with_name("other").write_bytes(b"k" * 32)
    place.with_name("other").chmod(0o600)
    place.symlink_to("other")


def torn(place):
    place.write_bytes(b"k" * 31)
    place.chmod(0o600)


def fifo(place):
    os.mkfifo(place, 0o600)


def folder(place):
    place.mkdir(mode=0o700)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (wrong_mode, "its mode is 0644, not 0600"),
        (symlink, "it is a symbolic link"),
        (torn, "it does not hold 32 bytes"),
        (fifo, "it is not a regular file"),
        (folder, "it is not a regular file"),
    ],
)
def test_a_key_that_cannot_be_trusted_is_not_used(state, place, spoil, problem):
    place.parent.mkdir(parents=True)
    spoil(place)
    key = variable_key(state)
    assert (key.secret, key.problem, key.where) == (None, problem, str(place))
    assert key.fix.startswith("delete it")
    assert stored_variables({"PIN": "1234"}, key, None)["hidden_variables"] == {
        "key": None,
        "hashes": {"PIN": None},
    }


def test_a_home_that_cannot_be_written_gives_no_key(tmp_path):
    (tmp_path / "state").write_text("a file in the way")  # root may write into any folder
    key = variable_key({"XDG_STATE_HOME": str(tmp_path / "state")})
    assert key.secret is None
    assert key.problem == "Not a directory"
    assert "writable" in key.fix


def test_a_home_that_is_not_there_is_not_made(tmp_path):
    assert "neither" in variable_key({"HOME": str(tmp_path / "absent")}).problem
    assert not (tmp_path / "absent").exists()


# --- changes -----------------------------------------------------------------------------------


def record(variables, key=KEY):
    return stored_variables(variables, key, None)


def said(a, b):
    return [change.what for change in diff(a, b)]


def test_a_change_of_a_hidden_value_is_noticed_and_not_shown():
    changes = diff(record({"PIN": "1234"}), record({"PIN": "9876"}))
    assert [change.what for change in changes] == [
        "the variable PIN changed (its value is not stored)"
    ]
    assert [change.key for change in changes] == ["variables.PIN"]
    assert "9876" not in json.dumps([change.to_dict() for change in changes])
    assert said(record({"PIN": "1234"}), record({"PIN": "1234"})) == []


def test_hidden_variables_come_and_go():
    assert said(record({}), record({"PIN": "1"})) == ["the variable PIN is new"]
    assert said(record({"PIN": "1"}), record({})) == ["the variable PIN is gone"]


def test_hashes_of_two_keys_are_not_compared_and_that_is_said():
    other = VariableKey(secret=b"o" * 32)
    (what,) = said(record({"PIN": "1"}), record({"PIN": "1"}, other))
    assert "another key" in what
    assert said(record({"PIN": "1"}, VariableKey()), record({"PIN": "2"}, VariableKey())) == []


def test_a_record_of_the_first_version_showed_what_is_hidden_now():
    first = {"variables": {"LANG": "C", "EDITOR": "vi"}}
    now = record({"LANG": "C", "EDITOR": "vi", "NEW": "1"})
    assert said(first, now) == ["the variable NEW is new"]


# --- texts of programs -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("cannot log in with hunter2", "cannot log in with <value of LOGIN>"),
        ("mysql -psesame-open", "mysql -p<value of DOOR>"),
        ("hunter22 is another word", "hunter22 is another word"),
        ("exit code 1", "exit code 1"),
        ("/usr/bin/x: no such file", "/usr/bin/x: no such file"),
        ("", ""),
    ],
)
def test_hidden_values_are_taken_out_of_texts(text, left):
    variables = {"LOGIN": "hunter2", "DOOR": "sesame-open", "ONE": "1", "PATH": "/usr/bin"}
    assert Concealed(variables).text(text) == left


def test_nothing_hidden_takes_nothing_out():
    assert Concealed({}).text("as it was") == "as it was"
