"""Secrets of every kind that is known, in texts of every shape: none of them is stored.

Authority: docs/environment.md. Each kind of writing one stands here once; what surrounds it is drawn.
"""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, strategies as st

from harness.host.variables import HIDDEN, names_a_secret, redact_text

MARK = "zq"  # of each part of a secret: no word of the surroundings has it
PARTS = st.text("abcXYZ019", min_size=1, max_size=6).map(lambda text: MARK + text)
PLAIN = PARTS
AT = st.lists(PARTS, min_size=1, max_size=3).map("@".join)
BLANKS = st.lists(PARTS, min_size=1, max_size=3).map(" ".join)
ODD = st.lists(PARTS | st.sampled_from([" ", "'", '"', "\\", "=", "$", "&"]), max_size=6).map(
    "".join
)
NAMES = st.sampled_from(
    [
        "PW",
        "pwd",
        "PWD_X",
        "DBPW",
        "API_KEY",
        "api-key",
        "TOKEN",
        "access_token",
        "client.secret",
        "PASSWORD",
        "passwd",
        "Passphrase",
        "CREDENTIALS",
        "AUTH",
        "cookie",
        "signing_key",
        "private_key",
        "jwt",
        "DSN",
        "db_pwd",
        "MY_PIN",
    ]
)
OPTIONS = st.sampled_from(
    [
        "--token",
        "-storepass",
        "--password",
        "--api-key",
        "--client-secret",
        "-passin",
        "--cookie",
        "--auth-token",
        "-pw",
    ]
)
HEADS = st.sampled_from(
    ["Authorization: Basic ", "Authorization: Bearer ", "Proxy-Authorization: ", "X-Api-Key: "]
)


def escaped(secret: str) -> str:
    """Write a word with a backslash before what a shell would take for something else."""
    return "".join(c if c.isalnum() else f"\\{c}" for c in secret)


KINDS = {
    "assignment": st.builds("{}={}".format, NAMES, PLAIN),
    "definition": st.builds("-D{}={}".format, NAMES, PLAIN),
    "typed definition": st.builds("-D{}:STRING={}".format, NAMES, PLAIN),
    "make assignment": st.builds("{} := {}".format, NAMES, PLAIN),
    "quoted value": st.builds("{}={}".format, NAMES, (BLANKS | ODD).map(shlex.quote)),
    "quoted with double": st.builds('{}="{}"'.format, NAMES, BLANKS),
    "quoted whole": st.builds("'-D{}={}'".format, NAMES, BLANKS),
    "escaped": st.builds("-D{}={}".format, NAMES, (BLANKS | ODD).map(escaped)),
    "nested": st.builds("MAKEFLAGS={}={}".format, NAMES, BLANKS.map(shlex.quote)),
    "option": st.builds("{} {}".format, OPTIONS, PLAIN),
    "option with =": st.builds("{}={}".format, OPTIONS, PLAIN),
    "option quoted": st.builds("{} {}".format, OPTIONS, (BLANKS | ODD).map(shlex.quote)),
    "login": st.builds("https://user:{}@host/path".format, AT),
    "login of a token": st.builds("https://{}@host/path".format, PLAIN),
    "login with a slash": st.builds("ftp://user:{}/{}@host".format, PLAIN, PLAIN),
    "login of an option": st.builds("-u user:{}".format, PLAIN),
    "header": st.builds("-H '{}{}'".format, HEADS, BLANKS),
    "json": st.builds('{{"{}": "{}"}}'.format, NAMES, BLANKS),
    "yaml": st.builds("{}: {}\n".format, NAMES, PLAIN),
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


@given(NAMES)
def test_the_names_of_secrets_are_known_as_such(name):
    assert names_a_secret(name)
    assert names_a_secret(f"LC_{name}")
    assert not names_a_secret("PWD")
