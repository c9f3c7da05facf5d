"""Foreign bytes: packers by their first bytes, limits, encodings, colours of terminals."""

import bz2
import gzip
import io
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from analysis.data import opening
from analysis.data.opening import files_in, open_foreign
from analysis.errors import AnalysisError, UsageError

TEXT = "benchmark,value\nä,1.5\n"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("named", [True, False], ids=["by its name", "under another name"])
def test_a_packed_file_is_unpacked_by_its_first_bytes(
    tmp_path: Path, packer: str, named: bool
) -> None:
    path = tmp_path / (f"table.csv.{packer}" if named else "table.csv")
    path.write_bytes(PACKERS[packer](TEXT.encode()))
    opened = open_foreign(str(path))
    assert opened.text() == TEXT
    assert opened.stem == "table"


@pytest.mark.parametrize("packer", ["gz", "bz2", "xz"])
def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path, packer: str) -> None:
    path = tmp_path / "table"
    path.write_bytes(PACKERS[packer](TEXT.encode() * 500)[:-9])
    with pytest.raises(AnalysisError, match="damaged or cut off"):
        open_foreign(str(path))


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MOST_BYTES", 2 * 1024**2)
    path = tmp_path / "large"
    path.write_bytes(bytes(2 * 1024**2 + 1))
    with pytest.raises(AnalysisError, match="more than 2 MiB"):
        open_foreign(str(path))
    path.write_bytes(bytes(2 * 1024**2))
    assert len(open_foreign(str(path)).data) == 2 * 1024**2


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode("utf-8"), None),
        (TEXT.encode("utf-8-sig"), None),
        (TEXT.encode("utf-16"), None),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), None),
        (TEXT.encode("utf-32"), None),
        (TEXT.encode("cp1252"), None),
        (TEXT.encode("cp437"), "cp437"),
        (TEXT.replace("\n", "\r\n").encode(), None),
        (TEXT.replace("\n", "\r").encode(), None),
        (f"\x1b[1m{TEXT}\x1b[0;32m\x1b]0;title\x07".encode(), None),
    ],
)
def test_texts_are_decoded_and_cleaned(tmp_path: Path, data: bytes, encoding: str | None) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    assert open_foreign(str(path), encoding=encoding).text() == TEXT


def test_what_is_no_text_in_the_encoding_is_refused_with_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"ab\x81\xff")  # no character of cp1252 either
    with pytest.raises(AnalysisError, match="byte 2 does not fit") as failed:
        open_foreign(str(path)).text()
    # commands that read a table have no --encoding: the command that has it is named
    assert "fairtrial import --encoding" in failed.value.fix
    with pytest.raises(UsageError, match="no encoding 'utf-99'"):
        open_foreign(str(path), encoding="utf-99").text()


def test_the_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT.encode()))))
    opened = open_foreign("-")
    assert (opened.text(), opened.stem, opened.is_folder) == (TEXT, "standard input", False)


@pytest.mark.parametrize("name", ["missing", "nul\0name", "x" * 300])
def test_what_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        open_foreign(str(tmp_path / name))


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody writes into it: who waits for that waits for ever
    with pytest.raises(UsageError, match="not a regular file"):
        open_foreign(str(pipe))


def test_a_folder_has_no_bytes(tmp_path: Path) -> None:
    opened = open_foreign(str(tmp_path))
    assert opened.is_folder
    assert opened.data == b""


def test_files_are_named_from_the_folder_that_was_opened(tmp_path: Path) -> None:
    for name in ("b.txt", "sub/a.txt", "sub/deep/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    found = files_in(open_foreign(str(tmp_path)))
    assert list(map(str, found)) == ["b.txt", "sub/a.txt", "sub/deep/c.txt"]
