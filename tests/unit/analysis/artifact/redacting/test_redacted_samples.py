"""Values in ``samples/`` pass a redaction byte for byte, and their rows still tell of them.

Authority: the bundle's own rule: numbers are no names, and what is left must be read as before.
"""

from __future__ import annotations

import numpy as np

from analysis.data.iterations import values_of_run
from analysis.data.trial import read_trial
from analysis.record.manifest import about_quantile
from analysis.record.shapes import packed, sample_file


def test_samples_and_quantiles_pass_a_redaction(folder):
    values = np.random.default_rng(3).lognormal(0, 1, 2000).tolist()
    data, about = packed(values)
    name = sample_file(0, "t", warmup=False)

    def printed(number, row):
        row["metrics"] = {"t": [1.5], "t.p99": [9.0]} if not number else {}
        if not number:
            row["samples"] = {"t": about.to_dict()}

    folder.measurements(printed)
    unit = {"unit": "ms", "better": "lower"}
    folder.manifest(metrics={"t": unit, "t.p99": about_quantile("ms", "lower", "t", 0.99)})
    folder.put(f"trials/sample/{name}", data)
    folder.redact("user,host,paths,env")
    assert (folder.trial / name).read_bytes() == data
    trial = read_trial(folder.trial)
    assert not {one.code for one in trial.cautions} & {"samples-gone", "samples-changed"}
    assert values_of_run(trial, "t", 0).tolist() == values
    assert trial.manifest.metrics["t.p99"]["of"] == "t"
