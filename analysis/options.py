"""Commands and their options, each once: parser, help, completion and manual pages are made of it.

A row of `ROWS` begins with what the help shows: ``-o, --output FILE``, ``--layout {rows,columns}``,
``SOURCE...`` of one word or more, ``[TRIAL]`` of none or one, ``--resume[=TRIAL]`` with its value
behind '=' alone, ``--below A...`` that may be repeated, ``-o FILE!`` that must be given. The parameter
stands before it where it has another name. Behind it stand, after two spaces, the function that reads
a word, and ``= default``; ``const`` makes a flag that stores its default. Below it stands its sentence;
a row without one is hidden. Rows below ``[command]`` are of that command alone.

The parameters of a command name rows, or classes of such names (`Given`).

A method whose file lies directly in ``analysis/methods`` stands in no table: its function says after
which command it is listed, and has its own rows in its docstring, below ``Options``.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from . import registry
from .announcing import doing

if TYPE_CHECKING:
    from .record.manifest import WarmupIterations

# the rows of several commands; `option_rows` has those of one
_COMMON = """
CANDIDATE
    {side}
[BASELINE]
    the same (default: the baseline of the candidate's campaign; then CANDIDATE may be a trial with
    one candidate)
--metric M
    what to compare: {metrics}, or a metric parsed from the output (default: the campaign's
    'judge', else wall)
--warmup-iterations N  warmup
    leave the first N iterations of each run out, or 'auto': those before it is steady (default:
    what the campaign says of the metric; 0 judges all)
--better {lower,higher}
    whether lower or higher values are better, where the file does not say it
--layout {rows,columns}
    in files of numbers, whether a benchmark is a row or a column (default: rows; a file with one
    number on each line has the runs of one benchmark)
--decimal {comma,point}
    the decimal sign in files whose numbers can be read in two ways, such as 1,234
--columns ROLES  columns
    what columns of a table are, 'benchmark=path, value=elapsed_ms, variant=shell'; in JSON paths,
    'benchmark=results[*].name, value=results[*].times, unit=ms'
--level {process,iteration}  = process
    what counts as one run: a process, with the mean of its iterations (default), or each
    iteration, as if they were independent
--confidence R  number = 0.95
    confidence of the answer, of each of its intervals; 1 minus it is the risk of its tests
confidence --conf-level R  number = 0.95
--margin M  share = 0.01
    differences smaller than this count as equivalent
--benchmark B...  named
    only this benchmark; may be repeated
--exclude B...  named
    leave this benchmark out; may be repeated
--variant, --candidate V...  named
    only this candidate; may be repeated
--seed S  int = 0
    seed of the random draws
--plot FILE
    also draw it; the ending of FILE is the format: .svg, .png or .pdf
--json
    print the whole result as JSON
--format {text,md}  = text
    the form of the answer
--workers W  int
    workers at the same time (default: all usable cores); no result depends on it
--backend {threads,processes}
    what the workers are (default: processes after the first 2 s)
--dask ADDRESS
    use a Dask cluster: the address of its scheduler, or its scheduler file
--correction {holm,bh,none}  = holm
    how words allow for the number of benchmarks: Holm (default), Benjamini-Hochberg, no
--weight NAME=W...
    the weight of a benchmark in the suite (default: 1); may be repeated
--looks K  int
    how many looks are taken at these sessions, each at risk / K (default: counted from the
    sessions that were appended to the trial)
--always-valid
    use intervals that hold however often you look, from 3 sessions on
--certificate FILE
    the certificate of 'fairtrial calibrate' to cite (default: the newest one next to the trial)
--allow-missing[=NAME]...
    at the gate a benchmark may be gone from the newer side: any, or =NAME (again for others)
--width W  length
    width of a figure: 85mm for one column of a paper, 178mm for two (default); in mm, cm or in
--font-size PT  number
    font size of a figure (default: 8)
--font-family F
    an installed font for a figure (default: DejaVu Sans, which is always there)
--dir DIR  Path = runs
    the folder of trials
--share
    let others read the new trial (default: only you can)
--wait-for-lock[=SECONDS]  patience = 0
    wait until another trial on the same CPUs has ended, for at most SECONDS (default: do not wait;
    without a number: as long as it takes)
-q, --quiet
    print only what is necessary
-v, --verbose
    print more
--strict
    warnings of required checks are fatal (exit 3)
"""


SIDE = (
    "a variant of a trial (runs/NAME:VARIANT), a file of another tool, or a file of numbers: one "
    "row of runs for each benchmark, or one number on each line"
)
# what stands in a row as {name}, and is looked up when its help is shown
_LISTS = {
    "metrics": "analysis.record.run_numbers:BUILTIN_METRICS",
    "kinds": "analysis.commands.report:every_kind",
    "targets": "analysis.commands.share:every_target",
}


class Given:
    """Options that a command takes together: the annotated names of a class name rows."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - each is what its annotation says
        vars(self).update(given)

    def some(self, *names: str) -> dict[str, Any]:
        """Give options by their names, as a function takes them."""
        return {name: getattr(self, name) for name in names}

    def given(self, *names: str) -> Iterator[str]:
        """Name those options that were given, as they are typed; what is off or empty was not."""
        for name, value in self.some(*names).items():
            if value is not None and value is not False and value != []:
                yield f"--{name.replace('_', '-')}"


