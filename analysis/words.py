"""Words that the runner and the judge set alike."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from os.path import commonprefix
from typing import Any

# What has no glyph of its own but an effect: controls, marks and overrides of direction (UAX 9),
# separators of lines, invisible and deprecated formats, tags, halves of surrogate pairs (they come
# from file names that are no UTF-8, and cannot be written as UTF-8) and noncharacters. The joiners
# U+200C and U+200D stay: scripts and emoji are spelt with them, and `<bdi>` bounds their effect.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufdd0-\ufdef\ud800-\udfff\U000e0000-\U000e007f"
    f"{''.join(chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))}]"
)


class Name(str):
    """A name that is not ours: it is the string as it is, and an f-string writes it for a person.

    ``f"{name}"`` gives it whole, without what a terminal would obey (`shown`), ``f"{name:.28}"`` in 28
    columns, without its middle. Keys, files, JSON and commands hold it as it is: `str.join` or ``+`` put it there.
    """

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        text = shown(self)
        return shorten(text, int(spec[1:])) if spec[:1] == "." else format(text, spec)


def name_fields(record: object, *fields: str) -> None:
    """Make a `Name` of what each of these fields of a frozen record holds, or of each in its tuple, or of its keys."""
    for field in fields:
        value: Any = getattr(record, field)
        if isinstance(value, tuple):
            value = tuple(map(Name, value))
        elif isinstance(value, Mapping):
            value = {Name(name): one for name, one in value.items()}
        elif value:
            value = Name(value)
        object.__setattr__(record, field, value)


def shorten(text: str, width: int) -> str:
    """Cut a long name in its middle; its ends tell most."""
    if len(text) <= width:
        return text
    head = width // 2
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def shown(text: str) -> str:
    """Give a whole name as it may be shown; it is still to be escaped.

    ASCII controls become their pictures (a line feed ``␊``), other characters without a glyph their
    number, such as ``U+202E``. What is left says the same and can be written as UTF-8.
    """
    return _UNSEEN.sub(_picture, text)


def shown_lines(text: str) -> str:
    """Clean a text of several lines, which stay lines."""
    return "\n".join(map(shown, text.split("\n")))


def _picture(found: re.Match[str]) -> str:
    number = ord(found.group())
    if number < 0x20:
        return chr(0x2400 + number)
    return "\u2421" if number == 0x7F else f"U+{number:04X}"


def shortened(names: Sequence[str], width: int) -> Mapping[str, str]:
    """Give each name as it is shown where there is room for `width` characters.

    A longer one loses its middle. Two that would look alike show where they differ instead, and are
    whole if that does not tell them apart either; only then one is longer than `width`.

    Parameters
    ----------
    names : sequence of str
        All that stand next to each other, as they are; each may be there more than once.
    width : int
        At least 8 for names to be separated within it.

    Returns
    -------
    mapping of str to str
        Under the name as it is. Names that `shown` shortens alike stay alike.
    """
    whole = {name: shown(name) for name in names}
    found = {name: shorten(text, width) for name, text in whole.items()}
    for alike in _alike(found, whole):
        texts = [whole[name] for name in alike]
        first = len(commonprefix(texts))  # noqa: RUF071 - characters are meant
        last = len(commonprefix([text[first:][::-1] for text in texts]))  # noqa: RUF071 - as above
        for name in alike:
            found[name] = _around(whole[name], first, last, width)
    for alike in _alike(found, whole):
        found.update((name, whole[name]) for name in alike)
    return found


_WORDS = re.compile(r"(?:.*(?:[^\w.+]|_))?", re.DOTALL)  # a text up to its last sign between words


def without_shared(names: Iterable[str]) -> Mapping[str, str]:
    """Give names without the words that all of them begin and end with: ``…inflate``, ``…deflate``."""
    whole = {name: shown(name) for name in names}
    texts = {*whole.values()}
    shared = (commonprefix([text[::step] for text in texts]) for step in (1, -1))  # noqa: RUF071 - characters are meant
    first, last = (_WORDS.match(text).end() for text in shared)  # type: ignore[union-attr]
    if len(texts) < 2 or not 3 < first + last < min(map(len, texts)):
        return whole
    left, right = "…" * bool(first), "…" * bool(last)
    return {name: f"{left}{x[first : len(x) - last]}{right}" for name, x in whole.items()}


def apart(names: Sequence[str], width: int) -> list[str]:
    """Give names in their order as `shortened` does: those of two sides, or of all columns."""
    found = shortened(names, width)
    return [found[name] for name in names]


def _alike(found: Mapping[str, str], whole: Mapping[str, str]) -> list[list[str]]:
    """Group the names that look alike though they are not."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, text in found.items():
        groups[text].append(name)
    return [group for group in groups.values() if len({whole[name] for name in group}) > 1]


