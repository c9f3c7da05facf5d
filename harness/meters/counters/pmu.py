"""The kernel's units that count (PMUs), as /sys/bus/event_source shows them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ...host import Tree, format_cpus
from .raw import RawEvent, RawEventError, parse_terms

DEVICES: Final = "/sys/bus/event_source/devices"

_WORDS: Final = ("config", "config1", "config2", "config3")
_PLACE: Final = re.compile(
    r"(config[123]?):([0-9]{1,2}(?:-[0-9]{1,2})?(?:,[0-9]{1,2}(?:-[0-9]{1,2})?)*)"
)


class PmuError(ValueError):
    """An event that no PMU here counts: what, where it was looked, and what to do."""

    def __init__(self, what: str, where: str, fix: str | None = None) -> None:
        super().__init__(what)
        self.what, self.where, self.fix = what, where, fix


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """An event as the kernel takes it: the PMU's type, and what its terms set."""

    kind: int
    words: tuple[int, int, int, int]
    on_processor: bool


class Pmus:
    """The PMUs of a host, read through its `Tree`; those of `cpus` count where targets are pinned."""

    def __init__(self, tree: Tree, cpus: tuple[int, ...] | None) -> None:
        self._tree = tree
        self._cpus = cpus

    @property
    def names(self) -> tuple[str, ...]:
        """All PMUs."""
        return self._tree.names(DEVICES) or ()

    @property
    def cores(self) -> tuple[str, ...]:
        """Those of the processors' cores: several where it has cores of several kinds."""
        kinds = tuple(name for name in self.names if self._of_cores(name) is not None)
        return kinds or (("cpu",) if "cpu" in self.names else ())

    def of_the_targets(self) -> int | None:
        """Give the type of the PMU that events without one must name; None where there is one kind.

        Raises
        ------
        PmuError
            If there are several kinds of cores, and no kind is the one on which the targets stay.
        """
        kinds = self.cores
        if len(kinds) < 2:
            return None
        for name in kinds:
            if self._holds_the_targets(name):
                return self._type(name)
        there = ", ".join(
            f"{name}: CPUs {format_cpus(self._of_cores(name) or ())}" for name in kinds
        )
        raise PmuError(
            "the processor has cores of several kinds, and the runs may change from one to another, "
            "where it would not be counted on",
            f"{DEVICES} ({there})",
            "name CPUs of one kind in isolation.cpus",
        )

    def encoded(self, event: RawEvent) -> Encoded:
        """Give what the kernel takes for an event.

        Raises
        ------
        PmuError
            If the PMU is not there or cannot count one program, or knows no such term.
        """
        place = f"{DEVICES}/{event.pmu}"
        if event.pmu not in self.names:
            known = ", ".join(self.names) or "none"
            raise PmuError(f"there is no PMU '{event.pmu}' on this host", f"{DEVICES}: {known}")
        if self._tree.cpus(f"{place}/cpumask") is not None:
            what = f"the PMU '{event.pmu}' counts for the whole machine, not for one program"
            raise PmuError(what, f"{place}/cpumask")
        cores = self._of_cores(event.pmu)
        if cores is not None and len(self.cores) > 1 and not self._holds_the_targets(event.pmu):
            what = (
                f"the PMU '{event.pmu}' counts on CPUs {format_cpus(cores)} only, and the runs may"
            )
            fix = "name CPUs of that kind in isolation.cpus"
            raise PmuError(f"{what} be executed elsewhere", f"{place}/cpus", fix)
        words = dict.fromkeys(_WORDS, 0)
        for name, value in self._without_names(place, event):
            self._put(words, place, name, value)
        return Encoded(
            kind=self._type(event.pmu),
            words=(words["config"], words["config1"], words["config2"], words["config3"]),
            on_processor=event.pmu in self.cores,
        )

    def _of_cores(self, name: str) -> tuple[int, ...] | None:
        return self._tree.cpus(f"{DEVICES}/{name}/cpus")

    def _holds_the_targets(self, name: str) -> bool:
        return bool(self._cpus) and set(self._cpus or ()) <= set(self._of_cores(name) or ())

    def _type(self, name: str) -> int:
        number = self._tree.number(f"{DEVICES}/{name}/type")
        if number is None:
            raise PmuError(f"the PMU '{name}' does not say its type", f"{DEVICES}/{name}/type")
        return number

    def _without_names(self, place: str, event: RawEvent) -> list[tuple[str, int]]:
        """Put the terms that the kernel lists under a name in place of that name."""
        found: dict[str, int] = {}
        for name, value in event.terms:
            listed = None if value is not None else self._tree.text(f"{place}/events/{name}")
            if listed is None:
                found[name] = 1 if value is None else value
                continue
            try:
                terms = parse_terms(listed)
            except RawEventError as error:
                what = f"the event '{name}' {error.what}, and needs more terms"
                raise PmuError(what, f"{place}/events/{name} = {listed}") from None
            found |= {term: 1 if number is None else number for term, number in terms}
        return list(found.items())

    def _put(self, words: dict[str, int], place: str, name: str, value: int) -> None:
        """Put a term's value where the PMU's folder ``format`` says, from the lowest bit on."""
        if name in _WORDS:
            words[name] |= value
            return
        layout = self._tree.text(f"{place}/format/{name}")
        word, spans = _layout(layout)
        if not spans:
            folders = [self._tree.names(f"{place}/{part}") or () for part in ("format", "events")]
            known = ", ".join(one for names in folders for one in names)
            what = f"the PMU '{place.rpartition('/')[2]}' has no term and no event '{name}'"
            raise PmuError(what, f"{place}/format, {place}/events: {known or 'none'}")
        left = value
        for low, high in spans:
            width = high - low + 1
            words[word] |= (left & ((1 << width) - 1)) << low
            left >>= width
        if left:
            what = f"{value:#x} does not fit into the term '{name}'"
            raise PmuError(what, f"{place}/format/{name} = {layout}")


def _layout(text: str | None) -> tuple[str, list[tuple[int, int]]]:
    """Read where a term lies: the word, and from which bit to which; no bits where that is not told."""
    match = None if text is None else _PLACE.fullmatch(text)
    if match is None:
        return "", []
    pairs = [span.partition("-") for span in match[2].split(",")]
    spans = [(int(low), int(high or low)) for low, _, high in pairs]
    return match[1], spans if all(low <= high < 64 for low, high in spans) else []
