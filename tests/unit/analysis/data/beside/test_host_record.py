"""What the runner recorded of the host is read line by line; what is no such line tells nothing."""

import json

from analysis.data.host_record import HostNote, RecordedProgram, read_host_record
from analysis.record.trial_files import ENVIRONMENT, FINDINGS


def test_findings_and_programs(tmp_path):
    finding = {"session": 2, "when": "after", "check": "load", "status": "warn", "what": "busy"}
    begins = {
        "session": 1,
        "segment": 0,
        "targets": {"x/a": {"sha256": "11"}, "y/a": {"sha256": None}, "odd": {}, "z/a": 3}
        | {"x/b": {"sha256": "22", "built": "session"}, "y/b": {"same_as": "x/b"}},
    }
    (tmp_path / FINDINGS).write_text(json.dumps(finding) + "\n[1]\n{torn")
    (tmp_path / ENVIRONMENT).write_text(
        json.dumps(begins) + '\n{"session": "1", "segment": 0, "targets": {}}\n'
    )
    record = read_host_record(tmp_path)
    assert record.notes == (HostNote(**finding),)
    common = {"variant": "a", "session": 1, "segment": 0}
    assert record.programs == (
        RecordedProgram(benchmark="x", sha256="11", **common),
        RecordedProgram(benchmark="y", sha256=None, **common),
        RecordedProgram(benchmark="x", sha256="22", of_session=True, **common | {"variant": "b"}),
        RecordedProgram(benchmark="y", sha256="22", of_session=True, **common | {"variant": "b"}),
    )


def test_values_of_other_types_are_unknown(tmp_path):
    (tmp_path / FINDINGS).write_text('{"session": true, "check": 3, "what": "one:\\ntwo"}\n')
    (note,) = read_host_record(tmp_path).notes
    assert note == HostNote(session=None, when="", check="", status="", what="one")


def test_a_folder_without_files_has_no_record(tmp_path):
    record = read_host_record(tmp_path)
    assert (record.notes, record.programs) == ((), ())


def test_the_finding_that_tells_why_a_metric_is_not_there(tmp_path):
    counters = {
        "check": "counters",
        "status": "fail",
        "what": "slots, L1-dcache-loads: not here; misses: not you; counted: cycles",
    }
    energy = {"check": "energy", "status": "fail", "what": "no counters of energy"}
    (tmp_path / FINDINGS).write_text(
        "".join(
            json.dumps({"session": 1, "when": "before", **row}) + "\n" for row in (counters, energy)
        )
    )
    record = read_host_record(tmp_path)
    why = {
        name: found.check
        for name in (
            "slots",
            "L1-dcache-loads",
            "misses",
            "cycles",
            "dcache",
            "energy_net_j",
            "nothing",
        )
        if (found := record.kept_from(name))
    }
    assert why == {
        "slots": "counters",
        "L1-dcache-loads": "counters",
        "misses": "counters",
        "energy_net_j": "energy",
    }
