"""Files of other tools put together: which cell is which variant of which benchmark, and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..errors import UsageError
from ..report import Caution, figures
from .cells import ForeignFile
from .copies import kept_apart
from .doubles import one_result_once, one_variant_once, sources_twice
from .meanings import one_meaning, require_agreement
from .opening import readable
from .placed import Chosen, Placed, placed_cells

__all__ = ["Chosen", "Gathered", "Placed", "gather", "occasions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """All cells of all files.

    Attributes
    ----------
    cells : tuple of Placed
        In the order of files and cells.
    files : tuple of ForeignFile
        Where they stem from; without copies.
    rule : str
        Which key was taken as the variant, as a sentence.
    cautions : tuple of Caution
        What was met: equal names, one variant under two names, what the files cannot tell.
    """

    cells: tuple[Placed, ...]
    files: tuple[ForeignFile, ...]
    rule: str
    cautions: tuple[Caution, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics in their order; the first is the default."""
        return tuple(dict.fromkeys(one.cell.metric for one in self.cells))

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants in their order."""
        return tuple(dict.fromkeys(one.variant for one in self.cells))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks in their order."""
        return tuple(dict.fromkeys(one.benchmark for one in self.cells))


def gather(files: Sequence[ForeignFile], chosen: Chosen) -> Gathered:
    """Decide for all files alike which cell is which.

    Copies are no measurements: a file that was given twice, a variant with exactly the values of
    another one, a benchmark whose last result was kept are left out, each with a caution. A metric is
    chosen last: equal values of one metric among several tell no copy.

    Raises
    ------
    UsageError
        If a key is in no cell, the metric in no file, or the direction contradicts the files.
    AnalysisError
        If a name is no text, a value is too large, or a count of failed runs is absurd.
    """
    named = placed_cells(files, chosen)
    again, copied = sources_twice(named)
    files = [file for k, file in enumerate(files) if k not in again]
    placed = [one for k, cells in enumerate(named) if k not in again for one in cells]
    told = [*_said(files), *_hosts(files), *_alike(placed), *copied]
    placed, cautions = one_meaning(placed, chosen.better)
    told += cautions
    for step in (one_variant_once, one_result_once, kept_apart):
        placed, cautions = step(placed)
        told += cautions
    if chosen.metric is not None:
        placed = _only(placed, chosen.metric)
    require_agreement(placed, chosen.better)
    return Gathered(
        cells=tuple(placed),
        files=tuple(files),
        rule=_rule(files, chosen),
        cautions=tuple(dict.fromkeys(told)),
    )


def _said(files: Sequence[ForeignFile]) -> Iterator[Caution]:
    """Give what the files cannot tell, then what was met in them."""
    for kind in ("losses", "notes"):
        for file in files:
            for loss in getattr(file, kind):
                yield Caution(loss.code, loss.text, (readable(file.source),))


def _hosts(files: Sequence[ForeignFile]) -> Iterator[Caution]:
    """Say that files stem from several hosts."""
    hosts = tuple(dict.fromkeys(host for file in files if (host := file.facts.get("host"))))
    if len(hosts) > 1:
        text = (
            f"the files stem from {len(hosts)} hosts ({figures.listed(hosts, 3)}): a difference between "
            "them may be that of the hosts"
        )
        yield Caution("several-hosts", text, hosts)


def _alike(placed: Sequence[Placed]) -> Iterator[Caution]:
    """Say that two names differ in blanks only, and are two."""
    for names in ({one.benchmark: None for one in placed}, {one.variant: None for one in placed}):
        first: dict[str, str] = {}
        for name in names:
            other = first.setdefault(" ".join(name.split()), name)
            if other != name:
                text = f"{other!r} and {name!r} differ in blanks only, and are taken for two"
                yield Caution("names-alike", text, (other, name))


def _only(placed: Sequence[Placed], metric: str) -> list[Placed]:
    """Keep one metric, with the failed runs that stand in cells of the others."""
    mine = [one for one in placed if one.cell.metric == metric]
    if not mine:
        known = dict.fromkeys(one.cell.metric for one in placed)
        raise UsageError(
            f"the files have no metric {metric!r}",
            placed[0].source,
            f"known here: {', '.join(known)}",
        )
    groups: dict[object, list[Placed]] = {}
    for one in placed:
        groups.setdefault((one.benchmark, one.variant, one.sitting), []).append(one)
    kept = []
    for cells in groups.values():
        counts = [one.cell.failed for one in cells if one.cell.failed is not None]
        failed = max(counts, default=None)
        own = [one for one in cells if one.cell.metric == metric]
        if own:
            kept += [replace(one, cell=replace(one.cell, failed=failed)) for one in own]
        elif failed:
            like = replace(
                mine[0].cell,
                benchmark=cells[0].cell.benchmark,
                variant=cells[0].cell.variant,
                session=cells[0].cell.session,
                keys=cells[0].cell.keys,
                processes=(),
                labels=None,
                inner=None,
                warmups=None,
                failed=failed,
            )
            kept.append(replace(cells[0], cell=like))
    return kept


def _rule(files: Sequence[ForeignFile], chosen: Chosen) -> str:
    if chosen.variant is not None:
        return f"the variant is the key {chosen.variant!r} (--variant)"
    rules = dict.fromkeys(file.variant_rule for file in files)
    return f"the variant is {' or '.join(rules)}; --variant KEY takes another"


def occasions(gathered: Gathered) -> Iterator[tuple[str, int]]:
    """Give every occasion with its number, from 1, in their order."""
    yield from (
        (name, k) for k, name in enumerate(dict.fromkeys(o.occasion for o in gathered.cells), 1)
    )
