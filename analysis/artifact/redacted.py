"""Takes names out of a bundle's folder, before anything is computed or hashed, so that its trials still hold together.

A line of measurements gets a new checksum, a run whose output was altered no hash of it, and the
manifest the hashes of its files as they are now.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import CampaignError, FairtrialError, StoreError
from ..importers.reader import open_trial
from ..record.environment import COMMIT
from ..record.fleet import FLEET
from ..record.shapes import checksum_holds, encode, encode_checked, readable_rows
from ..record.trial_files import (
    BUILDS,
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    IMPORT,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    RESOLVED,
)
from ..record.yaml_reader import Document, Location, read_document
from .archive import FLEET_PLACE, RedactionRecord
from .describing import Redacted
from .redacted_names import (
    Kind,
    KnownName,
    Redactions,
    Scrubber,
    arguments_of,
    is_telling,
    learn_known,
)

# --- Names taken out of documents: JSON, YAML and plain text, each by its own rule.
#
# Of JSON only string values change: every other byte stays, so that numbers stay as they were written. Of
# YAML everything but keys, comments included. Of text every whole word.


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
    return [values(item, change) for item in value] if isinstance(value, list) else value


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
    document = _document_of(text)
    if document is None:
        return text
    spans = [(key.start, key.end, text[key.start : key.end]) for key in document.keys.values()]
    own: list[tuple[Location, str, Kind, str]] = [
        (place, value, "env", "value") for place, value in _variables(document)
    ]
    own += [(p, value, "paths", "commit") for p, value in _texts(document) if p == ("commit",)]
    for place, value, kind, sort in own:
        literal = literal_of(value)
        if literal is not None:
            stand_in = scrubber.field(kind, literal, sort=sort)
            if stand_in != literal:
                begin, end = document.marks[place].start, document.marks[place].end
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
    document = _document_of(text)
    if document is None:
        return None, []
    values = [value for _, value in _variables(document)]
    names = {name for value in values for name in _REFERENCE.findall(value)}
    literals = {one for one in map(literal_of, values) if one is not None}
    put = []
    for place, value in _texts(document):  # of such a name, or in a list of that name
        if names.intersection(place[-1:] if isinstance(place[-1], str) else place[-2:]):
            put.append(value)
    return literals, put


def _document_of(text: str) -> Document | None:
    try:
        return read_document(text, "")
    except CampaignError:
        return None


def _texts(document: Document) -> Iterator[tuple[Location, str]]:
    left: list[tuple[Location, Any]] = [((), document.value)]
    while left:
        place, value = left.pop()
        if isinstance(value, str) and place:
            yield place, value
        elif isinstance(value, dict | list):
            inside = value.items() if isinstance(value, dict) else enumerate(value)
            left += reversed([((*place, step), one) for step, one in inside])


def _variables(document: Document) -> Iterator[tuple[Location, str]]:
    """Give the values of environment variables: ``env`` of anything, and ``environment: {set: ...}``."""
    for place, value in _texts(document):
        if isinstance(place[-1], str) and (
            place[-2:-1] == ("env",) or place[-3:-1] == ("environment", "set")
        ):
            yield place, value


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


Row = dict[str, Any]
_USERS = ("USER", "LOGNAME", "USERNAME", "SUDO_USER", "SLURM_JOB_USER")
_HOSTS = ("HOSTNAME", "HOST", "COMPUTERNAME", "SLURMD_NODENAME", "SLURM_SUBMIT_HOST")
_FOLDERS = ("PWD", "OLDPWD", "TMPDIR")
_UNKNOWN = "unknown"
_MACHINE_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_OUTPUT = re.compile(r"(?:.*/)?(?P<again>[wr]?)(?P<number>\d+)\.stdout")
# fields that hold nothing but names, by their keys (* is each of them): the kind of the names, and what
# a placeholder calls them
_Own = tuple[str, Kind, str | None]
_PEOPLE_AND_PLACES: tuple[_Own, ...] = (
    *((f"variables.{name}", "user", None) for name in _USERS),
    *((f"variables.{name}", "host", None) for name in _HOSTS),
)
_OF_ENVIRONMENT: tuple[_Own, ...] = (
    ("host.name", "host", None),
    ("host.machine_id_sha256", "host", "machine"),
    ("host.boot_id", "host", "boot"),
    *_PEOPLE_AND_PLACES,
    ("variables", "env", "value"),
    ("kernel.boot_arguments", "env", "arguments"),
    (f"targets.*.{COMMIT}", "paths", "commit"),
    ("hidden_variables", "env", "hash"),
)
_OF_MANIFEST: tuple[_Own, ...] = (
    ("host", "host", None),
    ("node", "host", None),
    ("host_id", "host", "machine"),
)
_OF_RESOLVED: tuple[_Own, ...] = (("campaign.commit", "paths", "commit"),)
_OF_FLEET: tuple[_Own, ...] = (("hosts.*.host", "host", None),)


def _own(scrubber: Scrubber, row: Row, fields: Iterable[_Own]) -> Row:
    for path, kind, sort in fields:

        def stand_in(value: str, kind: Kind = kind, sort: str | None = sort) -> str:
            if value == _UNKNOWN:
                return value
            scrubber.learn(kind, value, sort=sort)  # users and hosts whatever else is wanted
            return scrubber.field(kind, value, sort=sort)

        _own_field(row, path, stand_in)
    return row


def _own_field(part: Any, path: str, stand_in: Callable[[str], str]) -> None:  # noqa: ANN401 - JSON
    key, _, rest = path.partition(".")
    if key == "*":
        for one in part.values() if isinstance(part, dict) else part:
            _own_field(one, rest, stand_in)
    elif isinstance(part, dict) and key in part:
        if rest:
            _own_field(part[key], rest, stand_in)
        else:
            part[key] = values(part[key], stand_in)


def kept_names(trial: Path) -> set[str]:
    """Give what the trial calls its things: variants, benchmarks, metrics, itself, its campaign."""
    manifest = _object(trial / MANIFEST)
    names: set[str] = set()
    for key in ("trial", "campaign_name", "baseline"):
        if isinstance(manifest.get(key), str) and not (key == "trial" and _is_host(manifest)):
            names.add(manifest[key])
    variants, benchmarks = (
        [one for one in manifest.get(key) or () if isinstance(one, str)]
        for key in ("variants", "benchmarks")
    )
    names |= {*variants, *benchmarks, *(manifest.get("metrics") or {})}
    for one in manifest.get("judge") or ():  # the metrics that are the trial's question
        if isinstance(one, dict):
            names |= {metric for metric in one.get("metrics") or () if isinstance(metric, str)}
    return names | {f"{bench}/{variant}" for bench in benchmarks for variant in variants}


def learn_machine(scrubber: Scrubber, trial: Path, text: str) -> None:
    """Take note of the machine's id where a text says it: its hash is what the trial stores."""
    rows = readable_rows(trial / ENVIRONMENT)
    stored = {str(_part(row, "host").get("machine_id_sha256")) for row in rows}
    for match in _MACHINE_ID.finditer(text):
        if hashlib.sha256(match[0].encode()).hexdigest() in stored:
            scrubber.learn("host", match[0], sort="machine")


