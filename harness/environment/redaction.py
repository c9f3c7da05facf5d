"""Takes secrets and the home folder out of texts that are stored about an environment."""

from __future__ import annotations

import re

HIDDEN = "<redacted>"

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|PRIVATE|SIGNATURE|BEARER|JWT|WEBHOOK|DSN"
    r"|CONNECTION_?STRING|PWD?$|(?:^-*D?|[_.-])(?:PWD?[_.-]|SIG$)|(?:[_.-]|^-*D)PIN$",
    re.IGNORECASE,
)
_FOLDERS = {"PWD", "OLDPWD"}  # which a shell sets
# Values that are secrets whatever their name: well-known prefixes of tokens.
_SECRET_VALUE = re.compile(
    r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|[rs]k_(?:live|test)_|pypi-|npm_|hf_|AKIA|ASIA|AIza|eyJ)"
    r"[A-Za-z0-9_.-]{12,}|(?<=\bhooks\.slack\.com/services/)\S+"
    r"""|(?<=\bbearer )(?!<redacted>)[^\s"']{8,}""",
    re.IGNORECASE,
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY")
# A word as a shell reads it: what is quoted, or follows a backslash, is part of it, blanks included.
_WORD = re.compile(
    r"""(?:"(?:\\.|[^"\\])*+(?:"|\\?\Z)|'[^']*+(?:'|\Z)|\\.|\\\Z|[^\s"'\\])++""", re.DOTALL
)
_OPTION = re.compile(r"(?<![\w-])(?P<name>--?[\w.-]++)\s+(?!-)")
_USER_OPTION = re.compile(r"(?<![\w-])(?:--user|--proxy-user|-u|-U)(?:\s+|=)(?!-)(?=\S{1,256}:)")
_NETRC = re.compile(r"\bpassword\s+", re.IGNORECASE)
# Up to the last @: a password may hold one, and a slash. What follows a colon may be a port.
_URL_LOGIN = re.compile(
    r"""(?<=://)(?:[^\s/?#"']{0,1024}|[^\s/?#"'@:]{0,256}:(?![0-9]+/)[^\s"']{0,1024})@"""
)
# NAME=value or --name=value inside a longer text, such as CFLAGS or the boot arguments; Make and CMake
# write := += ?= and :TYPE= too. And name: value, as in YAML, in JSON and in the head of a request.
_NAMED = re.compile(
    r"""(?<![\w.-])(?P<name>[\w.-]++)"""
    r"""(?:[ \t]*+(?::\w*+|[+?!]|::)?=[ \t]*+|(?P<ended>["']?)[ \t]*+(?P<colon>:)(?:[ \t]++|(?=["'])))"""
)
_SCHEME = re.compile(r"(?:basic|bearer|digest|negotiate|token)[ \t]+", re.IGNORECASE)
_LINE = re.compile(r"[^\n]*")
_UP_TO = {quote: re.compile(rf"(?:\\.|[^\\{quote}])*+", re.DOTALL) for quote in "\"'"}


def names_a_secret(name: str) -> bool:
    """Tell whether a variable or an option speaks of a key, a token, a password and the like."""
    return name not in _FOLDERS and _SECRET_NAME.search(name) is not None


def redact_text(text: str, home: str | None) -> str:
    """Take logins out of URLs, and secrets and the home directory out of a text."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")  # undecodable bytes
    if _PRIVATE_KEY.search(text):
        return HIDDEN
    text = _URL_LOGIN.sub(f"{HIDDEN}@", text)
    text = _SECRET_VALUE.sub(HIDDEN, text)
    text = _without_values(text)
    for pattern in (_USER_OPTION, _OPTION, _NETRC):
        text = _without_words(pattern, text)
    if home and len(home.strip("/")) > 0:
        text = re.sub(rf"(?<![\w.-]){re.escape(home.rstrip('/'))}(?![\w.-])", "~", text)
    return text


def _without_values(text: str) -> str:
    """Hide what stands behind a name that speaks of a secret, and = or a colon."""
    kept, done, at = [], 0, 0
    while (found := _NAMED.search(text, at)) is not None:
        at = found.end()
        if not names_a_secret(found["name"]):
            continue
        before = text[found.start() - 1 : found.start()]
        whole = _WORD
        if before in _UP_TO and not found["ended"]:  # a quote that begins before the name
            whole = _UP_TO[before]
        elif found["colon"] and not found["ended"]:  # no name of JSON
            whole = _LINE
        if found["colon"] and (scheme := _SCHEME.match(text, at)):
            at = scheme.end()
        if value := whole.match(text, at):
            kept.append(text[done:at] + HIDDEN)
            done = at = value.end()
    return "".join(kept) + text[done:]


def _without_words(pattern: re.Pattern[str], text: str) -> str:
    """Hide the word behind each match whose name, if it has one, speaks of a secret."""
    kept, done, at = [], 0, 0
    while (found := pattern.search(text, at)) is not None:
        at = found.end()
        if "name" in pattern.groupindex and not names_a_secret(found["name"]):
            continue
        if word := _WORD.match(text, at):
            kept.append(text[done:at] + HIDDEN)
            done = at = word.end()
    return "".join(kept) + text[done:]
