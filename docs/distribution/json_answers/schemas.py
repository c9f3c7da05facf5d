"""Which answers each command prints with ``--json``, and the schema of each command.

`make generated` writes them as files: building the wheel, which takes them along, needs no numpy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from analysis.artifact.bundle import Bundled
from analysis.artifact.reproduce import Rerun
from analysis.artifact.reproduction import Reproduction
from analysis.data.fleet import MergedFleet
from analysis.data.merging import Merged
from analysis.diagnose.estimators import EstimatorSpread
from analysis.diagnose.examine import FleetDiagnosis
from analysis.diagnose.normality import CentralLimitStudy, NormalityStudy
from analysis.diagnose.result import Diagnosis
from analysis.diagnose.why_result import WhyAnswer
from analysis.history.bisection import Bisection
from analysis.history.judged import History
from analysis.history.ordered import OrderedVariants
from analysis.importers.importing import Imported, Inspected
from analysis.methods.hpt.page import HptReport
from analysis.methods.mixture.metrics_page import PlaneReport
from analysis.methods.mixture.report import MixtureReport
from analysis.methods.resampling.distribution import PassesReport
from analysis.methods.resampling.report import ResamplingReport
from analysis.methods.speedup_test.result import SpeedupSuite
from analysis.methods.variance_sources.result import Sources
from analysis.pages.result import Result
from analysis.plan.certificate import Certificate
from analysis.plan.draw import DrawStudy
from analysis.plan.error_rates import CoverageStudy, RejectionStudy
from analysis.plan.hosts import HostPlan
from analysis.plan.runs import RunPlan
from analysis.plan.sessions import SessionPlan
from analysis.registry import commands, load
from analysis.report.assembling import Report
from analysis.verdict.compare import CompareAnswer
from analysis.verdict.comparison_result import TrialComparison
from analysis.verdict.gate import Gate
from analysis.verdict.one_pair import PairTable
from analysis.verdict.ranking import Ranking
from analysis.verdict.result import Verdict
from harness.bisect.bisecting import Expected
from harness.commands.doctor_page import Checkup
from harness.commands.dry_run import Preview
from harness.commands.rerun_preview import Intent
from harness.fleet.status import Cancelled, FleetStanding
from harness.fleet.submission import Submission
from harness.host.snapshot import EnvironmentDifferences
from harness.trial.ending import Ending
from harness.trial.progress import TrialProgress
from harness.tune.proposal import Proposal
from harness.tune.tuner import Tuned, Undone

from .json_types import Definitions, Schema, Told, either
from .own_shapes import CAUTIONS, OWN

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_STUDIES = {"normality": NormalityStudy, "estimators": EstimatorSpread, "clt": CentralLimitStudy}
_EXPORTED = (
    {"output": str | None, "format": str, "bytes": int}
    | {name: tuple[str, ...] for name in ("cannot_hold", "cannot_hold_codes")}
)  # fmt: skip

_DRAWN = {"kind": str, "text": str, "metric": str | None, "written": tuple[str, ...]} | CAUTIONS
_CONSENT = {
    "schema": Literal[1],
    "method": Literal["rerun-plan"],
    "tool_version": str,
    "consent": Literal[False],
    "into": str,
    "trials": tuple[Intent, ...],
}


def _is_of(one: object, name: str) -> bool:
    return isinstance(one, type) and issubclass(one, Result) and getattr(one, "method", "") == name


# a command -> the answers that it may print: classes, or types that hold them
ANSWERS: Mapping[str, tuple[Any, ...]] = {
    "verdict": (Verdict, Ranking, Gate),
    "gate": (Gate,),
    "diff": (TrialComparison,),
    "history": (History, OrderedVariants),
    "hpt": (HptReport,),
    "speedup-test": (SpeedupSuite,),
    "resample": (ResamplingReport, PassesReport, PairTable),
    "mixture": (MixtureReport, PlaneReport),
    "diagnose": (
        Diagnosis,
        FleetDiagnosis,
        *_STUDIES.values(),
        {f"{name}?": Told(kind) for name, kind in _STUDIES.items()},  # of several
    ),
    "sources": (Sources,),
    "plan": (RunPlan, SessionPlan, HostPlan),
    "calibrate": (Certificate,),
    "study": (RejectionStudy, CoverageStudy, DrawStudy),
    "report": (Report,),
    "plot": (_DRAWN,),
    "merge": (Merged, MergedFleet),
    "import": (Imported, Inspected),
    "export": (_EXPORTED,),
    "bundle": (Bundled,),
    "compare": (CompareAnswer,),
    "init": ({"written": tuple[str, ...], "next": tuple[str, ...]},),
    "run": (Ending, Preview),
    "bisect": (Bisection, Expected),
    "why": (WhyAnswer,),
    "status": (
        [TrialProgress, FleetStanding, Told(Bisection)],
        FleetStanding,
        Bisection,
        EnvironmentDifferences,
    ),
    "doctor": (Checkup,),
    "tune": (Proposal, Tuned, Undone, {"undone": None}),
    "submit": (Submission,),
    "cancel": (Cancelled,),
    "reproduce": (Reproduction, Rerun, _CONSENT),
    "completion": ({"shell": str, "script": str},),
} | {  # a method of one file: its results of the command's name
    name: tuple(one for one in vars(load(known.module)).values() if _is_of(one, name))
    for name, known in commands().items()
    if known.file
}


def schema_of(command: str) -> Schema:
    """Give the schema of one JSON value that a command prints."""
    known = Definitions(OWN)
    results = (isinstance(one, type) and issubclass(one, Result) for one in ANSWERS[command])
    told = zip(ANSWERS[command], results, strict=True)
    parts = [known.of(Told(one) if is_result else one) for one, is_result in told]
    said = f"What one object of `fairtrial {command} --json` is; further keys may be added."
    head = {"$schema": DIALECT, "title": f"fairtrial {command} --json", "description": said}
    return head | either(parts) | {"$defs": dict(sorted(known.found.items()))}


def schema_text(command: str) -> str:
    """Give the schema as a file holds it: a line for each part, and for each definition."""
    whole = schema_of(command)
    defined = ",\n".join(_line(name, part, 2) for name, part in whole.pop("$defs").items())
    parts = [_line(name, part, 1) for name, part in whole.items()]
    return "{\n" + ",\n".join([*parts, f' "$defs": {{\n{defined}\n }}']) + "\n}\n"


def _line(name: str, part: object, depth: int) -> str:
    return f"{' ' * depth}{json.dumps(name)}: {json.dumps(part, ensure_ascii=False)}"


def keys_of_methods() -> str:
    """Give the keys that the docstrings of methods in files of their own explain, as Markdown tables."""
    lines: list[str] = []
    for name in (name for name, known in commands().items() if known.file):
        lines += [f"\n## {name}\n", "| key | meaning |", "|---|---|"]
        for said in (" ".join((one.__doc__ or "").split()) for one in ANSWERS[name]):
            entries = re.split(r"(?<=\.) (?=`)", said)[1:]
            lines += ["| {} | {} |".format(*entry.split(": ", 1)) for entry in entries]
    return "\n".join(lines).strip()


def files(folder: Path) -> dict[Path, str]:
    """Give the file of each command with its text; `folder` is that of the repository."""
    place = folder / "docs" / "distribution" / "json_answers" / "files"
    return {place / f"{command}.schema.json": schema_text(command) for command in ANSWERS}