def learn_trial(scrubber: Scrubber, trial: Path) -> None:
    """Take note of the names that stand in fields of their own."""
    manifest = _object(trial / MANIFEST)
    _own_manifest(scrubber, manifest)
    folder = str(manifest.get("campaign_path") or "").rpartition("/")[0]
    scrubber.learn_folder(folder)
    # take note of the variables that the campaign sets, each value with its placeholder
    literals, put = _of_campaign(trial)
    for value in sorted(literals or ()):
        scrubber.learn("env", value, sort="value")
    for value in put:
        if is_telling(value):
            scrubber.learn("env", value, sort="value")
        elif scrubber.takes("env"):
            what = "a short or common value, which a template puts into a variable"
            scrubber.leave(f"trials/{trial.name}/{CAMPAIGN}", what)
    resolved = _object(trial / RESOLVED)
    mappings = _variables_of(resolved)
    known = {value for one in mappings for value in one.values() if isinstance(value, str)}
    for value in sorted(known):
        changed = scrubber.inside(value)
        if value not in (literals or ()) and changed != value:  # as its template makes it anew
            scrubber.learn("env", value, like=changed)
    _own(scrubber, resolved, _OF_RESOLVED)
    for row in readable_rows(trial / ENVIRONMENT):
        process, variables = (_part(row, name) for name in ("process", "variables"))
        folders = [str(process.get("cwd") or "")]
        folders += [str(variables[name]) for name in _FOLDERS if name in variables]
        _own_environment(scrubber, row)
        for folder in folders:
            scrubber.learn_folder(folder)


