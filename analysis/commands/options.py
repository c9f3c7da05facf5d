"""Arguments that several subcommands share, and how a result is shown.

An option means the same everywhere: ``--confidence`` is the level of an answer, ``--alpha`` the risk
of a single test, ``--resamples`` the random draws of one answer, ``--unit`` what is drawn together,
``--interval`` a kind of interval, ``--output`` where files go. Importing this module costs no numpy.
Errors pass through; `harness.cli` prints them.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import re
import signal
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TextIO

from ..errors import UsageError
from ..record.manifest import NEEDS, WarmupIterations, read_warmup

# --- The option ``--warmup-iterations``, of every command that takes ``--metric``;
# `harness.cli` makes it hold.


def add_warmup(parser: argparse.ArgumentParser) -> None:
    """Add ``--warmup-iterations``."""
    parser.add_argument(
        "--warmup-iterations",
        type=_warmup,
        metavar="N",
        help="leave the first N iterations of each run out, or 'auto': those before it is steady "
        "(default: what the campaign says of the metric; 0 judges all)",
    )


def _warmup(text: str) -> WarmupIterations:
    """Read a number of iterations, or ``auto``; argparse reports what is neither."""
    try:
        return read_warmup(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {NEEDS}") from None


if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..data.matrix import PerformanceMatrix
    from ..importers.reader import Reading, Sides
    from ..plots.chart import Sheet
    from ..stats.workers import Kind

    # argparse gives no public name to what add_subparsers() returns
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

    class CommandResult(Protocol):
        """What a command shows."""

        def to_dict(self) -> dict[str, Any]:
            """Give what ``--json`` prints."""


SIDE = "a variant of a trial (runs/NAME:VARIANT), a file of another tool, or a file of numbers: "
"one row of runs for each benchmark, or one number on each line"

# every kind of interval that some command has, and what it is
INTERVALS: Mapping[str, str] = {
    "t": "Student's t on logs",
    "percentile": "the bootstrap's quantiles, as published",
    "corrected": "percentile, corrected for few runs",
    "bca": "bias-corrected and accelerated",
    "studentized": "by a bootstrap of t",
}


def add_sides(parser: argparse.ArgumentParser) -> None:
    """Add CANDIDATE and BASELINE, and how they are read."""
    parser.add_argument("candidate", metavar="CANDIDATE", help=SIDE)
    parser.add_argument(
        "baseline",
        metavar="BASELINE",
        nargs="?",
        help="the same (default: the baseline of the candidate's campaign; then CANDIDATE may be "
        "a trial with one candidate)",
    )
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add ``--metric``, ``--better``, ``--layout``, ``--decimal`` and ``--level``: how sources are read."""
    parser.set_defaults(command=parser.prog)
    add_metric(parser)
    add_better(parser)
    add_texts(parser)
    add_level(parser)


def add_texts(parser: argparse.ArgumentParser) -> None:
    """Add ``--layout`` and ``--decimal``: how files of numbers are read."""
    parser.add_argument(
        "--layout",
        choices=("rows", "columns"),
        help="in files of numbers, whether a benchmark is a row or a column (default: rows; a "
        "file with one number on each line has the runs of one benchmark)",
    )
    add_decimal(parser)


def add_decimal(parser: argparse.ArgumentParser) -> None:
    """Add ``--decimal``."""
    parser.add_argument(
        "--decimal",
        choices=("comma", "point"),
        help="the decimal sign in files whose numbers can be read in two ways, such as 1,234",
    )


def add_better(parser: argparse.ArgumentParser) -> None:
    """Add ``--better``."""
    parser.add_argument(
        "--better",
        choices=("lower", "higher"),
        help="whether lower or higher values are better, where the file does not say it",
    )


def add_level(parser: argparse.ArgumentParser) -> None:
    """Add ``--level``."""
    parser.add_argument(
        "--level",
        choices=("process", "iteration"),
        default="process",
        help="what counts as one run: a process, with the mean of its iterations (default), or "
        "each iteration, as if they were independent",
    )


class WhenShown:
    """A part of a help whose table is read when the help is shown."""

    def __init__(self, write: Callable[[], str]) -> None:
        self._write = write

    def __str__(self) -> str:
        return self._write()


def _every_runs_metrics() -> str:
    from ..record.run_numbers import BUILTIN_METRICS

    return ", ".join(BUILTIN_METRICS)


def add_metric(parser: argparse.ArgumentParser) -> None:
    """Add ``--metric``."""
    metric = parser.add_argument(
        "--metric",
        metavar="M",
        help="what to compare: %(known)s, or a metric parsed from the output (default: the "
        "campaign's 'judge', else wall)",
    )
    vars(metric)["known"] = WhenShown(_every_runs_metrics)
    add_warmup(parser)