class Made(NamedTuple):
    """A function that is a command, and what its parser has besides.

    `alternatives` exclude each other, `elsewhere` answers options of other tools, and the parameter
    `tail` takes what stands behind ``--``. A method is listed `after` another command with a `summary`.
    """

    function: Callable[..., int]
    alternatives: tuple[str, ...] = ()
    elsewhere: Mapping[str, str] = {}
    tail: str = ""
    after: str = ""
    summary: str = ""

    def said(self) -> dict[str, str]:
        """Give the docstring of the function, and its sections by their titles."""
        first, _, rest = (self.function.__doc__ or "").partition("\n")
        about, *parts = re.split(r"\n(Options|Examples)\n-+\n", f"{first}\n{textwrap.dedent(rest)}")
        return {"": about, **dict(zip(parts[::2], parts[1::2], strict=True))}


FUNCTIONS: dict[str, Made] = {}
_F = TypeVar("_F", bound=Callable[..., int])


def command(name: str, *alternatives: str, **further: Any) -> Callable[[_F], _F]:  # noqa: ANN401 - of `Made`
    """Make a function a command; its docstring is the help."""

    def make(function: _F) -> _F:
        FUNCTIONS[name] = Made(function, alternatives, **further)
        return function

    return make


def made(name: str) -> Made:
    """Give a command; of a method that was found the head of its function, which needs no numbers library."""
    known = registry.TABLE.get(name) or registry.commands()[name]
    if known.file is None:
        registry.load(known.module)
    elif name not in FUNCTIONS:
        given = vars(registry.load("analysis.option_groups"))
        text = known.file.read_text("utf-8")
        (head,) = re.findall(r'^@command\(.*?^    """.*?"""$', text, re.M | re.S)
        exec(head, {**given, "command": command})  # noqa: S102 - of a file of ours
    return FUNCTIONS[name]


_OWN = ("out", "err", "command")  # parameters that are no options
_Row = tuple[str, str, str]  # its head, its sentence, and what it stands below in the help


def _parts(function: Callable[..., int]) -> Iterator[tuple[str, type[Given] | None, list[str]]]:
    """Give each parameter with its class, and the names of the rows in it."""
    for name, note in function.__annotations__.items():
        kind = function.__globals__.get(note)
        if isinstance(kind, type) and issubclass(kind, Given):
            homes = (vars(one).get("__annotations__", ()) for one in reversed(kind.__mro__))
            yield name, kind, [one for home in homes for one in home]
        elif name != "return":
            yield name, None, [name]


def execute(name: str, given: argparse.Namespace, out: object, err: object) -> int:
    """Call the function of a command with the options that were given; its result is the exit code."""
    if name not in registry.TABLE:
        doing("reading and looking")
        registry.load(registry.commands()[name].module)
    function = FUNCTIONS[name].function
    known = {**vars(given), "out": out, "err": err, "command": f"fairtrial {name}"}
    values = {
        part: known[part] if kind is None else kind(**{one: known[one] for one in options})
        for part, kind, options in _parts(function)
    }
    return function(**values)


class Option(NamedTuple):
    """An option or a word: what argparse adds it with, and its heading in the help."""

    names: tuple[str, ...]
    settings: dict[str, Any]
    title: str


def options_of(name: str) -> Iterator[Option]:
    """Give the options and words of a command in the order of the table, its own ones first.

    Raises
    ------
    LookupError
        If a parameter names no row.
    """
    found, own = made(name), _rows(name)
    reads = {**globals(), "int": int, "float": float, "Path": Path}
    taken = {"quiet"}  # of every command: `harness.cli` announces nothing then
    for _, kind, options in _parts(found.function):
        reads |= vars(sys.modules[kind.__module__]) if kind is not None else {}
        taken |= {*options} - {*_OWN, found.tail}
    reads |= found.function.__globals__
    rows = {**own, **_rows(""), **own}
    if unknown := taken - rows.keys():
        raise LookupError(f"{name}: no row of {', '.join(unknown)}")
    for one in filter(taken.__contains__, rows):
        for head, says, title in rows[one]:
            yield _option(one, head, says, title, reads)


@cache
def _rows(command: str) -> dict[str, list[_Row]]:
    """Give the rows of a command, or those of several, by their parameters."""
    from .option_rows import ROWS

    found: dict[str, list[_Row]] = {}
    own = f"\n[{command}]\n{made(command).said().get('Options', '')}" if command else ""
    for block in re.split(r"^\[(?=[a-z])", f"]\n{_COMMON}{ROWS}{own}", flags=re.M):
        heading, _, rows = block.partition("]\n")
        section, _, title = heading.partition(": ")
        if section == command:
            for head, says in re.findall(r"^(\S.*)\n((?: +.+\n)*)", rows, re.M):
                found.setdefault(_parameter(head), []).append((head, " ".join(says.split()), title))
    return found