def _of_campaign(trial: Path) -> tuple[set[str] | None, list[str]]:
    """Give the values of variables that the campaign says, None where nobody knows, and of templates."""
    path = trial / CAMPAIGN
    text = decoded(path.read_bytes()) if path.is_file() else None
    return (None, []) if text is None else campaign_values(text)


def _variables_of(resolved: Row) -> Iterator[Row]:
    left: list[Any] = [resolved.get("campaign")]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            for key, value in one.items():
                if key in {"env", "set_environment"} and isinstance(value, dict):
                    yield value
                else:
                    left.append(value)
        elif isinstance(one, list):
            left += one


def redact_trial(scrubber: Scrubber, trial: Path, write: Callable[[Path, bytes], None]) -> None:
    """Take all names out of a trial."""
    altered = set()
    for path in sorted((trial / OUTPUTS).rglob("*")):
        if _rewrite(path, _of_text(lambda text: plain_text(scrubber, text)), write):
            match = _OUTPUT.fullmatch(path.relative_to(trial / OUTPUTS).as_posix())
            if match is not None:
                altered.add(int(match["number"]) * (-1 if match["again"] else 1))
    literals, _ = _of_campaign(trial)
    rules: dict[str, Callable[[bytes], bytes]] = {
        ENVIRONMENT: _of_lines(lambda row: values(_own_environment(scrubber, row), scrubber.text)),
        FINDINGS: _of_lines(lambda row: values(row, scrubber.text)),
        BUILDS: functools.partial(_of_checked, scrubber, set()),
        MEASUREMENTS: functools.partial(_of_checked, scrubber, altered),
        IMPORT: _of_text(lambda text: json_text(scrubber, text)),
        RESOLVED: _of_text(
            lambda text: json_text(scrubber, _own_resolved(scrubber, text, literals))
        ),
        CAMPAIGN: _of_text(lambda text: yaml_text(scrubber, text)),
        MANIFEST: lambda data: _of_manifest(scrubber, trial, data),
    }
    for name, rule in rules.items():
        _rewrite(trial / name, rule, write)


# ---- fields of their own


def _own_resolved(scrubber: Scrubber, text: str, literals: set[str] | None) -> str:
    """Take variables that a campaign sets, and commits, out of its resolved form, short ones among them."""
    data = text.encode("utf-8", "surrogateescape")
    resolved = _parsed(data)
    if resolved is None:
        return text
    _own(scrubber, resolved, _OF_RESOLVED)
    for variables in _variables_of(resolved) if scrubber.takes("env") else ():
        for name, value in variables.items():
            if isinstance(value, str) and (literals is None or value in literals):
                variables[name] = scrubber.field("env", value, sort="value")
    return text if resolved == _parsed(data) else _document(resolved).decode()


def _own_manifest(scrubber: Scrubber, manifest: Row) -> Row:
    named = (("trial", "host", None),) if _is_host(manifest) else ()
    return _own(scrubber, manifest, (*named, *_OF_MANIFEST))


def _is_host(manifest: Row) -> bool:  # as those of a fleet are called
    return manifest.get("trial") in (manifest.get("node"), manifest.get("host"))


def _own_environment(scrubber: Scrubber, row: Row) -> Row:
    for value in _part(row, "variables").values():
        if isinstance(value, str):
            scrubber.learn_homes(value)
    boot = _part(row, "kernel").get("boot_arguments")
    for argument in arguments_of(boot)[1:] if isinstance(boot, str) else ():
        scrubber.learn("env", argument, sort="value")
    return _own(scrubber, row, _OF_ENVIRONMENT)


# ---- files


def _rewrite(
    path: Path, rule: Callable[[bytes], bytes], write: Callable[[Path, bytes], None]
) -> bool:
    if not path.is_file():
        return False
    before = path.read_bytes()
    after = rule(before)
    if after != before:
        write(path, after)
    return after != before


