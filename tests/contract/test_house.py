"""The house's own rules: where things stand, what they are called, what is private, what finds what.

What the product finds by its name exists, all of it, and nothing is found by a name that is computed: so
a file can be moved by whoever rewrites each name that stands in full. A method of one file is found where it lies.
"""

from __future__ import annotations

import ast
import gc
import importlib
import re
import runpy
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

import analysis
from analysis import registry
from analysis.importers.export import TARGETS
from analysis.importers.registry import TOOLS
from analysis.registry import FIGURES, commands

pytestmark = pytest.mark.tree

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for half in ("harness", "analysis") for path in (ROOT / half).rglob("*.py"))

PACKAGES = sorted({path.parent for path in SOURCES})
OPENED = ("harness", "analysis", "analysis.methods")  # their packages are rooms of their own
# who opens files without `open_inside` (writes), `opened` (reads) or `opened_output` (of programs): reason -> file:calls
OPENERS = {
    "the helpers themselves": "harness/launch/matching.py:1 harness/trial/folder.py:3 analysis/record/shapes.py:2",
    "/proc, /sys, /dev and cgroups": "harness/cli.py:2 harness/host/activity.py:1 harness/host/gap_probe.py:1 "
    "harness/host/state.py:3 harness/launch/exchange.py:4 harness/launch/in_launcher/cgroups.py:4 "
    "harness/launch/in_launcher/system_calls.py:4 harness/launch/in_launcher/cgroups.py:3 "
    "harness/launch/in_launcher/serving.py:5 harness/launch/in_launcher/system_calls.py:1 harness/launch/client.py:1 "
    "harness/host/cgroups.py:3 harness/trial/metering.py:1 harness/launch/usage.py:2 "
    "harness/launch/usage.py:1 harness/launch/commands.py:1 harness/launch/running.py:3 "
    "harness/launch/usage.py:4 analysis/artifact/redacted_names.py:1",
    "files that come with the product": "harness/campaign/schema.py:1 "
    "harness/campaign/resolve.py:1 harness/campaign/scalar_kinds.py:1 harness/commands/first_steps.py:1 "
    "analysis/artifact/describing.py:3 analysis/history/changes.py:1 analysis/importers/json_rows.py:1 "
    "analysis/importers/parsing.py:1 analysis/options.py:1 analysis/registry.py:1 analysis/artifact/recomputing.py:1 "
    "analysis/methods/resampling/assignments.py:1 analysis/report/methods_text.py:1",
    "a file that the command line or the campaign names": "analysis/record/yaml_reader.py:1 "
    "harness/commands/comparing.py:1 harness/commands/first_steps.py:1 harness/host/executables.py:1 "
    "harness/host/executables.py:3 harness/launch/exchange.py:1 harness/trial/builds.py:1 analysis/artifact/archive.py:6 "
    "analysis/artifact/bundle.py:1 "
    "analysis/artifact/reproduce.py:1 analysis/commands/share.py:1 "
    "analysis/record/printer.py:1 analysis/commands/verdict.py:1 "
    "analysis/data/matrix_file.py:1 analysis/data/opening.py:1 "
    "analysis/methods/speedup_test/original.py:3 analysis/methods/speedup_test/original.py:1 "
    "analysis/stats/workers.py:1 analysis/commands/compared.py:1",
    "a new file or folder of ours, which nobody else has named yet": "harness/bisect/recipe.py:1 "
    "harness/commands/comparing.py:1 harness/trial/plan.py:1 harness/trial/profiles.py:1 "
    "harness/trial/profiles.py:4 analysis/plan/certificate.py:1 "
    "analysis/record/manifest.py:2",
    "copies of a bundle, which its gathering opened as plain files": "analysis/artifact/packed_campaign.py:4 "
    "analysis/artifact/gathering.py:2 analysis/artifact/redacted.py:10",
    "the user's own cache or state, 0700": "harness/host/variables.py:3 analysis/artifact/recomputing.py:4 "
    "analysis/report/assembling.py:2 analysis/stats/compiled.py:2",
    "without following a link, by a folder's descriptor": "harness/launch/in_launcher/serving.py:2 "
    "harness/trial/run_files.py:2 harness/trial/run_files.py:1 harness/tune/tuner.py:1 "
    "harness/tune/journal.py:5",
    "a lock is asked for, without waiting, and nothing is read": "harness/trial/folder.py:3 analysis/record/fleet.py:1",
    "outputs of a run that ended, which the spools found to be plain files": "harness/trial/outcomes.py:5",
    "built trees, of which links are left out": "harness/bisect/workshop.py:2",
}


