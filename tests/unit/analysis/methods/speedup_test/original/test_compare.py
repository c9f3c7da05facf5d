"""A configuration judged as the original does: whose level counts, and whose coefficients."""

from pathlib import Path

import pytest

from analysis.errors import UsageError
from analysis.methods.speedup_test.compare import speedup_test_suite
from analysis.methods.speedup_test.original_config import SpeedupConfig, read_speedup_config
from analysis.methods.speedup_test.original_tool import speedup_test_config
from analysis.pages.model import Caution


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("slow").write_text("2.8\n2.05\n1.26\n1.88\n2.24\n")
    Path("fast").write_text("1.05\n0.26\n0.88\n1.24\n1.8\n")

    def configure(*rows: str) -> SpeedupConfig:
        Path("b.cfg").write_text("".join(f"{row}\n" for row in rows))
        return read_speedup_config("b.cfg")

    return configure


def codes(cautions: tuple[Caution, ...]) -> list[str]:
    return [caution.code for caution in cautions]


def test_a_level_of_the_configuration_comes_first(read) -> None:
    config = read("own,slow,fast,0.8,", "none,slow,fast,,")
    asked, sought = (speedup_test_config(config, confidence=level) for level in (0.9, None))
    assert [test.required for test in asked.benchmarks] == [0.8, 0.9]
    assert [test.required for test in sought.benchmarks] == [0.8, None]
    assert asked.proportion_median.confidence == 0.9
    assert sought.proportion_mean.confidence == 0.95


@pytest.mark.parametrize(
    ("ends", "weighting", "found", "code"),
    [
        ((",", ","), None, ("equal", [1.0, 1.0]), None),
        ((",", ","), "custom", ("equal", [1.0, 1.0]), "no-coefficients"),
        ((",3", ",2"), None, ("custom", [3.0, 2.0]), None),
        ((",3", ",NA"), None, ("custom", [3.0, 1.0]), "coefficient-missing"),
        ((",3", ",NA"), "custom", ("custom", [3.0, 1.0]), "coefficient-missing"),
        ((",3", ",NA"), "equal", ("equal", [1.0, 1.0]), None),
    ],
)
def test_coefficients(read, ends, weighting, found, code) -> None:
    suite = speedup_test_config(
        read(*(f"b{k},slow,fast,{end}" for k, end in enumerate(ends))), weighting=weighting
    )
    assert (suite.weighting, list(suite.coefficients["mean"].values())) == found
    about_them = {"no-coefficients", "coefficient-missing"} & set(codes(suite.cautions))
    assert about_them == ({code} if code else set())
    missing = [caution for caution in suite.cautions if caution.code == "coefficient-missing"]
    assert [caution.about for caution in missing] == [("b1",)] * len(missing)


def test_what_the_configuration_lacks_is_told_before_all_else(read) -> None:
    config = read("one,slow,fast,95,7", "two,gone,fast,,", "three,slow,none,,")
    suite = speedup_test_config(config, confidence=0.9, precision=0.1, compatible=True)
    assert codes(suite.cautions)[:2] == ["benchmarks-left-out", "level-ignored"]
    assert suite.cautions[0].about == ("two", "three")
    plain = speedup_test_suite(
        baseline=config.baseline,
        candidate=config.candidate,
        confidence=0.9,
        weights={"one": 7},
        precision=0.1,
    )
    assert suite.cautions[2:] == plain.cautions
    assert suite.to_dict() | {"cautions": (), "caution_codes": ()} == plain.to_dict() | {
        "cautions": (),
        "caution_codes": (),
    }


def test_wrong_arguments_are_refused(read) -> None:
    config = read("one,slow,fast,,")
    with pytest.raises(UsageError, match="confidence"):
        speedup_test_config(config, confidence=1.0)
    with pytest.raises(UsageError, match="precision"):
        speedup_test_config(config, precision=0.0)
