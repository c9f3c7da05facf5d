"""The warnings of the original Speedup-Test tool: what stands between a benchmark and its decision.

Each begins with the words by which the original's users know it (report, section 6.2.5), so that
scripts that look for them keep working; what follows is ours.
"""

from __future__ import annotations

from ..result import KOLMOGOROV, LARGE, SHAPIRO, Decision, Side, SpeedupTest, Step

__all__ = ["UNAVAILABLE", "warnings_of"]

UNAVAILABLE = "Cannot process benchmark: samples unavailable."

_SAMPLES: dict[Side, str] = {"baseline": "Sample1", "candidate": "Sample2"}
_MORE = f"\nMeasure it more than {LARGE} times."
_INACCURATE = "\nSo the confidence level for the speedup of the {} may not be accurate."


def warnings_of(test: SpeedupTest) -> tuple[str, ...]:
    """Give the warnings about one benchmark; Sample1 is the baseline, Sample2 the candidate."""
    runs: dict[Side, int] = {"baseline": test.runs_baseline, "candidate": test.runs_candidate}
    return (*_of_mean(test.mean, runs), *_of_median(test.median, runs))


def _of_mean(decision: Decision, runs: dict[Side, int]) -> list[str]:
    found = []
    for step in decision.steps:
        if step.test != SHAPIRO or step.sample is None or step.outcome == "not rejected":
            continue
        sample = _SAMPLES[step.sample]
        if runs[step.sample] <= LARGE:
            text = f"{sample} too small for applying the Student's t-test (speedup of the mean).{_MORE}"
        elif step.outcome == "rejected":
            text = f"{sample} data are not normally distributed.{_INACCURATE.format('mean')}"
        else:
            text = f"{sample} data may not be normally distributed.{_INACCURATE.format('mean')}"
        found.append(text + _reason(step))
    return [*found, *_of_search(decision, "mean")]


def _of_median(decision: Decision, runs: dict[Side, int]) -> list[str]:
    small = [side for side, count in runs.items() if count <= LARGE]
    found = []
    for step in decision.steps:
        if step.test != KOLMOGOROV or step.outcome == "not rejected":
            continue
        found += [
            f"{_SAMPLES[side]} too small for applying the Wilcoxon-Mann-Whitney's test (speedup of "
            f"the median).{_MORE}{_reason(step)}"
            for side in small
        ]
        if not small:
            found.append(
                "The two samples do not fit the location shift model."
                f"{_INACCURATE.format('median')}{_reason(step)}"
            )
    return [*found, *_of_search(decision, "median")]


def _of_search(decision: Decision, centre: str) -> list[str]:
    if not decision.searched or decision.confidence is not None:
        return []
    return [
        "Unable to find a confidence level greater than 50% to guarantee the statistical "
        f"significance of {centre} speedup."
    ]


def _reason(step: Step) -> str:
    return f"\n(not tested: {step.consequence})" if step.outcome == "not tested" else ""
