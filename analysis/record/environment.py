"""Compares two environment records, in sentences that a person can use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..words import PLACEHOLDER
from .trial_files import Finding, Manifest, Stored, warning

# --- What one environment record tells of: which sessions, and of each cell which executable.


def places_of(record: Mapping[str, Any], most: int) -> Iterator[tuple[int, int]]:
    """Give session and segment of all that an environment record tells of, in a trial of `most` sessions.

    It is one of each, or where a sitting has one record all its sessions: from the first, whose record
    may be a further segment, to the last, which is not known of one that was killed.
    """
    session, segment = record["session"], record.get("segment", 0)
    yield session, segment
    match record.get("sessions"):
        case [int(), None]:
            last = most
        case [int(), int(last)]:
            last = min(last, most)
        case _:
            last = session
    yield from ((one, 0) for one in range(session + 1, last + 1))


def segments_of(records: Iterable[Mapping[str, Any]], most: int) -> dict[int, int]:
    """Give the last segment of each session that environment records tell of, in a trial of `most` sessions."""
    return dict(place for record in records for place in places_of(record, most))


SAME = "same_as"
COMMIT = "commit"
BUILT = "built"
SESSION = "session"
_OF_COMMIT = (COMMIT, "commit_unknown")


def packed_targets(
    paths: Mapping[str, Any],
    described: Mapping[Any, Mapping[str, Any]],
    commits: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Give the section ``targets``: each executable is described once, whatever uses it.

    `commits` are keys about a cell's commit, by its name; one that shares an executable has its own
    where they are not those of the cell at which it is described.
    """
    texts = commits or {}
    first: dict[Any, str] = {}
    found: dict[str, Any] = {}
    for name, path in sorted(paths.items()):
        same, own = first.setdefault(path, name), texts.get(name, {})
        if same == name:
            found[name] = {**described[path], **own}
        else:
            found[name] = {SAME: same, **({} if own == texts.get(same, {}) else own)}
    return found


def whole_targets(targets: object) -> dict[str, Any]:
    """Give the description of each cell's executable, as far as the record has it.

    What is no section of targets has none; a cell that refers to no other one has what stands there.
    """
    if not isinstance(targets, dict):
        return {}
    found = {}
    for name, about in targets.items():
        same = about.get(SAME) if isinstance(about, dict) else None
        shared = targets.get(same, about) if isinstance(same, str) else about
        if shared is not about and isinstance(shared, dict) and COMMIT in about:
            own = {key: about[key] for key in _OF_COMMIT if key in about}
            shared = {key: value for key, value in shared.items() if key not in _OF_COMMIT} | own
        found[name] = shared
    return found


def of_one_session(about: object) -> bool:
    """Tell whether the build of a session made an executable, or a library: another session has other bytes.

    Its hash says nothing beyond its session; what is executed is known by its commit, or its build steps.
    """
    return isinstance(about, Mapping) and about.get(BUILT) == SESSION


def commit_of(about: object) -> str | None:
    """Give the commit that the description of an executable names; None where it is not known."""
    commit = about.get(COMMIT) if isinstance(about, Mapping) else None
    return commit if isinstance(commit, str) and PLACEHOLDER.fullmatch(commit) is None else None


def commits_of_all(records: Iterable[Mapping[str, Any]]) -> dict[str, str | None]:
    """Give the commit of each variant of a trial from its environment records.

    Records that do not know it say nothing of it: those before version 0.3.0, or where names were taken out of a bundle. Where
    others name several it is not known.
    """
    found: dict[str, set[str]] = {}
    for record in records:
        mine: dict[str, set[str | None]] = {}
        for name, about in whole_targets(record.get("targets")).items():
            mine.setdefault(name.rpartition("/")[2], set()).add(commit_of(about))
        for variant, commits in mine.items():
            one = next(iter(commits)) if len(commits) == 1 else None
            found.setdefault(variant, set()).update(() if one is None else (one,))
    return {
        variant: next(iter(commits)) if len(commits) == 1 else None
        for variant, commits in found.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Stored):
    """One difference between two environment records.

    `kind` is the section of the record ("host", "cpu", "targets", ...), `what` a sentence, `key`
    the key with dots. `identity` marks what makes a trial another one: another machine, processor
    or target binary; a resumed trial refuses it.
    """

    kind: str
    what: str
    key: str
    old: Any
    new: Any
    identity: bool = False


