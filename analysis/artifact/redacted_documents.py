"""Names taken out of documents: JSON, YAML and plain text, each by its own rule.

Of JSON only string values change: every other byte stays, so that numbers stay as they were written. Of
YAML everything but keys, comments included. Of text every whole word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .redacted_names import Kind, Scrubber

# a string, and what makes a key of it
_LITERAL = re.compile(r'("(?:[^"\\\x00-\x1f]|\\.)*")(\s*:)?')
# what stands in such fields too: numbers, as of "user: 0.12", and what a processor is called
_NO_NAME = re.compile(r"(?i)[\d.,:+-]|(?:x86|amd64|arm|aarch|i\d86|ppc|s390|riscv|mips)")
# how files of other tools call the host and the user: JSON, XML, lines of text
_HOST = r'(?i)"(?:host_?name|host|node|machine|nodename)"\s*:\s*"(?P<name>[^"\\]+)"'
_FIELDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("host", re.compile(_HOST)),
    ("user", re.compile(r'(?i)"(?:user_?name|user|login|logname)"\s*:\s*"(?P<name>[^"\\]+)"')),
    ("host", re.compile(r"(?i)\b(?:host_?name|host|nodename)=\"(?P<name>[^\"<>&]+)\"")),
    ("user", re.compile(r"(?i)\b(?:user_?name|user|login)=\"(?P<name>[^\"<>&]+)\"")),
    ("host", re.compile(r"(?im)^[#;\s]*host_?name\s*[:=]\s*(?P<name>[^\s\"',;]+)")),
    ("user", re.compile(r"(?im)^[#;\s]*(?:user_?name|user|login)\s*[:=]\s*(?P<name>[^\s\"',;]+)")),
)


def decoded(data: bytes) -> str | None:
    """Give the text of a file, so that `encoded` gives its bytes back; None for a binary one."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        pass
    text = data.decode("utf-8", "surrogateescape")
    strange = sum("\udc80" <= sign <= "\udcff" for sign in text[:4096])
    return None if strange > len(text[:4096]) // 4 else text


def encoded(text: str) -> bytes:
    """Give the bytes of a text that `decoded` gave."""
    return text.encode("utf-8", "surrogateescape")


