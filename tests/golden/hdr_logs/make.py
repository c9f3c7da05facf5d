"""Makes the logs beside it with the package hdrhistogram 0.10.8, which is a port of the Java library: execute it by hand.

``computed.json`` holds what that package reads from its own logs: counts by the largest value of each bucket, and the mean.
"""

import json
import random
from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

HERE = Path(__file__).parent
SHAPES = {  # name: lowest, highest, digits, values of each interval
    "microseconds": (1, 3_600_000_000, 3, [[200, 260, 1_000_003, 5_000_000], [201, 260] * 50]),
    "one_digit": (1, 10**9, 1, [[1, 2, 19, 20, 21, 400, 123_456_789]]),
    "steps_of_1000": (1000, 10**13, 2, [[999, 1000, 10**6, 10**12], [77_777_777]]),
}


def main():
    rng = random.Random(20261127)
    for name in ("lognormal", "tagged"):
        SHAPES[name] = (
            1,
            10**10,
            3,
            [[int(rng.lognormvariate(12, 1.5)) for _ in range(60)] for _ in range(4)],
        )
    computed = {}
    for name, (lowest, highest, digits, intervals) in SHAPES.items():
        lines = [
            "#[Histogram log format version 1.3]",
            "#[StartTime: 1441812279.474 (seconds since epoch)]",
        ]
        lines += [
            '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
        ]
        for number, values in enumerate(intervals):
            one = HdrHistogram(lowest, highest, digits)
            for value in values:
                one.record_value(value)
            tag = f"Tag={'AB'[number % 2]}," if name == "tagged" else ""
            lines.append(f"{tag}{number}.000,1.000,{max(values) / 1e6:.3f},{one.encode().decode()}")
        path = HERE / f"{name}.hlog"
        path.write_text("\n".join(lines) + "\n")
        for tag in ("A", "B") if name == "tagged" else (None,):
            whole = HdrHistogram(lowest, highest, digits)
            reader = HistogramLogReader(str(path), whole)
            while (one := reader.get_next_interval_histogram()) is not None:
                if one.get_tag() == tag:
                    whole.add(one)
            counts = {
                whole.get_highest_equivalent_value(
                    item.value_iterated_to
                ): item.count_added_in_this_iter_step
                for item in whole.get_recorded_iterator()
            }
            computed[f"{name}:{tag}" if tag else name] = {
                "counts": counts,
                "total": whole.get_total_count(),
                "mean": whole.get_mean_value(),
            }
    (HERE / "computed.json").write_text(json.dumps(computed) + "\n")


main()
