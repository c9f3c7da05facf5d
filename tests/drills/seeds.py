"""The small files that are damaged: under twenty lines, under ten rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analysis.record.run_numbers import Measurement
from analysis.record.trial_files import Manifest
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import RULE, identity_of, resolved_text
from harness.trial.plan import PlannedSession
from harness.trial.writer import Store

CAMPAIGNS = {
    "plain.yaml": """\
name: small
seed: 7
build: [[make, "LEVEL={level}"]]
variants:
  a: {level: 6}
  b: {level: 1, env: {CC: gcc}}
baseline: a
benchmarks:
  x: {command: [gzip, "-{level}", data], stdin: in, expect: {exit: [0, 1], regex: "x|y"}}
  y:
    command: {shell: "cat {size}"}
    matrix: {size: [1, two]}
    metrics: {t: {regex: "(\\\\d+)", unit: s, better: lower}}
protocol: {sessions: 2, runs: 5, warmup: 1, order: shuffled, cooldown: 10ms, timeout: 2min}
hooks: {before: sync, setup: [[a, b]], timeout: 5}
isolation: {cpus: [2, 3], aslr: off, padding: 64, output_limit: 1MiB}
checks: {require: [load], warn: []}
""",
    "rule.yaml": """\
{"name": "r", "variants": {"a": null}, "benchmarks": {"x": {"command": ["true"]}},
 "protocol": {"stop": {"width": 0.02, "min_runs": 5, "max_runs": 9}, "max_time": "1h"},
 "isolation": {"environment": {"keep": ["PATH"], "set": {"A": "b"}}}}
""",
}
MATRICES = {
    "m.csv": 'bench,1,2,3\nx,1.5,2.5,3\n"y, z",1,2,\nz,1e3,.5,4\n',
    "m.txt": "# times\nx 1.5 2.5\ny 1 2\n",
    "m.json": """{
 "name": "m", "unit": "s", "better": "lower", "cautions": ["said"], "caution_codes": ["noted"],
 "samples": {"x": [1.5, 2, 3], "y": [4, 5e-3]},
 "blocks": {"x": [1, 2, 3], "y": [1, 2]}, "sessions": {"x": [1, 1, 2], "y": [1, 1]}
}""",
    "rows.json": "[[1, 2], [3.5, 4]]",
    "values.dat": "1.5\n2 # two\n3\n",
}
SYSTEMS = {"s.csv": 'machine,a,b\n"m 1",1,2.5\nm2,3,4\n', "s.txt": "a b\nm1 1 2\nm2 3 4e5\n"}
CONFIGS = {
    "bench.cfg": "Name,Sample1,Sample2,ConfLevel,Coef\n"
    '"First","one.data","two.data",0.95,2\n"Second","two.data","one.data",NA,\n',
    "one.data": "1.5\n2.5\n3\n",
    "two.data": "1.25\n2\n# x\n",
}
TRIAL = """\
name: c
variants: {a: {}, b: {}}
benchmarks: {x: {command: [true]}}
protocol: {sessions: 2, stop: {width: 0.1, min_runs: 3, max_runs: 3}, warmup: 0}
"""


def seed_trial(folder: Path, trial: str = "c-1", text: str = TRIAL, **more: Any) -> Store:
    """Make a trial that was killed in its second session, of seven runs."""
    (folder / "c.yaml").write_text(text)
    campaign = load_campaign(folder / "c.yaml")
    manifest = Manifest(
        trial=trial,
        tool_version="0.2.0",
        campaign_name="c",
        campaign_sha256=identity_of(campaign),
        campaign_identity=RULE,
        campaign_path="c.yaml",
        baseline="a",
        variants=("a", "b"),
        benchmarks=("x",),
        metrics={"t": {"unit": "s", "better": "lower"}},
        seed=campaign.seed,
        sessions=2,
        runs=3,
        warmup=0,
        planned=12,
        host="h",
        host_id="0" * 64,
        targets={"/bin/true": "0" * 64},
        started="2026-11-21T04:12:00Z",
        status="running",
        files={},
        stop=campaign.protocol.stop,
        **more,
    )
    store = Store.create(manifest, folder / "runs", campaign.text, resolved_text(campaign))
    part = {"path": "/bin/true", "sha256": "0" * 64, "libraries": {"libc": {"sha256": "1" * 64}}}
    for session in (1, 2):
        runs = list(PlannedSession(campaign, campaign.seed, session))
        store.append_plan(runs)
        store.append_environment(
            {
                "session": session,
                "segment": 0,
                "host": {"name": "h", "machine_id_sha256": "0" * 64, "boot_id": str(session)},
                "cpu": {"model": "m", "governor": {"0-1": "performance"}},
                "kernel": {"release": f"6.{session}", "mitigations": {"spectre": "none"}},
                "tools": {"packages": {"numpy": "2"}, "compilers": {}},
                "targets": {"x/a": part | {"interpreter": {"ld.so": str(session)}}},
                "process": {"limits": {"as": [None, 1]}},
                "variables": {"PATH": "/bin", "A": str(session)},
            }
        )
        for run in runs[: 5 - session]:
            store.append_measurement(
                Measurement(
                    **run.to_dict(),
                    segment=0,
                    started_at=f"2026-11-21T04:12:0{run.position}.000000000Z",
                    start_ns=run.position * 10**9,
                    wall_ns=10**8 + run.position,
                    user_s=0.1,
                    system_s=0.0,
                    cpus=(1,),
                    outcome="exit" if run.position == 2 else "ok",
                    exit_code=0,
                    metrics={"t": (1.0, 2.0)},
                )
            )
    store.append_findings("before", [])
    store.release()
    return store
