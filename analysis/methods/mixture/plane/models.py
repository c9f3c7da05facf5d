"""The fourteen covariance models, by the names that mclust gives them.

A name has a letter for the volume of the ellipses, one for their shape and one for their orientation:
E equal, V varying, I (shape) circles or (orientation) along the axes.
"""

from __future__ import annotations

__all__ = ["MODELS", "SIMPLEST"]

MODELS = (  # a model's place is its code in the kernels
    *("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE"),
    *("VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"),
)
SIMPLEST = ("EII", "EEI", "EEE")  # of one Gaussian all models of a kind are the same
