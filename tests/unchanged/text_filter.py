"""What may differ between two executions of one command line, and is taken out of both before they
are compared: the time of the execution, names that are drawn, paths of the installations, and of
commands that measure the measured numbers. Everything else counts.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping

# (reason, pattern, replacement); the order matters
DRAWN: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (reason, re.compile(pattern, re.MULTILINE), text)
    for reason, pattern, text in (
        (
            "the suffix that makes a new trial's name unique",
            r"(<now>)-[0-9a-f]{4}\b",
            r"\1-<drawn>",
        ),
        ("a temporary name of Python", r"\btmp[0-9a-z_]{8}\b", "<temporary>"),
        ("a name of ours that is drawn", r"(\.[\w.-]+?)[.-][0-9a-f]{8,32}(\.tmp)?\b", r"\1<drawn>"),
        ("a temporary folder of ours", r"\b(fairtrial-[a-z]+)-[0-9a-z_]{8}\b", r"\1-<drawn>"),
        ("a temporary folder of ours", r"\b(fairtrial)-[0-9a-z_]{8}\b", r"\1-<drawn>"),
        ("the room on the disk", r"[\d.]+ [kMGT]?B free\b", "<free> free"),
        ("what an artifact weighs", r"\b(files, )[\d.]+ [kMG]iB\b", r"\1<size>"),
        ("what an artifact weighs", r'("disk_bytes": )\d+', r"\1<size>"),
        ("findings say when; they are compared", r'("findings.jsonl": ")[0-9a-f]{64}', r"\1<hash>"),
        (
            "a bundle holds the product itself",
            r"\b(files,|files have|it has) [\d,]{7,} bytes",
            r"\1 <size>",
        ),
        ("a bundle holds the product itself", r'("bytes": )\d{7,}', r"\1<size>"),
        ("a bundle holds the product itself", r"^(- Disk: )[\d.]+ MiB\b", r"\1<size>"),
        ("whether the kernels were compiled before", r"^compiling the .*\n", ""),
        ("nothing else was said on stderr", r"^\[stderr\]\n(?=\[)", ""),
        ("a process", r"\b(pid|process|Process|PID)([ =:]+)\d+\b", r"\1\2<pid>"),
        ("how long a command took", r"^(elapsed time: )[\d.]+ s$", r"\1<took>"),
        ("an object's address", r"\b0x[0-9a-f]{8,16}\b", "<address>"),
        (
            "the key of hashed variables",
            r'"hidden_variables":\{.*?\}\}',
            '"hidden_variables":<drawn>',
        ),
    )
)
# Keys of JSON whose values are of the moment, or of the process: not measured, and never the same.
OF_THE_MOMENT = (
    *("boot_id", "uptime_s", "load_1min", "memory_available_bytes", "pid", "start_ns", "inode"),
    *("crc32", "elapsed_s", "took_s", "seconds"),
)
_MOMENT = re.compile(rf'("(?:{"|".join(OF_THE_MOMENT)})": ?)(?:"[^"]*"|[-+.\w]+)')
_TIMES = (
    (
        re.compile(r"\b(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?(?:\.\d+)?(?:Z|\+00:00)?"),
        None,
    ),
    (re.compile(r"\b(\d{4})(\d\d)(\d\d)[-T](\d\d)(\d\d)(\d\d)?Z?"), None),
)
_LEEWAY_S = 90
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d+|\d+|\.\d+)(?:[eE][-+]?\d+)?")
_SPACES = re.compile(r"[ \t]{2,}|-{3,}|─{2,}")
# Whether other programs took the CPU of a run, and what follows from it, is of the moment.
_DISTURBED = re.compile(
    r'^.*\b(?:disturbed[:-]|waited[ -]for[ -]|hypervisor took|lost time to).*\n|"disturbed": ?\w+,?|[ ]+disturbed$',
    re.MULTILINE,
)
_WITH_UNIT = re.compile(r"<n> (?:s|ms|µs|ns|min|h)\b(?: \(±[^)]*\))?")
_HASH = re.compile(r"\b[0-9a-f]{64}\b")


def filtered(
    text: str, *, begun: float, ended: float, paths: Mapping[str, str], measured: bool
) -> str:
    """Give `text` without what may differ.

    Parameters
    ----------
    text : str
        What a command printed, or a file that it wrote.
    begun, ended : float
        When it was executed, in seconds since 1970: times between are its own.
    paths : mapping of str to str
        Paths of its installation, and what stands for them.
    measured : bool
        Whether its numbers were measured: then none is compared, nor the blanks that align them.
    """
    for path, name in paths.items():
        text = text.replace(path, name)
    for pattern, _ in _TIMES:
        text = pattern.sub(lambda found: _time(found, begun, ended), text)
    for _, pattern, replacement in DRAWN:
        text = pattern.sub(replacement, text)
    if measured:
        text = _MOMENT.sub(r"\1<moment>", text)
        text = _DISTURBED.sub("", text)
        text = _SPACES.sub(" ", _NUMBER.sub("<n>", _HASH.sub("<hash>", text)))
        text = _WITH_UNIT.sub("<n> <unit>", text)
    return text


def _time(found: re.Match[str], begun: float, ended: float) -> str:
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    try:
        at = datetime.datetime(year, month, day, hour, minute, second, tzinfo=datetime.UTC)
    except ValueError:
        return found[0]
    near = begun - _LEEWAY_S <= at.timestamp() <= ended + _LEEWAY_S
    return "<now>" if near else found[0]
