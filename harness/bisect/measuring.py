"""The sessions that a search asks for, each one session of an ordinary trial; what is stored is not measured again."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import FairtrialError, StoreError, UsageError
from analysis.record.manifest import read_manifest
from analysis.record.shapes import records_of
from analysis.record.trial_files import MANIFEST, MEASUREMENTS, OUTPUTS, PLAN, LooksPlan, PlannedRun
from analysis.record.yaml_reader import Document, Plain, Value, decoded, read_document

from ..campaign.cells import entries
from ..campaign.model import LAYOUT_SEED
from ..campaign.resolve import MAX_SEED, load_campaign
from ..campaign.scalar_kinds import SEED_NAME, parse_template
from ..campaign.schema import check_shape
from ..launch.commands import base_environment
from ..launch.matching import Interrupted
from ..trial.ending import Ending
from ..trial.execution import Options, begins_there, opened_new, readied
from ..trial.folder import is_written_now, written_by_another
from ..trial.plan import planned_runs
from ..trial.preparation import Watcher
from ..trial.resume import AS_BEGUN, noted_appended, reopened
from ..trial.run_files import kept_bytes
from ..trial.writer import rows_done
from .journal import Journal, MeasuredSession
from .recipe import SEARCH
from .workshop import Built, NotBuilt

if TYPE_CHECKING:
    from analysis.history.step_search import Phase

    from ..campaign.model import Campaign, Cell
    from .commits import Commit, CommitRange
    from .recipe import Recipe
    from .workshop import Workshop

# --- Sessions that are added to a trial one by one, by somebody who decides after each what is measured next. Each is
# an ordinary session: host, programs and plan are looked at as by a resumption, since other things are built and
# measured between two of them.


def whole_sessions(trial: Path) -> int:
    """Count the sessions of a trial of which every planned run stands; 0 where there is no trial yet.

    Raises
    ------
    StoreError
        If the trial is damaged.
    """
    if not (trial / MANIFEST).exists():
        return 0
    manifest = read_manifest(trial)
    done = rows_done(trial, manifest).outcomes
    given_up = {(one.session, one.benchmark, one.variant) for one in manifest.given_up}
    left: Counter[int] = Counter()
    for run, _ in records_of(trial / PLAN, PlannedRun):
        cell = (run.session, run.benchmark, run.variant)
        left[run.session] += run.position not in done and cell not in given_up
    open_sessions = [session for session, count in left.items() if count]
    return min(open_sessions) - 1 if open_sessions else max(left, default=0)


def add_session(
    campaign: Campaign, options: Options, watcher: Watcher, looks_plan: LooksPlan | None = None
) -> Ending:
    """Measure one more session of the trial `options.name`, or finish the one that was broken off.

    The trial is begun where nothing was measured. With a `looks_plan`, which a new trial keeps, the sessions
    stand in that plan; without one each is noted as appended. Of `options` the number of sessions does not count.

    Raises
    ------
    HostError
        If a required check of the host fails.
    DriftError
        If host, programs or campaign are not those with which the trial began.
    StoreError
        If the trial cannot be written, or another process writes it.
    """
    assert options.name is not None, "its place is chosen by whoever adds to it"
    path = options.folder / options.name
    if begins_there(path, campaign.name):
        with readied(campaign, options, 1, watcher) as trial:
            return opened_new(trial, options, 1, looks_plan) or trial.execute()
    if is_written_now(path):
        raise written_by_another(path)
    manifest = read_manifest(path)
    if manifest.looks_plan is None and looks_plan is not None:
        what = "its sessions stand in no plan of looks, and further ones would"
        raise StoreError(what, str(path), "move it away")
    whole = whole_sessions(path)
    sessions = max(manifest.sessions, whole + 1)
    kept = kept_bytes(path / OUTPUTS)
    with readied(campaign, options, sessions, watcher, kept) as trial:
        ended = reopened(trial, path, manifest, options)
        if ended is not None:
            return ended
        store = trial.store
        in_plan = manifest.looks_plan is not None
        store.update(
            **AS_BEGUN,
            sessions=sessions,
            planned=planned_runs(campaign, sessions),
            appended=() if in_plan else noted_appended(store, manifest, sessions),
        )
        watcher.opened(store.path, campaign, trial.prepared)
        return trial.execute()


# --- The campaign that measures commits: an ordinary file, made from the user's. All that is no path stands as the user
# wrote it. What the campaign's baseline (or ``--variant``) gives is filled in, so that ``{variant}`` in a build or a
# command means the same file in every commit; each path in the repository begins with ``{commit_tree}``, a value of
# each variant.

_TREE, _LIBRARIES, _COMMIT = "commit_tree", "commit_libraries", "commit_sha"
# Made anew, or without a meaning for commits: what is built is kept, and commits are no series of the user's.
_REPLACED = ("variants", "baseline", "benchmarks", "inputs", "build", "hooks", "commit", "series")
_BARE = re.compile("[A-Za-z0-9+-][A-Za-z0-9._+-]*")  # means the same without quotes in any place
_WORD = re.compile(r"(?!(?i:null)$)[A-Za-z_][A-Za-z0-9_-]*")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_IN_FOLDER = 'cd "$0" && exec "$@"'


def campaign_of(
    recipe: Recipe, built: Sequence[Built], file: Path, *, baseline: Built, trial: str = ""
) -> Campaign:
    """Write the campaign whose variants are these commits to `file`, and load it.

    Its variants are called as the commits (`Commit.name`), in the given order. Where sessions draw layouts, the
    seed is that of its `trial`: a proof in the layouts of the search would repeat their luck.

    Raises
    ------
    UsageError
        If a path is not UTF-8, or a value has a name that is needed here.
    """
    seed = recipe.campaign.seed
    if recipe.draws_layouts:
        digest = hashlib.sha256(f"{seed}:{trial}".encode()).digest()
        seed = int.from_bytes(digest[:8], "big") % (MAX_SEED + 1)
    text = campaign_text(recipe, built, baseline=baseline, seed=seed)
    try:
        file.write_text(text, encoding="utf-8")
    except UnicodeEncodeError:
        what = "a path of the campaign is not UTF-8 and cannot be written to a campaign"
        raise UsageError(what, str(file), "rename it") from None
    # a commit that fails is one of the answers
    defaults = {**recipe.campaign.defaults, "protocol.never_ok": "go_on"}
    return load_campaign(file, seed=seed, defaults=defaults, own=recipe.campaign.own_defaults)


def campaign_text(
    recipe: Recipe, built: Sequence[Built], *, baseline: Built, seed: int | None = None
) -> str:
    """Give the text of the campaign whose variants are these commits; `seed` is another than the template's."""
    template = recipe.campaign
    document = read_document(decoded(template.text, template.source), str(template.source))
    maker = _Maker(recipe, document, with_libraries=any(one.libraries for one in built))
    parts: dict[str, dict[str, Any]] = {
        "variants": {},  # they stand first, and need to know whether the others name the tree
        "benchmarks": {name: maker.benchmark(name) for name in maker.benchmarks},
        "hooks": maker.hooks(),
    }
    parts["variants"] = {one.commit.variant: maker.variant(one) for one in built}
    given = {name: value for name, value in maker.given.items() if name not in _REPLACED}
    if isinstance(given.get("protocol"), dict):
        given["protocol"] = {k: one for k, one in given["protocol"].items() if k != "never_ok"}
    if seed not in {None, template.seed}:
        given["seed"] = Plain(seed)
    lines = ["# commits of a bisection: each is measured in the tree that is kept of it"]
    lines += [f"{_key(name)}: {_flow(value)}" for name, value in given.items()]
    lines += [f"baseline: {_flow(baseline.commit.variant)}", f'commit: "{{{_COMMIT}}}"']
    for part, entry in parts.items():
        lines += [f"{part}:"] * bool(entry)
        lines += [f"  {_key(name)}: {_flow(value)}" for name, value in entry.items()]
    return "\n".join(lines) + "\n"