@cache
def text_of(path: Path) -> str:
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def nodes():
    """Give the syntax of each file of the product: 800,000 nodes, made once and then forgotten."""
    gc.disable()  # which would look at all of them again and again
    found = {path: tuple(ast.walk(ast.parse(text_of(path)))) for path in SOURCES}
    gc.enable()
    yield found
    found.clear()


def local(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_no_module_is_named_like_one_of_the_standard_library_or_like_a_test():
    taken = [local(path) for path in SOURCES if path.stem in sys.stdlib_module_names]
    assert taken == []
    assert [local(path) for path in SOURCES if path.stem.endswith("_test")] == []


def test_no_public_name_is_a_module_or_package_of_the_judge():
    # `from analysis import name` would hand out the module, once somebody has imported it
    taken = {path.stem for path in (ROOT / "analysis").iterdir() if path.name != "__init__.py"}
    assert not taken & set(analysis.__all__)


def said_and_handed_on() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Give what the face of the judge says to a type checker, and what it hands on at run time."""
    said: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse((ROOT / "analysis/__init__.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module != "registry":
            said.setdefault(node.module or "", set()).update(alias.name for alias in node.names)
    return said, {home: set(names.split()) for home, names in vars(analysis)["_ROOMS"].items()}


def test_the_one_face_hands_on_what_it_says():
    said, table = said_and_handed_on()
    assert said == table
    for home, names in table.items():
        module = importlib.import_module(f"analysis.{home}")
        for name in names:
            assert getattr(analysis, name) is getattr(module, name)
    assert dir(analysis) == sorted(set().union(*table.values())) == analysis.__all__


def test_the_one_face_says_what_each_name_is_and_takes():
    elsewhere = {"faster_estimate", "type1_study", "variability_level"}  # it names whose they are
    for name, value in ((name, getattr(analysis, name)) for name in analysis.__all__):
        assert "Parameters\n" in value.__doc__ or isinstance(value, type) or name in elsewhere, name


def room_of(module: str) -> str:
    """Give the room of a module: the folder that stands in an opened package, with all below it."""
    parts = module.split(".")
    for depth in range(len(parts), 0, -1):
        if ".".join(parts[: depth - 1]) in OPENED:
            return ".".join(parts[:depth])
    return parts[0]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


ROOMS = frozenset(map(name_of, PACKAGES))


def taken_from_elsewhere(
    nodes: Collection[ast.AST], module: str, known: Collection[str]
) -> Iterator[str]:
    """List the private names of other rooms that a module imports or reaches for."""
    package = module.split(".") if module in ROOMS else None
    here = package or module.split(".")[:-1]
    modules: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {one.asname or one.name: one.name for one in node.names}
        if not isinstance(node, ast.ImportFrom):
            continue
        up = here[: len(here) - node.level + 1] if node.level else []
        base = ".".join([*up, *([node.module] if node.module else [])])
        for one in node.names:
            full = f"{base}.{one.name}"
            if full in known:
                modules[one.asname or one.name] = full
            ours = full.partition(".")[0] in {"harness", "analysis"}
            if ours and any(map(is_private, full.split("."))) and room_of(full) != room_of(module):
                yield full
    for node in nodes:
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            home = modules.get(ast.unparse(node.value), "")
            if home.partition(".")[0] in {"harness", "analysis"} and room_of(home) != room_of(
                module
            ):
                yield f"{home}.{node.attr}"


def test_what_is_private_is_used_in_its_room_alone(nodes):
    known = {name_of(path) for path in SOURCES}
    found = {
        local(path): taken
        for path in SOURCES
        if (taken := list(taken_from_elsewhere(nodes[path], name_of(path), known)))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("from ..one.ranks import _order", ["analysis.one.ranks._order"]),
        ("from ..one import ranks as r\nr._order()", ["analysis.one.ranks._order"]),
        ("import analysis.one.ranks\nanalysis.one.ranks._n", ["analysis.one.ranks._n"]),
        ("from ..one import _ranks", ["analysis.one._ranks"]),
        ("from .matrix import _order\nself._order\nfrom os import _exit", []),
        ("from ..one.ranks import order, __doc__", []),
    ],
)
def test_a_private_name_of_another_room_would_be_found(text, taken):
    known = {"analysis.one.ranks", "analysis.two.matrix"}
    nodes = list(ast.walk(ast.parse(text)))
    assert list(taken_from_elsewhere(nodes, "analysis.two.columns", known)) == taken


def test_a_folder_can_be_taken_in_at_a_glance():
    counts = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    assert {local(path): count for path, count in counts.items() if count > 25} == {}


def test_a_file_has_at_most_700_lines():
    lengths = {local(path): len(text_of(path).splitlines()) for path in SOURCES}
    assert {name: lines for name, lines in lengths.items() if lines > 700} == {}


def streams(nodes: Iterable[ast.AST]) -> set[str]:
    """Give how a module reaches for a stream of the process: by name, or with print."""
    said = {
        ast.unparse(node)
        for node in nodes
        if (isinstance(node, ast.Attribute) and node.attr.strip("_") in {"stdout", "stderr"})
        or (isinstance(node, ast.Name) and node.id == "print")
        or (isinstance(node, ast.ImportFrom) and node.module == "sys")
    }
    pattern = r"print|sys\.(__)?(stdout|stderr)(__)?|from sys import .*"
    return {text for text in said if re.fullmatch(pattern, text)}


def test_only_the_command_line_knows_the_streams_of_the_process(nodes):
    # commands and what a person watches are handed theirs
    found = {local(path) for path in SOURCES if streams(nodes[path])}
    assert found == {"harness/cli.py"}
    for text, said in (
        ("import sys\nsys.stderr.write('x')\nprint(1)", {"sys.stderr", "print"}),
        ("sys.__stdout__, self.stdout", {"sys.__stdout__"}),
        ("from sys import stdout", {"from sys import stdout"}),
    ):
        assert streams(ast.walk(ast.parse(text))) == said


COMMAND = re.compile(rf"\b(fairtrial ({'|'.join(commands())})|chmod|mkdir|rm|ls|cat) .*", re.DOTALL)
PLACE = re.compile(
    r"(.*\.)?(path|folder|source|trial|fleet|file|output)|(?!.*quote).* / .*|.*shlex\..*", re.DOTALL
)


def unquoted(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Give the places of files that stand in a command of a message as they are: one with a blank is two words."""
    for text in (node for node in nodes if isinstance(node, ast.JoinedStr)):
        said = ""
        for part in text.values:
            if isinstance(part, ast.FormattedValue):
                named = ast.unparse(part.value)
                if COMMAND.search(said) and PLACE.fullmatch(named):
                    yield named
            said += str(part.value) if isinstance(part, ast.Constant) else "{}"


def test_a_command_that_a_message_proposes_can_be_pasted(nodes):
    # seen: 'fairtrial import my file.csv -o runs/NAME'
    assert {local(path): found for path in SOURCES if (found := [*unquoted(nodes[path])])} == {}
    seen = "f'{path}: see fairtrial status {path}, {quoted(str(path))}, {a / b}, {shlex.quote(a)}'"
    assert [*unquoted(ast.walk(ast.parse(seen)))] == ["path", "a / b", "shlex.quote(a)"]


@pytest.fixture(scope="module")
def drawn():
    """Give what draws the floors; it looks at the house once."""
    found = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "draw_floors.py")))
    gc.disable()
    house = found.house()
    gc.enable()
    found.picture.__globals__["house"] = lambda: house
    return found


