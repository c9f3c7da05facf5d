"""How often some word is false, and some gate stops wrongly, where one program has several names.

Authority: equal programs, the 5 % of all words together and the 2.5 % of a gate (rules-2, section 9), and exact
binomial bounds. The negative control is the rule of 0.2.0 on the same draws: each candidate has the whole risk.
"""

from __future__ import annotations

import numpy as np
import pytest

from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.hosts import over_hosts
from analysis.verdict.gate import gate
from tests.calibration.made_pairs import lower, side

pytestmark = pytest.mark.calibration
SEED = 20261202


def rates(candidates, sessions, limit, trials, *, benchmarks=1, apart=0.0):
    """Give how many trials have a word or proof, by the rule and with the whole risk for each.

    Where the first candidate lies `apart` on the first benchmark, only words of that are counted.
    """
    rng, found = np.random.default_rng([SEED, candidates, sessions]), [0, 0]
    for _ in range(trials):
        logs = 0.01 * rng.standard_normal((candidates + 1, benchmarks, sessions, 1))
        logs[0] -= limit
        logs[1, 0] += apart
        base, *ours = (side(f"v{k}", np.exp(one)) for k, one in enumerate(logs))
        alone = [multilevel(one, base, margin=0.0) for one in ours]
        if limit:
            found[0] += gate(alone, "slower>2%").outcome == "proven"
            found[1] += any(gate(one, "slower>2%").outcome == "proven" for one in alone)
            continue
        shared = [
            multilevel(one, base, margin=0.0, beside=alone[:k] + alone[k + 1 :])
            for k, one in enumerate(ours)
        ]
        for place, those in enumerate((shared, alone)):
            lines = those[0].benchmarks[:1] if apart else [x for m in those for x in m.benchmarks]
            found[place] += any(line.outcome != "undecided" for line in lines)
    return found


@pytest.mark.parametrize(
    ("candidates", "sessions", "limit", "trials"),
    [
        pytest.param(10, 3, 0.0, 20, marks=pytest.mark.spot_check),
        *((n, k, 0.0, 200) for n, k in ((5, 6), (2, 3), (7, 3))),
        *((n, k, np.log(1.02), 600) for n, k in ((5, 6), (2, 3), (7, 3))),
    ],
)
def test_some_word_or_proof_is_false_as_often_as_it_may_be(candidates, sessions, limit, trials):
    new, old = rates(candidates, sessions, limit, trials)
    risk = 0.025 if limit else 0.05
    assert lower(new, trials) <= risk
    if candidates > 2:
        assert lower(old, trials) > (1 if trials < 100 else 2) * risk


@pytest.mark.parametrize(
    ("candidates", "hosts", "trials"),
    [(5, 4, 300), (2, 8, 300)],
)
def test_over_hosts_too(candidates, hosts, trials):
    # equal programs in the mean of hosts like these, which differ by three times what sessions do
    rng, found = np.random.default_rng([SEED, candidates, hosts]), [0, 0]
    for _ in range(trials):
        results = []
        for _ in range(hosts):
            logs = 0.01 * rng.standard_normal((candidates + 1, 1, 3, 1))
            logs += 0.03 * rng.standard_normal((candidates + 1, 1, 1, 1))
            base, *ours = (side(f"v{k}", np.exp(one)) for k, one in enumerate(logs))
            results.append([multilevel(one, base, margin=0.0) for one in ours])
        each = [dict(enumerate(one)) for one in zip(*results, strict=True)]
        alone = [over_hosts(one) for one in each]
        shared = [over_hosts(one, beside=alone[:k] + alone[k + 1 :]) for k, one in enumerate(each)]
        for place, those in enumerate((shared, alone)):
            lines = [line for one in those for line in one.benchmarks]
            found[place] += any(line.outcome != "undecided" for line in lines)
    assert lower(found[0], trials) <= 0.05
    if candidates > 2:
        assert lower(found[1], trials) > 0.05