def values(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - JSON types
    """Give a JSON value with its strings changed, but no key and no number."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: values(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [values(item, change) for item in value]
    return value


def learn_fields(scrubber: Scrubber, text: str) -> None:
    """Take note of the hosts and users that a file of another tool says, by the names of its fields."""
    for kind, pattern in _FIELDS:
        for match in pattern.finditer(text):
            if _NO_NAME.match(match["name"]) is None:
                scrubber.learn(kind, match["name"])


def own_fields(scrubber: Scrubber, text: str) -> str:
    """Take out what stands in such fields, also names that are looked for nowhere else."""
    for kind, pattern in _FIELDS:

        def stand_in(match: re.Match[str], kind: Kind = kind) -> str:
            name = match["name"]
            if _NO_NAME.match(name) is not None:
                return match[0]
            begin, end = match.span("name")
            head, tail = match[0][: begin - match.start()], match[0][end - match.start() :]
            return f"{head}{scrubber.field(kind, name)}{tail}"

        text = pattern.sub(stand_in, text)
    return text


def json_text(scrubber: Scrubber, text: str) -> str:
    """Take names out of the string values of JSON, whole or line by line; all other bytes stay."""

    def literal(match: re.Match[str]) -> str:
        written, colon = match.groups()
        if colon is not None:
            return match[0]
        if "\\" not in written:  # placeholders need no escape, and all other bytes stay
            return f'"{scrubber.text(written[1:-1])}"'
        try:
            value = json.loads(written)
        except ValueError:
            return match[0]  # no JSON, whatever the file is
        changed = scrubber.text(value)
        if changed == value:
            return match[0]
        # halves of signs, which JSON can escape, are no text
        halves = any("\ud800" <= sign <= "\udfff" for sign in changed)
        return json.dumps(changed, ensure_ascii=written.isascii() or halves)

    return _LITERAL.sub(literal, text)


def yaml_text(scrubber: Scrubber, text: str) -> str:
    """Take names out of YAML, comments included; keys stay, and so does what is no YAML at all."""
    root = _composed(text)
    if root is None:
        return text
    marks = [(key.start_mark.index, key.end_mark.index) for key, _ in _pairs(root)]
    spans = [(begin, end, text[begin:end]) for begin, end in marks]
    own: list[tuple[Any, Kind, str]] = [(node, "env", "value") for node in _variables(root)]
    own += [(node, "paths", "commit") for node in _commit(root)]
    for node, kind, sort in own:
        literal = literal_of(node.value)
        if literal is not None:
            stand_in = scrubber.field(kind, literal, sort=sort)
            if stand_in != literal:
                begin, end = node.start_mark.index, node.end_mark.index
                line_ends = text[begin:end][len(text[begin:end].rstrip()) :]  # of a block
                spans.append((begin, end, stand_in + line_ends))
    parts, at = [], 0
    for begin, end, written in sorted(spans):
        parts += [scrubber.text(text[at:begin]), written]
        at = end
    return "".join([*parts, scrubber.text(text[at:])])


_REFERENCE = re.compile(r"(?<!\{)(?:\{\{)*\{([A-Za-z_][A-Za-z0-9_-]*(?:\.port)?)\}")


def literal_of(written: str) -> str | None:
    """Give the value that a campaign writes for a variable; None where a template makes it."""
    if _REFERENCE.search(written):
        return None
    return written.replace("{{", "{").replace("}}", "}")


def campaign_values(text: str) -> tuple[set[str] | None, list[str]]:
    """Give the values of variables that a campaign says, and those that its templates put into them.

    Of what is no YAML: None, and nothing.
    """
    root = _composed(text)
    if root is None:
        return None, []
    literals: set[str] = set()
    names: set[str] = set()
    for node in _variables(root):
        literal = literal_of(node.value)
        if literal is None:
            names |= set(_REFERENCE.findall(node.value))
        else:
            literals.add(literal)
    put = [
        scalar.value
        for key, value in _pairs(root)
        if key.value in names
        for scalar in _scalars(value)
    ]
    return literals, put


def _composed(text: str) -> Any:  # noqa: ANN401 - a node of YAML
    import yaml

    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _pairs(root: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - nodes of YAML
    import yaml

    nodes: list[Any] = [root]
    seen: set[int] = set()  # an alias may lead into what holds it
    while nodes:
        node = nodes.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield from ((key, one) for key, one in node.value if isinstance(key, yaml.ScalarNode))
            nodes += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value


def _variables(root: Any) -> Iterator[Any]:  # noqa: ANN401 - nodes of YAML
    """Give the values of environment variables: ``env`` of anything, and ``environment: {set: ...}``."""
    import yaml

    for key, value in _pairs(root):
        named = value
        if key.value == "environment" and isinstance(value, yaml.MappingNode):
            named = next((one for name, one in value.value if name.value == "set"), None)
        elif key.value != "env":
            continue
        if isinstance(named, yaml.MappingNode):
            yield from (one for _, one in named.value if isinstance(one, yaml.ScalarNode))


def _commit(root: Any) -> Iterator[Any]:  # noqa: ANN401 - nodes of YAML
    """Give the value of the campaign's key ``commit``."""
    import yaml

    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if key.value == "commit" and isinstance(value, yaml.ScalarNode):
            yield value


def _scalars(node: Any) -> Iterator[Any]:  # noqa: ANN401 - nodes of YAML
    import yaml

    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.SequenceNode):
        yield from (one for one in node.value if isinstance(one, yaml.ScalarNode))


def plain_text(scrubber: Scrubber, text: str) -> str:
    """Take names out of a text, or of JSON where it is such."""
    is_json = text.lstrip()[:1] in ("{", "[") and (
        _parses([text]) or _parses(line for line in text.splitlines() if line.strip())
    )
    return json_text(scrubber, text) if is_json else scrubber.text(text)


def _parses(texts: Iterable[str]) -> bool:
    try:
        for text in texts:
            json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