def _of_text(change: Callable[[str], str]) -> Callable[[bytes], bytes]:
    """Make the rule of a file that holds a text; a binary one stays."""

    def rule(data: bytes) -> bytes:
        text = decoded(data)
        return data if text is None else encoded(change(text))

    return rule


def _of_lines(rule: Callable[[Row], Row]) -> Callable[[bytes], bytes]:
    def lines(data: bytes) -> bytes:
        return b"".join(_changed(one, rule, encode) for one in data.splitlines(keepends=True))

    return lines


def _of_checked(scrubber: Scrubber, altered: set[int], data: bytes) -> bytes:
    """Take names out of lines with checksums: of runs, `altered` have another output, and of builds."""

    def rule(row: Row) -> Row:
        found: Row = values(row, scrubber.text)
        if found.get("position") in altered and "stdout_sha256" in found:
            found["stdout_sha256"] = None
        for name in ("artifacts", "programs"):  # of a build: its files are keys
            if isinstance(found.get(name), dict):
                found[name] = {scrubber.text(path): one for path, one in found[name].items()}
        found.pop("crc32", None)
        return found

    lines = []
    for line in data.splitlines(keepends=True):
        position = re.match(rb'\{"position":(-?\d+),', line) if altered else None
        wanted = scrubber.touches(line.decode("utf-8", "replace")) or (
            position is not None and int(position[1]) in altered
        )
        if wanted and checksum_holds(line.rstrip(b"\n")):  # a torn line is the reader's to tell
            line = _changed(line, rule, encode_checked)  # noqa: PLW2901 - the line as it is stored
        lines.append(line)
    return b"".join(lines)


def _of_manifest(scrubber: Scrubber, trial: Path, data: bytes) -> bytes:
    found: Row = values(_own_manifest(scrubber, _parsed(data) or {}), scrubber.text)
    stated = found.get("files")
    if isinstance(stated, dict):  # a file that is not there keeps the hash that stands here
        for name in stated:
            if (trial / name).is_file():
                stated[name] = hashlib.sha256((trial / name).read_bytes()).hexdigest()
    return data if found == _parsed(data) else _document(found)


def _document(row: Row) -> bytes:
    return (json.dumps(row, indent=2) + "\n").encode()


def _changed(line: bytes, rule: Callable[[Row], Row], written: Callable[[Row], bytes]) -> bytes:
    """Give a line anew, or as it was where nothing in it changed or it is no record."""
    row, before = _parsed(line), _parsed(line)
    if row is None or before is None:
        return line
    try:
        found = rule(row)
    except RecursionError:
        return line  # nobody nests so deeply but to be difficult; what is left is listed
    if found == {key: value for key, value in before.items() if key in found}:
        return line
    return written(found) + (b"\n" if line.endswith(b"\n") else b"")


# ---- reading, where a damaged file says nothing


def _part(row: Row, name: str) -> Row:
    part = row.get(name)
    return part if isinstance(part, dict) else {}


def _object(path: Path) -> Row:
    return (_parsed(path.read_bytes()) if path.is_file() else None) or {}


def _parsed(data: bytes) -> Row | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


# --- The folder of a bundle.


_FOREIGN = frozenset({"campaigns", "container", "sources", "trials"})  # other files are made here


def redact_folder(root: Path, wanted: Redactions, known: Sequence[KnownName] = ()) -> Redacted:
    """Take names out of all files of a bundle's folder.

    First every file is read for the names that it says, then each is written anew where it holds one
    of them. What a campaign's programs read is not altered, nor what is binary: that they hold a name
    is listed.
    """
    try:
        return _redacted(root, wanted, known)
    except OSError as error:
        what = f"names cannot be taken out: {error.strerror or error}"
        fix = "free some space in the folder for temporary files ($TMPDIR)"
        raise StoreError(what, str(error.filename or root), fix) from error