# of these each item is a value of its own
_GROUPS = {"kernel.mitigations", "tools.compilers", "tools.packages", "process.limits"}
_SECTIONS = ("host", "cpu", "memory", "kernel", "tools", "process", "counters")
_SPECIAL = {"host.boot_id", "host.machine_id_sha256", "cpu.model", "cpu.flags_sha256"}
# What a terminal or a login sets anew each time, without meaning for a program that is measured.
_FLEETING = frozenset(
    {"_", "SHLVL", "OLDPWD", "COLUMNS", "LINES", "WINDOWID", "SSH_TTY", "TMUX", "TMUX_PANE", "STY"}
    | {"INVOCATION_ID", "JOURNAL_STREAM", "XDG_SESSION_ID", "DBUS_SESSION_BUS_ADDRESS"}
    | {"SSH_CLIENT", "SSH_CONNECTION", "SSH_AUTH_SOCK", "TERM_SESSION_ID"}
)
# A batch system says with these which job, start and node this is; but one asks for a frequency.
_OF_A_JOB = ("SLURM_", "SLURMD_", "PMI_", "PMIX_")
_OF_A_JOB_KEPT = frozenset({"SLURM_CPU_FREQ_REQ"})
_MISSING: Mapping[str, Any] = {}
_LONGEST = 160


def diff(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Change, ...]:
    """Compare the environment records `a` (earlier) and `b` (later)."""
    changes = [*_identity(a, b), *_targets(a, b), *_inputs(a, b), *_services(a, b)]
    for section in _SECTIONS:
        changes += _section(section, a.get(section) or _MISSING, b.get(section) or _MISSING)
    changes += _variables(a, b)
    return tuple(sorted(changes, key=lambda change: not change.identity))


def describe_changes(changes: tuple[Change, ...]) -> str:
    """Write changes as lines of text, what makes it another trial first."""
    if not changes:
        return "nothing changed"
    identity = [change for change in changes if change.identity]
    other = [change for change in changes if not change.identity]
    lines = []
    if identity:
        lines.append("this is no longer the same trial:")
        lines += [f"  {change.what}" for change in identity]
    if other:
        lines.append("also changed:" if identity else "changed:")
        lines += [f"  {change.what}" for change in other]
    return "\n".join(lines)


def findings_of(changes: tuple[Change, ...]) -> tuple[Finding, ...]:
    """Make the findings of what changed from a session to the one behind it.

    What makes a trial another one is a finding `drift`, all else `environment`; changed variables are
    one finding together.
    """
    texts = [
        (change.what, change.key, "drift" if change.identity else "environment")
        for change in changes
        if change.kind != "variables"
    ]
    variables = [change.key for change in changes if change.kind == "variables"]
    if variables:
        names = ", ".join(key.partition(".")[2] for key in variables)
        texts.append((f"environment variables changed: {names}", "variables", "environment"))
    reason = "sessions under other conditions are not samples of the same thing"
    return tuple(warning(check, what, where, None, reason) for what, where, check in texts)


