"""A fleet's diagnosis for a reader."""

import pytest

from analysis.diagnose.fleet import DiagnosedHost, FleetDiagnosis


@pytest.mark.parametrize(("count", "said"), [(4, "a, b, c, d"), (6, "a, b, c, d and 2 more")])
def test_a_host_is_shown_with_four_of_its_findings(count, said):
    host = DiagnosedHost(
        host="lab1",
        state="complete",
        sessions=3,
        runs=60,
        tests=9,
        codes=tuple("abcdef"[:count]),
        told=(),
    )
    found = FleetDiagnosis(
        name="f", metric="wall", confidence=0.95, hosts=(host,), findings=(), cautions=()
    )
    (row,) = (line for line in str(found).splitlines() if "lab1" in line)
    assert row.rstrip().endswith(f"  {said}")