def add_value(
    parser: argparse.ArgumentParser,
    option: str,
    metavar: str,
    said: str,
    default: float | None = None,
    *,
    type: Callable[[str], Any] | None = None,
) -> None:
    """Add an option that takes a value, a number if no type is named; its default is said."""
    shown = "" if default is None else f" (default: {default:g})"
    parser.add_argument(
        option, type=type or number, default=default, metavar=metavar, help=f"{said}{shown}"
    )


def add_confidence(
    parser: argparse.ArgumentParser,
    said: str = "that the answer needs",
    *,
    type: Callable[[str], Any] | None = None,
    default: float | None = 0.95,
) -> None:
    """Add ``--confidence``, the level of an answer; ``--conf-level`` is its hidden alias."""
    shown = "" if default is None else f" (default: {default:g})"
    for option, told in (("--confidence", f"confidence {said}{shown}"), ("--conf-level", None)):
        parser.add_argument(
            option,
            dest="confidence",
            type=type or number,
            default=default,
            metavar="R",
            help=argparse.SUPPRESS if told is None else told,
        )


def add_interval(
    parser: argparse.ArgumentParser, kinds: tuple[str, ...], default: str, said: str
) -> None:
    """Add ``--interval`` with the kinds that the command has."""
    shown = "; ".join(
        f"{kind}{' (default)' if kind == default else ''}: {INTERVALS[kind]}" for kind in kinds
    )
    parser.add_argument(
        "--interval", choices=kinds, default=default, help=f"{said}. {shown}".replace("%", "%%")
    )


def add_unit(
    parser: argparse.ArgumentParser, choices: tuple[str, ...], default: str | None, said: str
) -> None:
    """Add ``--unit``, what is drawn or moved together; ``--draws`` is its hidden alias."""
    for option, told in (("--unit", said), ("--draws", argparse.SUPPRESS)):
        parser.add_argument(option, dest="unit", choices=choices, default=default, help=told)


def add_resamples(parser: argparse.ArgumentParser, default: int | None, said: str) -> None:
    """Add ``--resamples``."""
    parser.add_argument("--resamples", type=int, default=default, metavar="N", help=said)


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed``."""
    add_value(parser, "--seed", "S", "seed of the random draws", 0, type=int)


def add_plot(parser: argparse.ArgumentParser, what: str = "it") -> None:
    """Add ``--plot``."""
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help=f"also draw {what}; the ending of FILE is the format: .svg, .png or .pdf",
    )


def add_json(
    parser: argparse.ArgumentParser | argparse._MutuallyExclusiveGroup, said: str = ""
) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=f"print the whole result as JSON{said}")


def number(text: str) -> float:
    """Read a number; argparse reports what is none."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def named(text: str) -> str:
    """Read a name, which trials store in its normal form (NFC)."""
    from ..words import normal

    return normal(text)


def reading(args: argparse.Namespace) -> Reading:
    """Give how the sources of this command line are read."""
    from ..importers.reader import Reading

    names = ("metric", "better", "layout", "decimal", "level", "command")
    return Reading(**{name: getattr(args, name) for name in names})


def metric_of(*matrices: PerformanceMatrix) -> str | None:
    """Give what the first line of a text must name: the metric that was chosen of trials."""
    from ..errors import FairtrialError
    from ..record.manifest import read_manifest

    for matrix in matrices:
        if matrix.trial is None or matrix.metric is None:
            continue
        if matrix.metric != "wall":
            return matrix.metric
        with contextlib.suppress(FairtrialError):  # a fleet, or another tool's file
            return "wall" if read_manifest(Path(matrix.trial)).questions else None
    return None


def show(
    result: CommandResult,
    out: TextIO,
    *,
    as_json: bool,
    metric: str | None = None,
    markdown: bool = False,
) -> None:
    """Print a result as text or Markdown, or exactly its ``to_dict()`` as JSON."""
    if as_json:
        import json

        json.dump(result.to_dict(), out, indent=2, allow_nan=False)
        out.write("\n")
    elif markdown:
        from ..pages.as_markup import render_markdown
        from ..pages.model import page_of

        out.write(f"{render_markdown(page_of(result)).rstrip()}\n")
    else:
        out.write(f"{headed(str(result), metric)}\n")


def headed(text: str, metric: str | None) -> str:
    """Name the metric above a text whose first line does not say it."""
    line = text.partition("\n")[0]
    said = metric is None or re.search(rf"(?<![\w.+-]){re.escape(metric)}(?![\w+-])", line)
    return text if said else f"metric: {metric}\n{text}"