def test_the_picture_of_the_floors_is_fresh(drawn):
    assert drawn.PICTURE.read_text() == drawn.picture(), "make generated"


def test_the_house_has_no_circle_and_no_arrow_up(drawn):
    assert drawn.count().splitlines()[2:] == ["circles 0", "arrows up 0"]


def test_files_import_each_other_in_no_circle(drawn):
    files = {name_of(path): path for path in SOURCES}
    arrows = {
        (name, other)
        for name, path in files.items()
        for used in drawn.imports(name, path)  # for a type checker and inside of functions too
        if (other := used if used in files else used.rpartition(".")[0]) in files and other != name
    }
    assert len(arrows) > 3 * len(files)  # the control
    assert drawn.circles(dict.fromkeys(files, 1), arrows) == []


def test_circles_and_arrows_up_are_counted(drawn):
    rooms = dict.fromkeys(("analysis.data", "analysis.pages", "analysis.methods.hpt"), 1)
    arrows = {
        ("analysis.data", "analysis.pages"),
        ("analysis.pages", "analysis.data"),
        ("analysis.methods.hpt", "analysis.data"),
    }
    assert drawn.circles(rooms, arrows) == [{"analysis.data", "analysis.pages"}]
    assert drawn.circles(rooms, arrows - {("analysis.pages", "analysis.data")}) == []
    assert drawn.arrows_up(arrows) == [("analysis.pages", "analysis.data")]


