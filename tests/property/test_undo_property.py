"""A death at any place leaves a journal that puts everything back, and no journal writes elsewhere.

Authority: the order that docs/checks.md promises (line, sync, write, line), executed step by step.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings, strategies as st

from analysis.record.shapes import encode_checked
from harness.tune.journal import NAME
from harness.tune.proposal import plain_value
from harness.tune.tuner import Knobs, undo_tuning
from tests.examples import examples

CPU = "/sys/devices/system/cpu"
# path, value before, value of tune, what somebody else may write
SETTINGS = [
    (f"{CPU}/cpu3/cpufreq/energy_performance_preference", "balance_power", "performance", "power"),
    (f"{CPU}/cpu3/cpufreq/scaling_governor", "powersave", "performance", "schedutil"),
    (f"{CPU}/intel_pstate/no_turbo", "0", "1", "1"),
    ("/sys/kernel/mm/transparent_hugepage/enabled", "always", "madvise", "never"),
    ("/proc/sys/kernel/perf_event_max_sample_rate", "100000", "1", "500"),
    ("/proc/irq/25/smp_affinity_list", "0-7", "0-2,4-7", "6"),
    (f"{CPU}/cpu7/online", "1", "0", "1"),
]
STEPS = 3  # the line, the write, the line of what was shown
PATHS = st.sampled_from([path for path, *_ in SETTINGS])


def plant(root: Path) -> None:
    for path, before, _, _ in SETTINGS:
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{before}\n")
    (root / "run/fairtrial").mkdir(parents=True, mode=0o700)
    (root / "etc").mkdir()
    (root / "etc/shadow").write_text("x")


def shown(root: Path) -> dict[str, str | None]:
    knobs = Knobs(root)
    return {path: knobs.shown(path) for path, *_ in SETTINGS}


def die_at(root: Path, step: int, torn: float) -> None:
    """Tune as far as that step; of a line that is being written there is a part."""
    knobs, data = Knobs(root), [encode_checked({"journal": 1}) + b"\n"]
    for number, (path, before, after, _) in enumerate(SETTINGS):
        lines = (
            {"change": number, "path": path, "before": before, "after": after},
            None,
            {"took": number, "shows": after},
        )
        for line in lines:
            if step == 0:
                part = b"" if line is None else encode_checked(line)
                data.append(part[: int(torn * len(part))])
                (root / "run/fairtrial" / NAME).write_bytes(b"".join(data))
                return
            step -= 1
            if line is None:
                knobs.write(path, after)
            else:
                data.append(encode_checked(line) + b"\n")
    (root / "run/fairtrial" / NAME).write_bytes(b"".join(data))


@settings(deadline=None, max_examples=examples(60))
@given(
    step=st.integers(0, STEPS * len(SETTINGS)),
    torn=st.floats(0, 1),
    others=st.sets(PATHS, max_size=3),
)
def test_a_death_at_any_place_is_put_back(step, torn, others):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant(root)
        before = shown(root)
        die_at(root, step, torn)
        begun = {path for k, (path, *_) in enumerate(SETTINGS) if step > STEPS * k + 1}
        theirs = {path: value for path, _, _, value in SETTINGS if path in others}
        for path, value in theirs.items():
            Knobs(root).write(path, value)
        undone = undo_tuning(root)
        after = shown(root)
        assert undone.settled
        assert not (root / "run/fairtrial").exists()
        for path, old, ours, _ in SETTINGS:
            if path not in theirs:
                assert after[path] == before[path], path
            elif path not in begun and step <= STEPS * list(before).index(path):
                assert after[path] == theirs[path], path  # not even in the journal
            elif theirs[path] in (old, ours):
                assert after[path] == old, path  # who wrote the same cannot be separated
            else:
                assert after[path] == theirs[path], path


KEYS = st.sampled_from(["change", "took", "partition", "path", "before", "after", "home", "branch"])
VALUES = st.one_of(
    st.none(),
    st.integers(-3, 9),
    st.booleans(),
    st.lists(st.integers(), max_size=2),
    st.text(max_size=12),
    PATHS,
    st.sampled_from(["/etc/shadow", "../../etc/shadow", "0", "1", "always", "powersave", "/"]),
)


@settings(deadline=None, max_examples=examples(80))
@given(
    lines=st.lists(st.dictionaries(KEYS, VALUES, max_size=6), max_size=6),
    junk=st.binary(max_size=40),
)
def test_no_journal_writes_anything_but_a_value_of_a_setting(lines, junk):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant(root)
        text = b"".join(encode_checked(line) + b"\n" for line in ({"journal": 1}, *lines))
        (root / "run/fairtrial" / NAME).write_bytes(text + junk)
        files = {path for path in root.rglob("*") if path.is_file()}
        undo_tuning(root)
        assert (root / "etc/shadow").read_text() == "x"
        kept = {path for path in root.rglob("*") if path.is_file()}
        assert files - kept <= {root / "run/fairtrial" / NAME}
        assert kept <= files
        for path, value in shown(root).items():
            assert value is not None
            assert plain_value(path, value) == value