class _Maker:
    """Makes the parts of the campaign that are not as the user wrote them."""

    def __init__(self, recipe: Recipe, document: Document, *, with_libraries: bool) -> None:
        shape, faults = check_shape(document)
        assert shape is not None, "it was loaded before"
        assert isinstance(document.value, dict), "it was loaded before"
        self.recipe = recipe
        self.given: Mapping[str, Any] = document.value
        variants = entries(faults, "variants", shape["variants"])
        benchmarks = entries(faults, "benchmarks", shape["benchmarks"])
        self._variant = next(entry for entry in variants if entry.name == recipe.variant)
        self._entries = {entry.name: entry for entry in benchmarks}
        self.benchmarks: Mapping[str, Cell] = {cell.benchmark: cell for cell in recipe.cells}
        self.with_libraries = with_libraries
        self._used = self._used_by_hooks()
        clash = self._used & {_TREE, _LIBRARIES, _COMMIT}
        if clash:
            what = f"a hook uses the value '{min(clash)}', whose name is needed for commits"
            raise UsageError(what, str(recipe.campaign.source), "rename it in the campaign")
        self._in_tree = False

    def variant(self, built: Built) -> dict[str, Any]:
        """Give the values of one commit."""
        values: dict[str, Any] = {_COMMIT: built.commit.commit}
        if self._in_tree:
            values[_TREE] = str(built.tree)
        if self.with_libraries:
            values[_LIBRARIES] = ":".join(map(str, built.libraries or (built.tree,)))
        return values

    def benchmark(self, name: str) -> dict[str, Any]:
        """Give one benchmark with all that the variant says of it."""
        cell, entry = self.benchmarks[name], self._entries[name]
        # what the file says of the benchmark, then of the variant, which wins
        sections = [
            self.given[str(one.path[0])][str(one.path[1])] or {} for one in (entry, self._variant)
        ]
        made: dict[str, Any] = {"command": [_literal(text) for text in cell.command.argv]}
        made["cwd"] = self._path(cell.cwd)
        if cell.stdin is not None:
            made["stdin"] = self._path(cell.stdin)
        if cell.inputs:
            made["inputs"] = [self._path(path) for path in cell.inputs]
        env = {key: _literal(text) for key, text in cell.env.items()}
        if self.with_libraries:
            variables = base_environment(self.recipe.campaign.isolation, os.environ)
            rest = env.get(SEARCH) or _literal(variables.get(SEARCH, ""))
            env[SEARCH] = f"{{{_LIBRARIES}}}{':' if rest else ''}{rest}"
        if env:
            made["env"] = env
        for section in sections:
            plain = ("stdout", "stderr", "timeout", "expect")
            made |= {key: section[key] for key in plain if key in section}
        if cell.expect.stdout_file is not None:
            made["expect"] = {**made["expect"], "file": self._path(cell.expect.stdout_file)}
        metrics = {
            key: rule for section in sections for key, rule in section.get("metrics", {}).items()
        }
        for rule in cell.metrics:
            if isinstance(rule.source, Path):
                metrics[rule.name] = {**metrics[rule.name], "from": self._path(rule.source)}
        if metrics:
            made["metrics"] = metrics
        values = {**entry.values, **self._variant.values}
        return made | {key: text for key, text in values.items() if key in self._used}

    def hooks(self) -> dict[str, Any]:
        """Give the hooks: those of runs in the commit's folder, those of sessions in the user's."""
        made, home = dict(self.given.get("hooks") or {}), self.recipe.campaign.source.parent
        for name in made.keys() & {"before", "after", "setup", "cleanup", "finish"}:
            of_runs = name in {"before", "after"}
            folder = self._path(home) if of_runs else _literal(str(home))
            start = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', folder]
            made[name] = [[*start, *self._words(step)] for step in _steps(made[name])]
        return made

    def _path(self, path: Path) -> str:
        place = self.recipe.in_repository(path)
        if place is None:
            return _literal(str(path))
        self._in_tree = True
        inside = "" if str(place) == "." else f"/{_literal(str(place))}"
        return f"{{{_TREE}}}{inside}"

    def _words(self, step: Any) -> list[str]:  # noqa: ANN401 - a command in one of its forms
        """Give the words of a hook; the name of the variant is the campaign's."""
        if isinstance(step, Mapping):
            words = ["/bin/sh", "-c", str(step["shell"])]
        else:
            words = shlex.split(step) if isinstance(step, str) else list(step)
        return [self._with_variant(text) for text in words]

    def _with_variant(self, text: str) -> str:
        template = parse_template(text)
        parts = [_literal(template.texts[0])]
        for name, rest in zip(template.names, template.texts[1:], strict=True):
            parts += [self.recipe.variant if name == "variant" else f"{{{name}}}", _literal(rest)]
        return "".join(parts)

    def _used_by_hooks(self) -> set[str]:
        hooks = self.given.get("hooks") or {}
        steps = [step for name in ("before", "after") for step in _steps(hooks.get(name))]
        texts = [parse_template(text) for step in steps for text in self._words(step)]
        return {name for one in texts for name in one.names} - {"variant", "benchmark"}


