"""The end of what a run wrote; docs/trial-format.md says where it is kept."""

from pathlib import Path

from analysis.data.host_record import read_excerpt
from analysis.record.trial_files import OUTPUTS


def kept(trial: Path, name: str, content: bytes) -> None:
    (trial / OUTPUTS).mkdir(exist_ok=True)
    (trial / OUTPUTS / name).write_bytes(content)


def test_the_last_lines(tmp_path):
    kept(tmp_path, "0042.stderr", b"".join(b"line %d\r\n" % k for k in range(14)))
    found = read_excerpt(tmp_path, 42)
    assert found is not None
    assert found.lines == tuple(f"line {k}" for k in range(4, 14))
    assert (found.size, found.cut) == (8 * 10 + 9 * 4, True)


def test_a_short_output_is_whole(tmp_path):
    kept(tmp_path, "w1.stderr", b"\x1b[31mred\xff\x00\n\nend")
    found = read_excerpt(tmp_path, -1)
    assert found is not None
    assert found.lines == ("\x1b[31mred\ufffd\x00", "", "end")
    assert not found.cut


def test_of_a_huge_output_only_the_end_is_read(tmp_path):
    kept(tmp_path, "0001.stderr", b"x" * 100_000 + b"\nlast\n")
    found = read_excerpt(tmp_path, 1)
    assert found is not None
    assert found.lines == ("last",)
    kept(tmp_path, "0002.stderr", b"y" * 100_000)
    found = read_excerpt(tmp_path, 2)
    assert found is not None
    assert len(found.lines) == 1
    assert len(found.lines[0]) == 300
    assert found.cut


def test_empty_is_not_the_same_as_not_kept(tmp_path):
    kept(tmp_path, "0003.stderr", b"")
    found = read_excerpt(tmp_path, 3)
    assert found is not None
    assert (found.lines, found.size) == ((), 0)
    assert read_excerpt(tmp_path, 4) is None
    assert read_excerpt(tmp_path, 3, "stdout") is None


def test_nothing_outside_the_trial_is_read(tmp_path):
    (tmp_path / "secret").write_text("outside\n")
    trial = tmp_path / "trial"
    trial.mkdir()
    kept(trial, "0006.stderr", b"inside\n")
    (trial / OUTPUTS / "0005.stderr").symlink_to(tmp_path / "secret")
    assert read_excerpt(trial, 5) is None
    assert read_excerpt(trial, 6) is not None
    (trial / OUTPUTS).rename(tmp_path / "elsewhere")
    (trial / OUTPUTS).symlink_to(tmp_path / "elsewhere")
    assert read_excerpt(trial, 6) is None


def test_homes_are_not_quoted(tmp_path):
    kept(tmp_path, "0007.stderr", b"no /home/jane/x.so\n")
    found = read_excerpt(tmp_path, 7)
    assert found is not None
    assert found.lines == ("no ~/x.so",)


def test_a_run_that_was_repeated_has_a_file_of_its_own(tmp_path):
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "r2.stderr").write_text("again\n")
    (tmp_path / "outputs" / "w1.stderr").write_text("warm\n")
    assert read_excerpt(tmp_path, -2).lines == ("again",)
    assert read_excerpt(tmp_path, -1).lines == ("warm",)