def line_to(err: TextIO) -> Callable[[str], None]:
    """Give what says one line on `err` at once."""

    def say(text: str) -> None:
        err.write(f"{text}\n")
        err.flush()

    return say


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add ``--variant`` and ``--benchmark``."""
    parser.add_argument(
        *("--variant", "--candidate"),
        action="append",
        type=named,
        metavar="V",
        help="only this candidate; may be repeated",
    )
    parser.add_argument(
        "--benchmark",
        action="append",
        type=named,
        metavar="B",
        help="only this benchmark; may be repeated",
    )


def add_benchmarks(parser: argparse.ArgumentParser) -> None:
    """Add ``--benchmark`` and ``--exclude``: which benchmarks of the sources count."""
    for option, said in (
        ("--benchmark", "only this benchmark"),
        ("--exclude", "leave this benchmark out"),
    ):
        parser.add_argument(
            option,
            action="append",
            type=named,
            metavar="NAME",
            help=f"{said}; may be repeated",
        )


def chosen(
    args: argparse.Namespace, matrices: Sequence[PerformanceMatrix]
) -> list[PerformanceMatrix]:
    """Give the matrices with the benchmarks of ``--benchmark``, without those of ``--exclude``."""
    from ..importers.reader import with_benchmarks

    return with_benchmarks(matrices, args.benchmark or (), args.exclude or ())


def chosen_sides(args: argparse.Namespace, sides: Sides) -> Sides:
    """Give both sides with the benchmarks that count."""
    ours, theirs = chosen(args, (sides.candidate, sides.baseline))
    return replace(sides, candidate=ours, baseline=theirs)


def add_judging(parser: argparse.ArgumentParser) -> None:
    """Add the rules of the verdict, the options of reading, and ``--confidence``."""
    add_value(parser, "--margin", "M", "differences smaller than this count as equivalent", 0.01)
    parser.add_argument(
        "--correction",
        choices=("holm", "bh", "none"),
        default="holm",
        help="how words allow for the number of benchmarks: Holm (default), Benjamini-Hochberg, no",
    )
    parser.add_argument(
        "--weight",
        action="append",
        default=[],
        metavar="NAME=W",
        help="the weight of a benchmark in the suite (default: 1); may be repeated",
    )
    parser.add_argument(
        "--looks",
        type=int,
        metavar="K",
        help="how many looks are taken at these sessions, each at risk / K (default: counted "
        "from the sessions that were appended to the trial)",
    )
    parser.add_argument(
        "--always-valid",
        action="store_true",
        help="use intervals that hold however often you look, from 3 sessions on",
    )
    parser.add_argument(
        "--certificate",
        metavar="FILE",
        help="the certificate of 'fairtrial calibrate' to cite (default: the newest one next to "
        "the trial)",
    )
    add_reading(parser)
    add_confidence(parser, "of each interval")


def asked(args: argparse.Namespace) -> dict[str, Any]:
    """Give the options as `judge` and `judge_sides` take them."""
    names = ("confidence", "margin", "correction", "looks", "always_valid")
    found = {name: getattr(args, name) for name in names}
    return found | {"benchmarks": args.benchmark, "weights": weights(args.weight)}


def candidates_of(chosen: Sequence[str] | None, named: str | None) -> tuple[str, ...] | None:
    """Name the candidates of ``--variant``, that of ``runs/NAME:VARIANT`` among them."""
    found = [*([] if named is None else [named]), *(chosen or ())]
    return tuple(dict.fromkeys(found)) or None


def metrics_of(
    args: argparse.Namespace, declared: Callable[[], Sequence[str]]
) -> Sequence[str | None]:
    """Give the metrics that have a screen each: those of ``--metric``, else those of the campaign."""
    return args.metric.split(",") if args.metric is not None else declared() or (None,)


def weights(given: Sequence[str]) -> dict[str, float] | None:
    """Read ``--weight NAME=W``."""
    found = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            equals = ""
        if not (equals and name):
            raise UsageError(f"--weight takes NAME=W, not {text!r}", fix="write --weight text=2")
    return found or None


def add_sheet(parser: argparse.ArgumentParser) -> None:
    """Add ``--width``, ``--font-size`` and ``--font-family``: how figures are set."""
    parser.add_argument(
        "--width",
        type=_width,
        default=178.0,
        metavar="W",
        help="width of a figure: 85mm for one column of a paper, 178mm for two (default); in mm, "
        "cm or in",
    )
    add_value(parser, "--font-size", "PT", "font size of a figure", 8.0)
    parser.add_argument(
        "--font-family",
        default="DejaVu Sans",
        metavar="F",
        help="an installed font for a figure (default: DejaVu Sans, which is always there)",
    )


def sheet_of(args: argparse.Namespace) -> Sheet:
    """Give the sheet that the options ask for."""
    from ..plots.chart import Sheet

    sheet = Sheet(width=args.width, font_size=args.font_size, font_family=args.font_family)
    sheet.check()
    return sheet


def _width(text: str) -> float:
    """Read a length: ``85mm``, ``8.5cm``, ``3.35in``, or millimetres without a unit."""
    for unit, factor in (("mm", 1.0), ("cm", 10.0), ("in", 25.4), ("", 1.0)):
        if text.endswith(unit):
            try:
                return float(text.removesuffix(unit)) * factor
            except ValueError:
                break
    raise argparse.ArgumentTypeError(f"{text!r} is not a length, such as 85mm")


_BACKENDS = {"threads": "threading", "processes": "loky"}  # joblib's names


def add_working(parser: argparse.ArgumentParser, kind: Kind) -> None:
    """Add ``--workers``, ``--backend`` and ``--dask``; `kind` is what the command prefers."""
    parser.add_argument(
        "--workers",
        type=int,
        metavar="W",
        help="workers at the same time (default: all usable cores); no result depends on it",
    )
    when = "" if kind == "threads" else " after the first 2 s"
    parser.add_argument(
        "--backend", choices=tuple(_BACKENDS), help=f"what the workers are (default: {kind}{when})"
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="use a Dask cluster: the address of its scheduler, or its scheduler file",
    )


@contextmanager
def working(args: argparse.Namespace) -> Iterator[int | None]:
    """Say where loops are executed inside this context; give their number of workers."""
    from ..stats.arguments import counted
    from ..stats.workers import MOST_WORKERS, available_cores, dask_cluster

    if args.dask is not None:
        for name in ("workers", "backend"):
            if getattr(args, name) is not None:
                raise UsageError(
                    f"--{name} is for this host, and --dask names a cluster",
                    fix="leave one of them out: a cluster has the workers that it has",
                )
        with dask_cluster(args.dask):
            yield None
        return
    count = available_cores()
    if args.workers is not None:
        count = counted("--workers", args.workers, most=MOST_WORKERS)
    if args.backend is None or count == 1:
        yield count
        return
    import joblib

    inner = {"inner_max_num_threads": 1} if args.backend == "processes" else {}
    with joblib.parallel_config(backend=_BACKENDS[args.backend], n_jobs=count, **inner):
        yield count


# --- Files that commands write, and being ended from outside while they do.
#
# A text is written beside its place and takes it when it is complete, so that a full disk or a killed
# command leaves what was there. What is no regular file, such as ``/dev/stdout`` or a pipe, is written
# as it is.


_HALVES = "backslashreplace"  # of surrogate pairs, from file names that are no UTF-8
_MOST = 0o666  # what a new file may be at most; the umask says what it is


def check_file(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
    try:
        place = _place(path)
        if place.is_dir():
            raise UsageError("this is a folder, not a file", str(path), "name a file in it")
        if place.exists() and not place.is_file():
            return
        check_folder(place.parent, named=path)
        if place.exists() and not os.access(place, os.W_OK):
            raise _refused(path, os.strerror(errno.EACCES))
    except OSError as error:  # such as a name too long
        raise _refused(path, error.strerror) from None


def check_folder(folder: Path, *, named: Path | None = None) -> None:
    """Refuse a folder that is none, or that no file can be made in."""
    if not folder.is_dir():
        raise UsageError(
            f"there is no folder {str(folder)!r}",
            str(named or folder),
            "make it, or name another place",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(
            f"nothing may be written in the folder {str(folder)!r}",
            str(named or folder),
            "name another place",
        )


def write_file(path: Path, content: str | bytes) -> None:
    """Write a text as UTF-8, or bytes, taking the place of a file that is there."""
    data = content.encode("utf-8", _HALVES) if isinstance(content, str) else content
    try:
        place = _place(path)
        if place.exists() and not place.is_file():
            place.write_bytes(data)
        else:
            _replace(place, data)
    except OSError as error:
        raise _refused(path, error.strerror) from None


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write several files into a folder, by their names."""
    for name, text in texts.items():
        write_file(folder / name, text)


def _place(path: Path) -> Path:
    """Follow links: the file that is meant is replaced, not the link."""
    return Path(os.path.realpath(path))


def _replace(place: Path, data: bytes) -> None:
    import tempfile

    mask = os.umask(0)
    os.umask(mask)
    mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else _MOST & ~mask
    file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - it is closed before it takes its place
        dir=place.parent, prefix=".", suffix=".part", delete=False
    )
    try:
        with file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), mode)
        os.replace(file.name, place)  # noqa: PTH105 - both are plain names
    except BaseException:
        Path(file.name).unlink(missing_ok=True)
        raise


def _refused(path: Path, why: str | None) -> UsageError:
    return UsageError(f"the file cannot be written: {why}", str(path), "name another file")


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as Ctrl-C does, so that what it has made goes with it.

    Only the first signal counts: a second one must not interrupt the removing.
    """
    # whoever started us with a signal ignored (nohup, a script's background job) meant it
    before = {
        number: handler
        for number in _SIGNALS
        if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    try:
        for number in before:
            signal.signal(number, end)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