def _steps(value: Any) -> list[Any]:  # noqa: ANN401 - one command, a list of them, or none
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _literal(text: str) -> str:
    """Give the template that stands for a text as it is; the seed of a layout is each session's own."""
    return text.replace("{", "{{").replace("}", "}}").replace(LAYOUT_SEED, f"{{{SEED_NAME}}}")


def _flow(value: Value) -> str:
    """Write a value as YAML on one line; what was written without quotes stays so where it can."""
    if value is None:
        return "null"
    if isinstance(value, Plain) and _BARE.fullmatch(value):
        return str(value)
    if isinstance(value, str):
        quoted = json.dumps(str(value), ensure_ascii=False)
        return _ESCAPED.sub(lambda sign: f"\\u{ord(sign.group()):04x}", quoted)
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return f"{{{', '.join(f'{_key(key)}: {_flow(item)}' for key, item in value.items())}}}"


def _key(name: str) -> str:
    return name if _WORD.fullmatch(name) else _flow(str(name))


CAMPAIGNS = "campaigns"  # the folder of the campaigns that were made for the trials


class EndNotBuiltError(FairtrialError):
    """GOOD or BAD does not build."""

    exit_code = 4

    def __init__(self, place: int, built: NotBuilt) -> None:
        super().__init__(
            f"{built.commit.short} does not build: {built.why}",
            str(built.log),
            "name another commit, or mend the build; its output is in that file",
        )
        self.place = place


