"""An answer that has everything that an answer may have."""

import numpy as np

from analysis.diagnose.explain import explain
from analysis.diagnose.why_result import Why
from tests.unit.analysis.why.made_profiles import drawn, stored, timed

NAMES = (
    "qsort_cmp",
    "msort_with_tmp/libc.so.6",
    "main",
    "emit",
    "old_name",
    "[unknown]/blob",
    "gone_now",
)
SLOW = (
    "qsort_cmp",
    "msort_with_tmp/libc.so.6",
    "main",
    "emit",
    "new_name",
    "[unknown]/blob",
    "came_new",
)


def whole_answer(**head: object) -> Why:
    """Give it: a slower comparison that moves a part of its cost, a rename, unseen kernel time, waiting."""
    rng = np.random.default_rng(7)
    shares = np.array([8, 24, 40, 9.5, 5, 12, 1.5, *[0.2] * 5])
    slower = shares + np.array([22, -10, 0, 0, 0, 0, 0, *[0] * 5])
    base, slow = drawn(rng, shares, slower, samples=900)
    calls = [
        [
            {
                (names[k] if k < len(names) else f"small{k}"): one[f"f{k}"]
                for k in range(len(shares))
            }
            for one in side
        ]
        for side, names in ((base, NAMES), (slow, SLOW))
    ]
    trial = timed(
        30 + 0.2 * rng.standard_normal(6),
        34 + 0.2 * rng.standard_normal(6),
        jitter=0.01,
        waits_ms=(3.0, 5.0),
        run_delay_ns=(1e6, 2e6),
        launcher_delay_ns=(0.0, 0.0),
        launcher_on_cpu_ns=(0.0, 0.0),
    )
    known = {
        "kernel": "not-seen: perf_event_paranoid is 2",
        "runtimes": {"b0/v1": "not-seen: Python 3.11 has no trampoline"},
        **head,
    }
    return explain(
        stored(*calls, **known), timed=trial, benchmark="b0", renames={"old_name": "new_name"}
    )
