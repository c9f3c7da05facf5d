"""The numbers that both ways to fit a mixture share, compiled and by numpy alone."""

from __future__ import annotations

import math

LANES = 8  # values added side by side; the samples are padded to a multiple
TILE = 256  # values; a product of so many mantissas stays below the largest number
START_VALUES = 2000  # of a larger sample, so many evenly spaced order statistics set the start
FOUND, STATE = 6, 6  # rows of what a fit writes

LEAST_MEMBERSHIP = math.sqrt(2.0**-52)  # mclust's limit on the total membership of a class
LEAST_VARIANCE = 2.0**-52  # mclust's limit, absolute, in the unit given
LEAST_SCALED = 1e-250  # the limit in the unit of the fit never vanishes
TOLERANCE = 1e-5  # relative change of the log-likelihood
CLOSING = math.sqrt(2.0**-52)  # squared distance between weights and mean memberships
CANCELLED = 1e3  # (shift of a mean)^2 / variance from which on moments are taken anew
MOST_ITERATIONS = 1_000_000  # never met; a promise that the loop ends

LOG_2PI, LN2 = math.log(2 * math.pi), math.log(2)
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # high ends in zeros
FLOOR = -700.0  # exponents are cut here, before 2**n leaves the normal numbers
TINY = 1e-280  # densities below are computed again, relative to the largest


def most_levels(n: int, k: int) -> int:
    """Give the number of levels at which n values, two of them different, have k + 1 cut points.

    One gap between neighbours then holds k levels itself; where even that is not enough, the gap
    is too narrow to be divided in floating point and no number of levels will do.
    """
    return (n - 1) * (k + 1) + 2