def _redacted(root: Path, wanted: Redactions, known: Sequence[KnownName]) -> Redacted:
    files = _files(root)
    trials = [root / name for name in files if re.fullmatch(f"trials/[^/]+/{MANIFEST}", name)]
    trials = [manifest.parent for manifest in trials]
    kept = set().union(*map(kept_names, trials), _foreign_names(root))
    # what tells this redaction from others: the identities of its trials
    digests = (hashlib.sha256((trial / MANIFEST).read_bytes()).digest() for trial in trials)
    tag = hashlib.sha256(b"".join(digests)).hexdigest()[:8]
    scrubber = Scrubber(wanted.kinds, kept, tag)
    for kind, name in wanted.named:
        if kind == "paths":
            scrubber.learn_homes(name)
            scrubber.learn_folder(name)
        else:
            scrubber.learn(kind, name)
    _learn(scrubber, root, files, trials, known)
    before: dict[str, str] = {}

    def write(path: Path, data: bytes) -> None:
        before[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
        path.write_bytes(data)

    def fleet(data: bytes) -> bytes:
        return _document(_own(scrubber, _parsed(data) or {}, _OF_FLEET))

    _rewrite(root / FLEET_PLACE / FLEET, fleet, write)
    for trial in trials:
        redact_trial(scrubber, trial, write)
    foreign = _of_text(lambda text: plain_text(scrubber, own_fields(scrubber, text)))
    for name in files:
        if name.startswith("sources/"):
            _rewrite(root / name, foreign, write)
        elif _is_campaign(name):
            _rewrite(root / name, _of_text(lambda text: yaml_text(scrubber, text)), write)
    record = RedactionRecord(
        what=wanted.kinds,
        replaced=scrubber.replaced,
        files={name: before[name] for name in sorted(before, key=str.encode)},
    )
    left = functools.partial(_list_left, scrubber)
    return Redacted(record=record, scrub=scrubber.text, left=left)


def _files(root: Path) -> list[str]:
    found = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    return sorted((path.relative_to(root).as_posix() for path in found), key=str.encode)


def _is_campaign(name: str) -> bool:
    return re.fullmatch(f"campaigns/[^/]+/{CAMPAIGN}", name) is not None


def _foreign_names(root: Path) -> Iterator[str]:
    place = root / "sources"
    for path in sorted(place.iterdir()) if place.is_dir() else ():
        try:
            manifest = open_trial(path, better="lower").manifest
        except FairtrialError:
            continue  # a file that a command reads in its own way, or none at all
        yield from (*manifest.variants, *manifest.benchmarks, *manifest.metrics)


def _learn(
    scrubber: Scrubber,
    root: Path,
    files: Sequence[str],
    trials: Sequence[Path],
    known: Sequence[KnownName],
) -> None:
    """Read the names that the files say, before any is written anew; then those that somebody knows."""
    for trial in trials:
        learn_trial(scrubber, trial)
    texts = []
    for name in files:
        if name.startswith("campaigns/") and not _is_campaign(name):
            continue  # data of a program may speak of anybody
        text = decoded((root / name).read_bytes())
        if text is not None:
            texts.append(text)
            for trial in trials:
                learn_machine(scrubber, trial, text)
            if name.startswith("sources/"):
                learn_fields(scrubber, text)
    learn_known(scrubber, known, texts)
    for text in texts:
        scrubber.learn_homes(text)  # by now it is known whose they may be


def _list_left(scrubber: Scrubber, root: Path, texts: Mapping[str, bytes]) -> tuple[str, ...]:
    """List what still holds a name: by file, and outputs by trial; and texts that lie in no file yet."""
    for file in _files(root):
        if file.endswith(".whl"):
            continue  # our own code
        scrubber.look(file, "names of files")
        parts = file.split("/")
        outputs = parts[0] == "trials" and len(parts) > 3
        name = "/".join((*parts[:3], "...")) if outputs else file
        _look(scrubber, (root / file).read_bytes(), file, name, ours=parts[0] not in _FOREIGN)
    for name, data in texts.items():
        _look(scrubber, data, name, name, ours=True)
    return scrubber.left


def _look(scrubber: Scrubber, data: bytes, file: str, name: str, *, ours: bool) -> None:
    text = decoded(data)
    if text is None:
        scrubber.leave(file, "binary, names in it are not replaced")
        text = data.decode("utf-8", "surrogateescape")
    scrubber.look(text, name, ours=ours)
