"""The fourteen covariance models, and what their letters mean."""

from __future__ import annotations

__all__ = ["MEANINGS"]

_VOLUME = {"E": "equal size", "V": "sizes of their own"}
_SHAPE = {"E": "equal shape", "V": "shapes of their own"}
_AXES = {"E": "equal tilt", "V": "tilts of their own", "I": "no tilt"}


def _meaning(model: str) -> str:
    """Say in words what the components of a model share."""
    if model[1] == "I":
        return f"circles, {_VOLUME[model[0]]}"
    return f"ellipses, {_VOLUME[model[0]]}, {_SHAPE[model[1]]}, {_AXES[model[2]]}"


MEANINGS = {
    model: _meaning(model)
    for model in (
        *("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE"),
        *("VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"),
    )
}