def _parameter(head: str) -> str:
    """Name the parameter of a row: by its first word, or by its first long option."""
    first = re.match(r"\[?(\w+)", head) or re.search(r"--([a-z][\w-]+)", head)
    assert first is not None, head
    return first[1].lower().replace("-", "_")


_FORM = r"(?:[a-z]\w* )?((?:--?[a-zA-Z][\w-]*(?:, )?)*)(\[=\w+\])? ?(.*?)((?<!,)\.\.\.)?(!?)"


def _option(parameter: str, head: str, says: str, title: str, reads: Mapping[str, Any]) -> Option:
    form, _, kind = head.partition("  ")
    read, _, default = (one.strip() for one in kind.partition("="))
    found = re.fullmatch(_FORM, form)
    assert found is not None, head
    names = tuple(re.findall(r"-[\w-]+", found[1]))
    settings: dict[str, Any] = {"dest": parameter} if names else {}
    word, many = found[3], bool(found[4])
    if found[2]:
        settings |= {"nargs": "?", "const": "", "metavar": found[2][2:-1]}
    elif word.startswith("-- "):
        settings |= {"nargs": argparse.REMAINDER, "metavar": word}
    elif word:
        several = "*" if word.endswith("...]") else "?" if word[0] == "[" else None
        plain = re.sub(r"^\[(.+?)(\.\.\.)?\]$", r"\1", word)
        shape = re.fullmatch(r"([^{]*)(\{.*\})?", plain)
        assert shape is not None, head
        metavar, choices = shape[1], shape[2]
        metavars = tuple(metavar.split(" "))
        settings |= {"metavar": metavars if len(metavars) > 1 else metavar or None}
        settings |= {"nargs": several or len(metavars)} if several or len(metavars) > 1 else {}
        settings |= {"choices": tuple(choices[1:-1].split(","))} if choices else {}
    elif read == "const":
        settings |= {"action": "store_const", "const": default}
    else:
        settings |= {"action": "store_true"}
    if many:
        settings |= {"action": "append"} if names else {"nargs": "+"}
    if read not in ("", "const"):
        settings["type"] = reads[read]
    if default and read != "const":
        settings["default"] = reads[read](default) if read else default
        says += f" (default: {default})" if says and "default" not in says else ""
    if found[5]:
        settings["required"] = True
    settings["help"] = says.replace("{side}", SIDE) or argparse.SUPPRESS
    return Option(names or (parameter,), settings, title)


def whole_sentence(says: str) -> str:
    """Give the sentence of a row with what is looked up in it."""
    for one, place in _LISTS.items():
        if f"{{{one}}}" in says:
            found: Any = registry.function(place)
            text = str(found()) if callable(found) else ", ".join(found)
            says = says.replace(f"{{{one}}}", text)
    return says


# --- How words are read; argparse reports what cannot be.


def number(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def share(text: str) -> float:
    """Read a share, ``0.05`` or ``5%``, from 0 to below 1."""
    value = number(text.strip().removesuffix("%")) / (100 if "%" in text else 1)
    if not 0 <= value < 1:
        what = f"must be a number from 0 to below 1, such as 0.01, or 1%, not {text!r}"
        raise argparse.ArgumentTypeError(what)
    return value


def named(text: str) -> str:
    """Read a name, which trials store in its normal form (NFC)."""
    from .words import normal

    return normal(text)


def columns(text: str) -> dict[str, str]:
    """Read roles of columns, ``benchmark=path, value=a+b``: a comma in a heading parts nothing."""
    parts = re.split(r",\s*(?=[a-z]+\s*=)", text.strip())
    found = [part.partition("=") for part in parts]
    if not all(role.strip() and name.strip() for role, _, name in found):
        raise argparse.ArgumentTypeError(f"{text!r} is not ROLE=COLUMN, such as value=time_ms")
    return {role.strip(): name.strip() for role, _, name in found}


def warmup(text: str) -> WarmupIterations:
    """Read a number of iterations, or ``auto``."""
    from .record.manifest import NEEDS, read_warmup

    try:
        return read_warmup(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {NEEDS}") from None


def length(text: str) -> float:
    """Read a length: ``85mm``, ``8.5cm``, ``3.35in``, or millimetres without a unit."""
    for unit, factor in (("mm", 1.0), ("cm", 10.0), ("in", 25.4), ("", 1.0)):
        if text.endswith(unit):
            try:
                return float(text.removesuffix(unit)) * factor
            except ValueError:
                break
    raise argparse.ArgumentTypeError(f"{text!r} is not a length, such as 85mm")


def patience(text: str) -> float:
    """Read for how many seconds one waits; without a number as long as it takes."""
    try:
        seconds = float(text or "inf")
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, not {text!r}")
    return seconds


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    if len(text) > 18:  # no file of ours holds it
        raise argparse.ArgumentTypeError(f"must be a number of at most 18 digits, not {text!r}")
    return int(text)
