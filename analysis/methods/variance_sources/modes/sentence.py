"""The sentence that says what separates a mode from the others."""

from __future__ import annotations

from ....report import figures
from ..covariates import Covariate, spoken
from ..result import Mode
from .rules import Rule
from .separation import Separation

__all__ = ["sentence_of", "values_of"]

_LEVELS = 5  # named before the rest is counted
_DIGITS = 4
_UNITS = {"khz": "kHz", "c": "°C", "bytes": "B"}  # as the names of numbers end


def sentence_of(mode: Mode, covariate: Covariate, found: Separation) -> str:
    """Say which values go with a mode, in how many of its runs and of the others.

    A cause is spoken of only where the runner drew the values.
    """
    share = mode.classes[found.mode].share
    begin = f"mode {found.mode + 1}, {_percent(share)} of runs: "
    if covariate.may_follow:
        inside, outside = (_number(mean, covariate.unit) for mean in found.means)
        name = spoken(covariate.name)
        several = name.partition(" per ")[0].endswith("s")
        return (
            f"{begin}nothing that was fixed before the run separates it; {name} "
            f"differ{'' if several else 's'}, {inside} in it and {outside} in the others, which may be "
            "its cause or follow from it"
        )
    said = (
        f"{begin}{values_of(covariate, found.rule)} in {_percent(found.inside)} of them, "
        f"{_percent(found.outside)} of the others"
    )
    if covariate.kind == "randomized":
        return f"{said}; the runner drew it for each run, so it is a cause"
    return f"{said}; it was seen, not drawn: it goes with the mode, and need not be the cause"


def values_of(covariate: Covariate, rule: Rule) -> str:
    """Say what a covariate's values are inside a rule: ``padding of 13 to 28 modulo 64``."""
    whole = spoken(covariate.name)
    if rule.shape == "levels":
        return f"{whole} {_any_of([_name(covariate, level) for level in rule.levels])}"
    name, modulo, period = whole.partition(" modulo ")
    if rule.shape == "arc":
        unit = "" if modulo else covariate.unit
        first, last = (_number(end or 0.0, unit) for end in (rule.first, rule.last))
        return f"{name} of {first if first == last else f'{first} to {last}'}{modulo}{period}"
    if rule.first is not None:
        return f"{whole} of {_number(rule.first, covariate.unit)} or more"
    return f"{whole} of {_number(rule.last or 0.0, covariate.unit)} or less"


def _name(covariate: Covariate, level: float) -> str:
    label = covariate.labels[int(level)]
    return label if label.replace(",", "").isdigit() else f"'{label}'"


def _any_of(names: list[str]) -> str:
    if len(names) > _LEVELS:
        return figures.listed(names, _LEVELS)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _number(value: float, unit: str) -> str:
    """Write a value: whole ones as they are, others with few digits."""
    if unit in {"s", "B", "bytes"} and value != round(value):
        return figures.quantity(value, _UNITS.get(unit, unit))
    text = f"{value:,.0f}" if value == round(value) else figures.significant(value, _DIGITS)
    return text if unit in {"", "1", "/s"} else f"{text} {_UNITS.get(unit, unit)}"


def _percent(share: float) -> str:
    """Write a share; what is not all or nothing is not rounded to it."""
    text = f"{100 * share:.0f}"
    if (text == "100" and share < 1) or (text == "0" and share > 0):
        text = f"{100 * share:.1f}"
    return f"{text} %"