class CappedError(FairtrialError):
    """A session could not be measured to its end."""

    exit_code = 6


def trial_of(phase: Phase, places: tuple[int, ...], commits: tuple[Commit, ...]) -> str:
    """Name the trial of a session: its folder below that of the bisection."""
    if phase.kind == "step0":
        return "step0"
    if phase.kind == "proof":
        return f"proof-{phase.number}"
    (probe,) = set(places) - {phase.lower, phase.upper}
    whole = (phase.lower, phase.upper) == (0, len(commits) - 1)
    inside = "" if whole else f"-in-{phase.lower:04d}-{phase.upper:04d}"
    return f"search/{commits[probe].variant}{inside}"


@dataclass(slots=True, kw_only=True)
class Sessions:
    """Gives `find_steps` what it asks for: which commits build, what they build to, and their sessions.

    It hears of the phases as a watcher does, before their sessions. `options` are those of every trial. Of
    the stored sessions none is measured again: they come first, in their order.
    """

    journal: Journal
    commits: CommitRange
    recipe: Recipe
    workshop: Workshop
    options: Options
    watcher: Watcher
    built: dict[int, Built | NotBuilt] = field(default_factory=dict)
    _phase: Phase | None = None
    _next: int = 0
    _campaigns: dict[str, Campaign] = field(default_factory=dict)

    def phase(self, phase: Phase) -> None:
        """Hear what the next sessions are for."""
        self._phase = phase

    @property
    def replaying(self) -> bool:
        """Whether the next session is a stored one."""
        return self._next < len(self.journal.sessions)

    def builds(self, place: int) -> bool:
        """Tell whether a commit builds; it is built if that is not known yet.

        Raises
        ------
        EndNotBuiltError
            If it is GOOD or BAD, and does not.
        """
        end = place in (0, self.commits.last)  # of these a failure may have been the host's
        if place not in self.built:
            self.built[place] = self._build(self.commits.commits[place], again=end)
        found = self.built[place]
        if isinstance(found, NotBuilt) and end:
            raise EndNotBuiltError(place, found)
        return isinstance(found, Built)

    def _build(self, commit: Commit, *, again: bool) -> Built | NotBuilt:
        return self.workshop.build(commit, again=again)

    def program(self, place: int) -> str:
        """Name what a commit builds to: two of one name are one program."""
        return self._built(place).identity

    def measure(self, places: tuple[int, ...]) -> Mapping[int, float | list[float]]:
        """Give the log values of one session with these commits: a stored one, else one that is measured now."""
        assert self._phase is not None, "a search tells its phase before the first session"
        name = trial_of(self._phase, places, self.commits.commits)
        number = self._next
        if number < len(self.journal.sessions):
            stored = self.journal.sessions[number]
            if (stored.trial, stored.places) != (name, places):
                then, now = (", ".join(map(str, one)) for one in (stored.places, places))
                raise StoreError(
                    f"session {number + 1} stands in {stored.trial} with the places {then}, and the search now asks "
                    f"for {name} with {now}",
                    str(self.journal.folder),
                    "programs or stored values are not those of then: begin a new bisection, or go on with the "
                    "version that began this one",
                )
        else:
            stored = self._measured(name, places)
            self.journal.append(stored)
        self._next += 1
        return self._values(stored)

    def _measured(self, name: str, places: tuple[int, ...]) -> MeasuredSession:
        listed = sum(one.trial == name for one in self.journal.sessions)
        trial = self.journal.folder / name
        found = MeasuredSession(trial=name, session=listed + 1, places=places)
        if whole_sessions(trial) > listed:
            return found  # a kill came between its last run and the list
        options = replace(self.options, folder=trial.parent, name=trial.name, built=True)
        asked, level = self.journal.asked, self._phase.level if self._phase else None
        plan = None  # a search trial has none
        if level is not None:
            plan = LooksPlan(rule="planned", looks=asked.looks, risk=level, margin=asked.margin)
        ending = add_session(self._campaign(name, places), options, self.watcher, plan)
        if ending.status == "interrupted":
            raise Interrupted(int((ending.reason or "signal 2").rpartition(" ")[2]))
        if ending.status != "complete":
            what = f"a session was not measured to its end: {ending.reason or ending.status}"
            fix = "take the cap out of the campaign, or raise it, and begin anew"
            raise CappedError(what, str(trial), fix)
        return found

    def _campaign(self, name: str, places: tuple[int, ...]) -> Campaign:
        if name not in self._campaigns:
            assert self._phase is not None
            folder = self.journal.folder / CAMPAIGNS
            folder.mkdir(exist_ok=True)
            self._campaigns[name] = campaign_of(
                self.recipe,
                [self._built(place) for place in places],
                folder / f"{name.replace('/', '-')}.yaml",
                baseline=self._built(self._phase.lower),
                trial=name,
            )
        return self._campaigns[name]

    def _built(self, place: int) -> Built:
        found = self.built[place]
        assert isinstance(found, Built), "a search measures only what builds"
        return found

    # ---- what is stored

    def _values(self, stored: MeasuredSession) -> dict[int, float | list[float]]:
        from analysis.history.session_value import session_values

        asked, commits = self.journal.asked, self.commits.commits
        trial = self.trial(stored.trial)
        found = session_values(trial, stored.session, asked.metric, asked.benchmarks)
        return {place: found[commits[place].variant] for place in stored.places}

    def trial(self, name: str) -> Any:  # noqa: ANN401 - what analysis.history reads
        """Read one of the bisection's trials."""
        path = self.journal.folder / name
        return _read(path, (path / MEASUREMENTS).stat().st_size)

    @property
    def trials(self) -> tuple[str, ...]:
        """The names of the trials that have a listed session, in the order of their first one."""
        return tuple(dict.fromkeys(one.trial for one in self.journal.sessions))


@functools.lru_cache(maxsize=4)
def _read(path: Path, size: int) -> Any:  # noqa: ANN401 - as above
    """Read a trial once for as long as no row was added."""
    from analysis.history.session_value import stored_trial

    del size
    return stored_trial(path)