# --- what is found by its name ------------------------------------------------------------

REGISTRY = "analysis/registry.py"
# a file of the product that looks for what lies beside it: which, and why it may
BESIDE = {
    "harness/cli.py": "it looks whether the judge beside it is ours, before it imports anything",
    "harness/launch/launcher.py": "a program of its own, without our packages",
    REGISTRY: "the one place that knows where the packages lie",
}
IMPORTING = {REGISTRY: "`load` and the public names"}


def test_every_name_in_full_is_a_module_or_a_file(nodes):
    said = (
        node.value for inside in nodes.values() for node in inside if isinstance(node, ast.Constant)
    )
    found = {text for text in said if isinstance(text, str)} | {tool.module for tool in TOOLS}
    modules = {text for text in found if re.fullmatch(r"(analysis|harness)(\.\w+)+(:\w+)?", text)}
    assert len(modules) > 30
    for name in modules:
        assert registry.function(name) if ":" in name else importlib.import_module(name)
    places = {text for text in found if re.fullmatch(r"(analysis|harness)(/[\w.]+)+", text)}
    assert len(places) >= 6
    for place in places:
        assert registry.shipped(place).exists(), place


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        (r"\bimportlib\.import_module\b|\b__import__\(|\bfrom importlib import", IMPORTING),
        (r"\b__file__\b|\bimportlib\.resources\b|\bPackageLoader\b", BESIDE),
    ],
)
def test_only_the_registry_imports_by_name_and_knows_where_files_lie(pattern, allowed):
    found = {local(path) for path in SOURCES if re.search(pattern, text_of(path))}
    assert found == set(allowed)


def test_no_name_that_is_loaded_is_computed(nodes):
    for path, inside in nodes.items():
        for node in inside:
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"load", "shipped"}:
                given = node.args[0]
                assert not isinstance(given, ast.JoinedStr | ast.BinOp), local(path)


def test_chapters_and_figures_have_their_functions():
    places = [*registry.CHAPTERS.values(), *(kind.draw for kind in FIGURES.values())]
    assert all(callable(registry.function(place)) for place in places)


def test_formats_have_their_readers_and_writers():
    for tool in TOOLS:
        assert callable(tool.knows)
        assert callable(tool.read)
    assert all(callable(target.writer) for target in TARGETS)


def test_files_of_others_are_opened_by_the_helpers(nodes):
    """A link is not followed, and a pipe not waited for: whoever opens a file himself has a reason."""
    calls = {"open", "read_bytes", "read_text", "write_bytes", "write_text"}
    found = Counter(
        local(path)
        for path, all_ in nodes.items()
        for node in all_
        if isinstance(node, ast.Call)
        and (getattr(node.func, "attr", "") in calls or getattr(node.func, "id", "") == "open")
    )
    listed = [entry.split(":") for files in OPENERS.values() for entry in files.split()]
    allowed: Counter[str] = Counter()
    for file, number in listed:
        allowed[file] += int(number)
    assert found - allowed == {}
