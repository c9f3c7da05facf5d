"""How often one latency under two names gets a word where its sessions have unequal numbers of values.

Authority: rules-2, section 5: at the smaller number of values the quantile of either side has one law, so a word is given in
5 % of trials, as of any two sides of one law. Negative control on the same draws: definition 1 of all values.
"""

from __future__ import annotations

import numpy as np
import pytest

from analysis.data.iterations import RunValues, merged_quantile, thinned_quantile
from analysis.methods.multilevel.compare import multilevel
from analysis.stats.arguments import stream
from tests.calibration.made_pairs import most, pair

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

LAWS = {
    "lognormal": lambda rng, n: np.exp(rng.standard_normal(n)),
    "narrow": lambda rng, n: np.exp(0.1 * rng.standard_normal(n)),
    "pareto": lambda rng, n: 1.0 + rng.pareto(1.5, n),
    "exponential": lambda rng, n: rng.exponential(size=n),
}


def words(law, share, n, m, sessions, trials):
    """Give how often there is a word, by the rule and by definition 1."""
    found = np.zeros(2)
    for k in range(trials):
        rng = stream(526, law, f"{share} {n} {m} {sessions}", str(k))
        old = [RunValues(LAWS[law](rng, n)) for _ in range(sessions)]
        new = [merged_quantile([RunValues(LAWS[law](rng, m))], share) for _ in range(sessions)]
        for rule, one in enumerate((thinned_quantile, lambda x, q, _: merged_quantile(x, q))):
            theirs = [one([values], share, m) for values in old]
            sides = pair(*(np.array(x, dtype=float)[:, None] for x in (new, theirs)))
            found[rule] += multilevel(*sides).word in ("faster", "slower")
    return found / trials


@spot_check
def test_in_short():
    new, old = words("lognormal", 0.99, 199, 100, 20, 60)
    assert new <= most(0.05, 60)
    assert old >= 0.45


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("share", "n", "m", "sessions"),
    [(0.99, 199, 100, 6), (0.99, 199, 100, 20), (0.99, 150, 101, 20), (0.95, 180, 120, 20)],
)
def test_up_to_twice_as_many_values_are_compared_fairly(law, share, n, m, sessions):
    new, old = words(law, share, n, m, sessions, 120)
    assert new <= most(0.05, 120)
    if (n, sessions) == (199, 20):  # the negative control
        assert old >= 0.3
