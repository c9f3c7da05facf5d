"""The warnings file of the original Speedup-Test tool: what stands between a benchmark and its decision.

Each warning begins with the words by which the original's users know it (report, section 6.2.5), so that
scripts that look for them keep working; what follows is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..result import KOLMOGOROV, LARGE, SHAPIRO, Decision, Side, SpeedupTest, Step
from .config import LeftOut

__all__ = ["UNAVAILABLE", "warning_text", "warnings_of"]

UNAVAILABLE = "Cannot process benchmark: samples unavailable."

_SAMPLES: dict[Side, str] = {"baseline": "Sample1", "candidate": "Sample2"}
_MORE = f"\nMeasure it more than {LARGE} times."
_INACCURATE = "\nSo the confidence level for the speedup of the {} may not be accurate."


def warning_text(
    title: str,
    left_out: Sequence[LeftOut],
    warnings: Mapping[str, Sequence[str]],
) -> str:
    """Give the text of ``.warning``: each warning on lines of its own, never broken elsewhere.

    Parameters
    ----------
    title : str
        What was analysed, such as the configuration's path.
    left_out : sequence of LeftOut
        The benchmarks that were not judged.
    warnings : mapping of str to sequence of str
        Benchmark -> its warnings, of those that were judged.
    """
    lines = [f"Warnings regarding analysis of {title}", ""]
    count = 0
    every = [(out.name, (*out.reasons, UNAVAILABLE)) for out in left_out]
    for name, texts in [*every, *warnings.items()]:
        if not texts:
            continue
        lines += [f"{name} :", ""]
        for text in texts:
            lines += [text, ""]
        count += len(texts)
    return "\n".join([*lines, f"{count} warning(s).\n"])


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
