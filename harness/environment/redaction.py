"""Takes secrets and the home folder out of texts that are stored about an environment."""

from __future__ import annotations

import re

HIDDEN = "<redacted>"

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|PRIVATE|SIGNATURE|BEARER|JWT|WEBHOOK|DSN"
    r"|CONNECTION_?STRING|(?<=_)PWD$|(?<=_)PIN$",
    re.IGNORECASE,
)
# Values that are secrets whatever their name: well-known prefixes of tokens.
_SECRET_VALUE = re.compile(
    r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|pypi-|npm_|hf_|AKIA|ASIA|AIza|eyJ)"
    r"[A-Za-z0-9_.-]{12,}|(?<=\bbearer )\S{8,}",
    re.IGNORECASE,
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY")
_OPTION = re.compile(
    r"(--?[\w-]*(?:token|secret|passw(?:or)?d|passphrase|api-?key|cookie)[\w-]*\s+)[^\s-]\S*",
    re.IGNORECASE,
)
_URL_LOGIN = re.compile(r"(?<=://)[^/\s@]+@")
# NAME=value or --name=value inside a longer text, such as CFLAGS or the boot arguments.
_ASSIGNMENT = re.compile(r"""(?P<name>[\w.-]+)=(?P<value>"[^"]*"|'[^']*'|\S+)""")


def redact_text(text: str, home: str | None) -> str:
    """Take logins out of URLs, and secrets and the home directory out of a text."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")  # undecodable bytes
    if _PRIVATE_KEY.search(text):
        return HIDDEN
    text = _URL_LOGIN.sub(f"{HIDDEN}@", text)
    text = _SECRET_VALUE.sub(HIDDEN, text)
    text = _ASSIGNMENT.sub(_assignment, text)
    text = _OPTION.sub(rf"\1{HIDDEN}", text)
    if home and len(home.strip("/")) > 0:
        text = re.sub(rf"(?<![\w.-]){re.escape(home.rstrip('/'))}(?![\w.-])", "~", text)
    return text


def _assignment(match: re.Match[str]) -> str:
    if _SECRET_NAME.search(match.group("name")):
        return f"{match.group('name')}={HIDDEN}"
    return match.group(0)