def _around(text: str, first: int, last: int, width: int) -> str:
    """Keep both ends, and what stands between the `first` and the `last` shared characters."""
    end = max(1, (width - 2) // 4)
    middle = width - 2 - 2 * end
    start = max(end, min(first - middle // 3, len(text) - end - middle))
    different = len(text) - last - first
    stop = min(start + max(middle, 0), len(text) - end)
    if different <= 0 or start >= stop:
        return shorten(text, width)
    left = "" if start == end else "…"
    right = "" if stop == len(text) - end else "…"
    return f"{text[:end]}{left}{text[start:stop]}{right}{text[len(text) - end :]}"


WIDTH = 80  # columns of a screen, the same on a terminal, in a file and in a pipe
_MARGIN = 6  # columns of ``note`` and ``next`` with the spaces behind them
_INNER = 4  # further ones of a command's second line
_WHY = "    "  # between a command and what it is for


def quoted(word: str) -> str:
    """Quote a word for a shell; what has no glyph stands as an escape that bash and zsh read."""
    if not _UNSEEN.search(word):
        return shlex.quote(word)
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{_UNSEEN.sub(_escape, plain)}'"


def _escape(found: re.Match[str]) -> str:
    number = ord(found.group())
    if number < 0x80 or 0xDC80 <= number <= 0xDCFF:  # a byte of a file name that is no UTF-8
        return f"\\x{number & 0xFF:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def command_line(words: Iterable[str]) -> str:
    """Give a command as one line that a shell takes back into these words, and fairtrial into what they name."""
    return " ".join(map(quoted, _dashes(words)))


# how options are spelled here; another word with a dash, such as -O2 or -x.yaml, is a name
_OPTION = re.compile(r"-[A-Za-z]?|--([a-z][a-z-]*(=.*)?)?", re.DOTALL)
_KNOWN = ("fairtrial", "chmod", "df", "iconv", "ls")  # to the others each name is a file's


def _dashes(words: Iterable[str]) -> list[str]:
    """Spell names that begin with a dash so that fairtrial takes none for an option: ``--variant=-O2``, ``./-x``."""
    found: list[str] = []
    for word in words:
        program = found[0] if found else ""
        if program in _KNOWN and word[:1] == "-" and not _OPTION.fullmatch(word):
            option = program == "fairtrial" and found[-1][:1] == "-" and "=" not in found[-1]
            word = f"{found.pop()}={word}" if option else f"./{word}"  # noqa: PLW2901
        found.append(word)
    return found


def note_lines(text: str, width: int = WIDTH) -> list[str]:
    """Set a note below an answer: ``note  TEXT``, further lines below the text."""
    return _hanging("note", shown(text), width)


def next_lines(words: Sequence[str], why: str = "", width: int = WIDTH) -> list[str]:
    """Set what to do next: ``next  COMMAND    WHY``.

    A command is never abbreviated. Where it does not fit, it is continued behind a backslash between two of
    its words, so that its lines can be pasted; its reason then stands below it.
    """
    spelled = [*map(quoted, _dashes(words))]
    whole = f"{'next':{_MARGIN}}{' '.join(spelled)}{_WHY + shown(why) if why else ''}"
    if len(whole) <= width:
        return [whole]
    lines = [f"{'next':{_MARGIN}}"]
    for number, word in enumerate(spelled):
        space = " " * (number > 0)
        last = number == len(spelled) - 1
        if number and len(lines[-1]) + len(space + word) + 2 * (not last) > width:
            lines[-1] += " \\"
            lines.append(" " * (_MARGIN + _INNER) + word)
        else:
            lines[-1] += space + word
    return [*lines, *(_hanging("", shown(why), width) if why else ())]


def _hanging(label: str, text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(
        text,
        width,
        initial_indent=f"{label:{_MARGIN}}",
        subsequent_indent=" " * _MARGIN,
        break_on_hyphens=False,
        break_long_words=False,  # paths can be pasted
    )


def normal(name: str) -> str:
    """Give a name in its normal form (NFC), in which it is stored and compared."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def alike(names: Iterable[str]) -> list[tuple[str, str]]:
    """Give the pairs of names that a reader may take for one: but for case, width or form the same."""
    seen: dict[str, str] = {}
    found = []
    for name in names:
        key = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
        other = seen.setdefault(key, name)
        if other != name:
            found.append((other, name))
    return found


# the last part, of machines, tells one redaction from another: equal numbers of two say nothing
PLACEHOLDER = re.compile(
    r"redacted-(?P<sort>[a-z]+)-(?P<number>\d+)(?:-(?P<tag>[0-9a-f]{8}))?(?![\w-])"
)


def placeholder_of(sort: str, number: int, tag: str | None = None) -> str:
    """Give the placeholder of the name of this number, such as ``redacted-host-1``."""
    return f"redacted-{sort}-{number}" + ("" if tag is None else f"-{tag}")