def _identity(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    old, new = _at(a, "host.machine_id_sha256"), _at(b, "host.machine_id_sha256")
    if old != new:
        known = None not in (old, new)
        what = "this is another machine: its machine id differs"
        if not known:
            what = "the machine id could be read only once: whether it is the same machine is open"
        yield _changed("host.machine_id_sha256", what, old, new, identity=known)
    old, new = _at(a, "cpu.model"), _at(b, "cpu.model")
    if old != new:
        what, known = _sentence("the processor", old, new), None not in (old, new)
        yield _changed("cpu.model", what, old, new, identity=known)
    old, new = _at(a, "host.boot_id"), _at(b, "host.boot_id")
    if old != new and None not in (old, new):
        yield _changed("host.boot_id", "the host was rebooted", old, new)
    old, new = _at(a, "cpu.flags_sha256"), _at(b, "cpu.flags_sha256")
    if old != new:
        yield _changed("cpu.flags_sha256", "the processor's feature flags changed", old, new)


def _changed(key: str, what: str, old: object, new: object, *, identity: bool = False) -> Change:
    kind = key.partition(".")[0]
    return Change(kind=kind, what=what, key=key, old=old, new=new, identity=identity)


def _at(record: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401 - JSON types
    section, _, name = key.partition(".")
    return (record.get(section) or _MISSING).get(name)


def _section(section: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    # what one of the two lacks is of a version of fairtrial that does not write it
    for name in (name for name in a if name in b):
        key, pairs = f"{section}.{name}", {f"{section}.{name}": (a[name], b[name])}
        if key in _GROUPS:
            old, new = a[name] or _MISSING, b[name] or _MISSING
            items = dict.fromkeys((*old, *new))
            pairs = {f"{key}.{one}": (old.get(one), new.get(one)) for one in items}
        for one, (was, now) in pairs.items():
            if was != now and one not in _SPECIAL:
                yield _changed(one, _sentence(one, was, now), was, now)


def _variables(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    """Compare values that are stored, and hashes of those that are not where one key made them.

    What one record shows and the other hides, because versions differ, cannot be compared.
    """
    shown = [record.get("variables") or _MISSING for record in (a, b)]
    kept = [record.get("hidden_variables") or _MISSING for record in (a, b)]
    hidden = [record.get("hashes") or _MISSING for record in kept]
    keys = [record.get("key") for record in kept]
    names = {name for group in (*shown, *hidden) for name in group}
    for name in sorted(filter(_lasting, names)):
        old, new = (values.get(name) for values in shown)
        was, now = (name in shown[k] or name in hidden[k] for k in (0, 1))
        if name in hidden[0] and name in hidden[1]:
            if keys[0] != keys[1] or hidden[0][name] == hidden[1][name]:
                continue
            what = f"the variable {name} changed (its value is not stored)"
        elif was and now:
            if old is None or new is None or old == new:
                continue
            what = _sentence(f"the variable {name}", old, new)
        elif now:
            what = f"the variable {name} is new" + (f": {_show(new)}" if new is not None else "")
        else:
            what = f"the variable {name} is gone"
            what += f"; it was {_show(old)}" if old is not None else ""
        yield _changed(f"variables.{name}", what, old, new)
    both = filter(_lasting, hidden[0].keys() & hidden[1].keys())
    if all(kept) and keys[0] != keys[1] and any(both):
        what = "whether values of variables changed that are not stored is open: another key"
        key = "hidden_variables.key"
        yield Change(kind="variable-key", what=what, key=key, old=keys[0], new=keys[1])


def _lasting(name: str) -> bool:
    if name in _FLEETING:
        return False
    return not name.startswith(_OF_A_JOB) or name in _OF_A_JOB_KEPT


def _targets(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    before, after = whole_targets(a.get("targets")), whole_targets(b.get("targets"))
    shared = [name for name in before if name in after]
    yield from _gone_or_new("targets", before, after)
    for name in shared:
        if not (of_one_session(before[name]) or of_one_session(after[name])):
            yield from _program("targets", name, f"the executable of {name}", before, after)
    yield from _commits(before, after)
    # A library that many targets use is one change, not many.
    users: dict[tuple[str, str, str | None, str | None], list[str]] = {}
    for name in shared:
        for part in ("libraries", "interpreter"):
            old_files, new_files = before[name].get(part) or {}, after[name].get(part) or {}
            for file in dict.fromkeys((*old_files, *new_files)):
                if of_one_session(old_files.get(file)) or of_one_session(new_files.get(file)):
                    continue
                old, new = _hash(old_files.get(file)), _hash(new_files.get(file))
                if old != new:
                    users.setdefault((part, file, old, new), []).append(name)
    for (part, file, old, new), names in users.items():
        used = names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")
        verb = "changed, used by"
        if None in (old, new):
            verb = "is new for" if old is None else "is gone from"
        what = f"{'the library' if part == 'libraries' else 'the interpreter'} {file} {verb} {used}"
        yield _changed(f"targets.{names[0]}.{part}.{file}", what, old, new)


def _gone_or_new(
    section: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        if name not in before or name not in after:
            what = f"{name} is {'no longer' if name in before else 'now'} among the {section}"
            yield _changed(f"{section}.{name}", what, before.get(name), after.get(name))


def _program(
    section: str, name: str, called: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Change]:
    """Compare a program: with another one it is another trial."""
    a, b = before[name], after[name]
    place = b.get("resolved") or b.get("path") or a.get("path")
    old, new = _hash(a), _hash(b)
    if old != new:
        what = f"{called} is another one than before: {place}"
        if new is None:
            what = f"{called} cannot be read any more: {place}"
        yield _changed(f"{section}.{name}.sha256", what, old, new, identity=True)
    elif a.get("resolved") != b.get("resolved"):
        old, new = a.get("resolved"), b.get("resolved")
        what = _sentence(f"the place of {called}", old, new) + " (same content)"
        yield _changed(f"{section}.{name}.resolved", what, old, new)


def _inputs(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    before, after = a.get("inputs"), b.get("inputs")
    if before is None or after is None:
        return  # one of the two is of a version of fairtrial that does not write them
    yield from _gone_or_new("inputs", before, after)
    for name in (name for name in before if name in after):
        old, new = _hash(before[name]), _hash(after[name])
        if old != new:
            was, now = (
                f"{digest[:12]}…" if digest else "unknown, as it cannot be read"
                for digest in (old, new)
            )
            what = f"the input {name} has changed: sha256 {was} is now {now}"
            yield _changed(f"inputs.{name}", what, old, new, identity=True)


def _services(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    """Compare the programs of services: another server is another trial, as another program is."""
    before, after = a.get("services") or _MISSING, b.get("services") or _MISSING
    for label in (label for label in before if label in after):
        if not (of_one_session(before[label]) or of_one_session(after[label])):
            called = f"the program of the service {label}"
            yield from _program("services", label, called, before, after)


def _commits(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    """Compare the commits of what each session builds: they are its identity, and hashes are not."""
    found = set()
    for name in (name for name in a if name in b):
        variant = name.rpartition("/")[2]
        old, new = commit_of(a[name]), commit_of(b[name])
        built = of_one_session(a[name]) or of_one_session(b[name])
        if built and None not in (old, new) and old != new and (variant, old, new) not in found:
            found.add((variant, old, new))
            what = f"{variant} is built from another commit than before: {old} is now {new}"
            yield _changed(f"targets.{name}.commit", what, old, new, identity=True)


def _hash(entry: Any) -> str | None:  # noqa: ANN401 - a library's entry, or an interpreter's hash
    value = entry.get("sha256") if isinstance(entry, Mapping) else entry
    return value if isinstance(value, str) else None


def _sentence(subject: str, old: Any, new: Any) -> str:  # noqa: ANN401 - JSON types
    if old is None:
        return f"{subject} is now {_show(new)}; it was unknown"
    if new is None:
        return f"{subject} is unknown now; it was {_show(old)}"
    return f"{subject} changed from {_show(old)} to {_show(new)}"


def _show(value: Any) -> str:  # noqa: ANN401 - JSON types
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        text = ", ".join(f"{item} ({key})" for key, item in value.items()) or "nothing"
    elif isinstance(value, list):
        text = " / ".join("unlimited" if item is None else str(item) for item in value)
    else:
        text = str(value) if value != "" else "nothing"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# --- Which neighbours of a series of variants are one program: the same bytes are executed, asked in the same way.
#
# Two are one where the hashes of program, loader and libraries are the same in every record, and the commands differ
# in the program's path at most; only a compiled program's path may differ: a script finds its modules next to
# itself. Working folder, inputs and variables must be the same too, and nothing be executed around the runs.
# What the build of a session makes is another program in each session, and never one with a neighbour.


def neighbours_of_one_program(
    variants: Sequence[str],
    cells: Iterable[object],
    programs: Sequence[Mapping[str, Any]],
) -> tuple[tuple[str, ...], ...]:
    """Give the variants as runs of neighbours that are one program on every benchmark.

    `cells` are those of the resolved campaign, `programs` the sections `targets` of environment records, whole. What is
    not known is another program.
    """
    by_variant: dict[str, dict[str, Mapping[str, Any]]] = {}
    for cell in cells:
        if isinstance(cell, dict) and {"variant", "benchmark", "command"} <= cell.keys():
            by_variant.setdefault(str(cell["variant"]), {})[str(cell["benchmark"])] = cell
    groups: list[list[str]] = []
    for name in variants:
        a = by_variant.get(groups[-1][-1], {}) if groups else {}
        b = by_variant.get(name, {})
        if a and a.keys() == b.keys() and all(_same_cell(a[k], b[k], programs) for k in a):
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(map(tuple, groups))


def _same_cell(
    a: Mapping[str, Any], b: Mapping[str, Any], programs: Sequence[Mapping[str, Any]]
) -> bool:
    # hooks learn which variant it is, and may do anything
    asked = ("cwd", "stdin", "inputs", "env", "stdout")
    if any(a.get(key) != b.get(key) for key in asked) or any(
        cell.get(key) for cell in (a, b) for key in ("before", "after")
    ):
        return False
    alike = a["command"] == b["command"]
    if not alike:
        commands = (cell["command"] for cell in (a, b))
        words = [one.get("argv") if isinstance(one, dict) else None for one in commands]
        behind = [one[1:] if isinstance(one, list) else None for one in words]
        if None in behind or behind[0] != behind[1]:  # None: a shell's line
            return False
    for row in programs:
        ours, theirs = (row.get(f"{cell['benchmark']}/{cell['variant']}") for cell in (a, b))
        if not (isinstance(ours, dict) and isinstance(theirs, dict)):
            return False
        made, other = _bytes(ours), _bytes(theirs)
        if made is None or made != other or not (alike or ours.get("kind") == "elf"):
            return False
    return bool(programs)


def _bytes(target: Mapping[str, Any]) -> str | None:
    """Give what a program is made of: its hash, its loader's, and each library's; None of what a session builds, or unknown."""
    libraries = target.get("libraries")
    libraries = libraries if isinstance(libraries, dict) else {}
    if not target.get("sha256") or any(map(of_one_session, (target, *libraries.values()))):
        return None
    found = {
        name: about.get("sha256") if isinstance(about, dict) else about
        for name, about in libraries.items()
    }
    loader = target.get("interpreter")
    hashes = sorted(map(str, loader.values())) if isinstance(loader, dict) else loader
    return json.dumps([target["sha256"], hashes, found], sort_keys=True, default=str)


def same_in_all(manifests: Iterable[Manifest]) -> Mapping[str, str]:
    """Give the variants that no part of several measured, since they are the same program as another."""
    first, *others = (one.same_program for one in manifests)
    return first if all(one == first for one in others) else {}
