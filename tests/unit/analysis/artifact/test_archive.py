"""The archive of a bundle: Python's and Info-ZIP's readers are the authority for what it holds."""

from __future__ import annotations

import io
import os
import random
import shutil
import stat
import struct
import subprocess
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from analysis.artifact import zip_directory as headers
from analysis.artifact.archive import (
    Content,
    of_bytes,
    of_file,
    open_archive,
    weigh,
    write_archive,
)
from analysis.errors import StoreError, UsageError
from tests.examples import examples
from tests.unit.analysis.artifact.conftest import FILES, packed


def test_what_was_packed_is_read_back(archive, tmp_path):
    with open_archive(archive) as opened:
        assert list(opened.entries) == sorted(FILES, key=str.encode)
        assert {name: opened.read(name) for name in opened.entries} == FILES
        place = tmp_path / "out"
        place.mkdir()
        hashes = opened.unpack(place)
        assert hashes == {name: opened.sha256(name) for name in FILES}
    there = {
        p.relative_to(place).as_posix(): p.read_bytes() for p in place.rglob("*") if p.is_file()
    }
    assert there == FILES
    assert (place / "campaigns/a/run.sh").stat().st_mode & 0o100


def test_other_readers_find_the_same(archive, tmp_path):
    with zipfile.ZipFile(archive) as other:
        assert other.testzip() is None
        assert {info.filename: other.read(info) for info in other.infolist()} == FILES
        for info in other.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            wanted = 0o755 if info.filename.endswith(".sh") else 0o644
            assert info.external_attr >> 16 == stat.S_IFREG | wanted
            assert info.compress_type == zipfile.ZIP_STORED
    unzip = shutil.which("unzip")
    if unzip is None:
        pytest.skip("unzip is not installed")
    subprocess.run([unzip, "-tqq", archive], check=True, capture_output=True)


def test_the_order_in_which_files_are_given_changes_no_byte(archive, tmp_path):
    other = packed(tmp_path / "b.zip", dict(reversed(FILES.items())))
    assert other.read_bytes() == archive.read_bytes()


def test_an_empty_archive_is_one(tmp_path):
    # "PK" of the end record itself
    with open_archive(packed(tmp_path / "a.zip", {})) as opened:
        assert not opened.entries


def test_a_file_that_changes_while_it_is_packed_is_told(tmp_path):
    file = tmp_path / "f"
    file.write_bytes(b"one")
    weighed = weigh(Content(name="f", pieces=of_file(file)))
    file.write_bytes(b"two")
    with pytest.raises(StoreError, match="changed while it was packed"):
        write_archive(io.BytesIO(), [weighed])


# --- damage -------------------------------------------------------------------------------------


def everything(path: Path) -> None:
    with open_archive(path) as opened:
        for name in opened.entries:
            opened.sha256(name)


def contents(path: Path) -> list[tuple[str, int, int]]:
    with open_archive(path) as opened:
        return [(name, entry.start, entry.end) for name, entry in opened.entries.items()]


def test_every_single_flipped_bit_is_found_and_the_file_named(archive):
    data = archive.read_bytes()
    places = contents(archive)
    drawn = random.Random(15)
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << drawn.randrange(8)
        archive.write_bytes(flipped)
        with pytest.raises(StoreError) as raised:
            everything(archive)
        inside = [name for name, start, end in places if start <= position < end]
        if inside:
            assert f"the file {inside[0]} is damaged" in raised.value.what


@given(
    st.dictionaries(st.from_regex(r"[a-z]{1,3}(/[A-Z]{1,2})?", fullmatch=True), st.binary()),
    st.data(),
)
@settings(max_examples=examples(60), deadline=None)
def test_one_flipped_bit_anywhere_in_any_archive_is_found(tmp_path_factory, files, data):
    folders = {name.partition("/")[0] for name in files if "/" in name}
    files = {name: content for name, content in files.items() if name not in folders}
    path = packed(tmp_path_factory.mktemp("flip") / "a.zip", files)
    everything(path)
    bytes_ = bytearray(path.read_bytes())
    bit = data.draw(st.integers(0, 8 * len(bytes_) - 1))
    bytes_[bit // 8] ^= 1 << bit % 8
    path.write_bytes(bytes_)
    with pytest.raises(StoreError):
        everything(path)


@given(st.data())
@settings(max_examples=examples(300), deadline=None)
def test_no_bytes_are_read_as_an_archive_or_end_in_another_error(tmp_path_factory, data):
    # authority: the canonical form itself; what is accepted is what would be written
    path = packed(
        tmp_path_factory.mktemp("fuzz") / "a.zip", {"a/b": b"xy", "c.sh": b"", "d": b"z" * 9}
    )
    bytes_ = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(bytes_)))
        kind = data.draw(st.sampled_from(["set", "cut", "add", "copy"]))
        some = data.draw(st.binary(min_size=1, max_size=8))
        if kind == "set":
            bytes_[place : place + len(some)] = some
        elif kind == "cut":
            del bytes_[place : place + len(some)]
        elif kind == "add":
            bytes_[place:place] = some
        else:
            bytes_[place:place] = bytes_[: data.draw(st.integers(0, len(bytes_)))]
    path.write_bytes(bytes_)
    try:
        with open_archive(path) as opened:
            files = {name: opened.read(name) for name in opened.entries}
    except StoreError:
        return
    assert packed(path.with_name("b.zip"), files).read_bytes() == bytes_


@pytest.mark.parametrize("size", [0, 1, 2, 21, 30, 100, -1, -22, -200])
def test_what_is_cut_off_is_refused(archive, size):
    archive.write_bytes(archive.read_bytes()[:size])
    with pytest.raises(StoreError):
        everything(archive)


@pytest.mark.parametrize("kind", ["behind", "before", "between", "comment"])
def test_added_bytes_are_refused(archive, kind):
    data = archive.read_bytes()
    start = contents(archive)[-1][2]
    changed = {
        "behind": data + b"x",
        "before": b"PK" + data,
        "between": data[:start] + b"x" + data[start:-6] + struct.pack("<LH", start + 1, 0),
        "comment": data[:-2] + b"\1\0x",
    }[kind]
    archive.write_bytes(changed)
    with pytest.raises(StoreError):
        everything(archive)


# --- hostile ------------------------------------------------------------------------------------


def made(path: Path, *infos: tuple[zipfile.ZipInfo, bytes], **options) -> Path:
    with zipfile.ZipFile(path, "w", **options) as file:
        for info, data in infos:
            file.writestr(info, data)
    return path


def info(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name)
    found.external_attr = mode << 16
    found.create_system = 3
    return found


def refuses(path: Path, what: str, **limits: int) -> None:
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(StoreError, match=what), open_archive(path, **limits):
        pass
    assert sorted(path.parent.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("../up", "leads out"),
        ("a/../../up", "leads out"),
        ("/etc/passwd", "absolute"),
        ("C:/x", "absolute"),
        ("a\\b", "backslash"),
        ("a//b", "empty part"),
        ("./a", "empty part"),
        ("a/", "folder"),
        ("a\nb", "control"),
        ("x" * 300, "too long"),
        ("/".join(["abcd"] * 300), "too long"),
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path, name, what):
    found = info("place")
    found.filename = name  # ZipInfo would mend it
    refuses(made(tmp_path / "a.zip", (found, b"x")), what)


@pytest.mark.parametrize(
    ("mode", "what"),
    [
        (stat.S_IFLNK | 0o777, "symbolic link"),
        (stat.S_IFCHR | 0o644, "device"),
        (stat.S_IFBLK | 0o644, "device"),
        (stat.S_IFIFO | 0o644, "pipe"),
        (stat.S_IFDIR | 0o755, "folder"),
        (stat.S_IFREG | 0o4755, "mode"),
        (0, "no plain file"),
    ],
)
def test_what_is_no_plain_file_is_refused(tmp_path, mode, what):
    refuses(made(tmp_path / "a.zip", (info("\u00fc", mode), b"/etc/passwd")), what)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("names", "what"),
    [
        (("a", "a"), "twice"),
        (("A\u00fc", "a\u00fc"), "beside each other"),
        (("\u00e9", "e\u0301"), "beside each other"),
        (("a\u00fc", "a\u00fc/b"), "beside each other"),
        (("D\u00fc/x", "d\u00fc/y"), "beside each other"),
    ],
)
def test_names_for_one_place_are_refused(tmp_path, names, what):
    path = made(tmp_path / "a.zip", *((info("\u00fc"), b"") for _ in ()))
    infos = []
    for name in names:
        one = info(name)
        one.flag_bits |= 0x800
        infos.append((one, b"x"))
    made(path, *infos)
    data = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):  # mark all names as UTF-8
        place = data.find(magic)
        while place >= 0:
            data[place + offset + 1] |= 8
            place = data.find(magic, place + 1)
    path.write_bytes(data)
    refuses(path, what)


def test_compressed_entries_are_refused_so_there_are_no_bombs(tmp_path):
    one = info("\u00fc")
    one.compress_type = zipfile.ZIP_DEFLATED
    path = made(tmp_path / "a.zip", (one, bytes(10**7)))
    assert path.stat().st_size < 20_000
    refuses(path, "\u00fc is compressed; a bundle stores its files as they are")


def test_entries_of_overlapping_bytes_are_refused(tmp_path):
    # the other kind of bomb: many lines of the directory for one content
    path = packed(tmp_path / "a.zip", {"a": bytes(1000)})
    entry = headers.ZipEntry(name="a", bytes=1000, crc32=zlib.crc32(bytes(1000)))
    body = headers.local_header(entry) + bytes(1000)
    lines = [headers.central_header(entry)]
    for k in range(50):
        again = headers.ZipEntry(name=f"b{k:02}", bytes=1000, crc32=entry.crc32)
        lines.append(headers.central_header(again))
    directory = b"".join(lines)
    path.write_bytes(body + directory + headers.end_of(len(lines), len(directory), len(body)))
    refuses(path, "directory's line of b00")


@pytest.mark.parametrize("claimed", [0, 10, 999, 1001, 2**31, 2**32 - 1])
def test_lying_sizes_are_refused(tmp_path, claimed):
    body = headers.local_header(headers.ZipEntry(name="a", bytes=1000, crc32=0)) + bytes(1000)
    directory = headers.central_header(headers.ZipEntry(name="a", bytes=claimed, crc32=0))
    path = tmp_path / "a.zip"
    path.write_bytes(body + directory + headers.end_of(1, len(directory), len(body)))
    refuses(path, "the archive is refused")


def test_a_million_entries_are_refused_before_they_are_read(tmp_path):
    path = tmp_path / "a.zip"
    line = headers.central_header(headers.ZipEntry(name="a", bytes=0, crc32=0))
    directory = line * 10**6
    path.write_bytes(b"PK" + directory + headers.end_of(10**6, len(directory), 2))
    refuses(path, "1,000,000 entries, more than 10,000", max_bytes=10**12)


def test_limits_can_be_raised_and_lowered(archive):
    total = sum(map(len, FILES.values()))
    for limits in ({"max_entries": len(FILES) - 1}, {"max_bytes": total - 1}):
        refuses(archive, "more than", **limits)
    with open_archive(archive, max_entries=len(FILES), max_bytes=total):
        pass


def test_names_that_are_no_utf8_are_refused(archive):
    data = archive.read_bytes()
    archive.write_bytes(data.replace("\u00fcber".encode(), b"\xff\xfeber"))
    refuses(archive, "not UTF-8")


def test_encryption_and_sizes_behind_the_content_are_refused(tmp_path):
    path = packed(tmp_path / "a.zip", {"a": b"x"})
    data = path.read_bytes()
    place = data.index(b"PK\1\2") + 8
    for bit, what in ((1, "encrypted"), (8, "behind it")):
        changed = bytearray(data)
        changed[place] |= bit
        path.write_bytes(changed)
        refuses(path, what)


def test_zip64_is_refused_where_no_number_needs_it(tmp_path):
    path = tmp_path / "a.zip"
    with (
        zipfile.ZipFile(path, "w") as file,
        file.open(info("\u00fc"), "w", force_zip64=True) as one,
    ):
        one.write(b"x")
    refuses(path, "the archive is refused")


def test_a_false_zip64_end_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", {"a": b"x"})
    data = bytearray(path.read_bytes())
    data[-12:-10] = b"\xff\xff"
    data[-14:-12] = b"\xff\xff"
    path.write_bytes(data)
    refuses(path, "ZIP64 record that is not there")


def test_more_than_four_gigabytes_take_zip64_and_other_readers_read_it(tmp_path):
    # of holes: nothing is written
    big, crc = tmp_path / "big", 0
    size = 2**32 + 5
    entries = headers.placed(
        [
            headers.ZipEntry(name="a", bytes=size, crc32=crc),
            headers.ZipEntry(name="b", bytes=3, crc32=zlib.crc32(b"end"), executable=True),
        ]
    )
    directory = b"".join(map(headers.central_header, entries))
    with big.open("wb") as file:
        file.write(headers.local_header(entries[0]))
        file.seek(entries[0].end)
        file.write(headers.local_header(entries[1]) + b"end" + directory)
        file.write(headers.end_of(2, len(directory), entries[1].end))
    with open_archive(big) as opened:
        assert [entry.bytes for entry in opened.entries.values()] == [size, 3]
        assert opened.read("b") == b"end"
    with zipfile.ZipFile(big) as other:
        assert [one.file_size for one in other.infolist()] == [size, 3]
        assert other.read("b") == b"end"


def test_a_pipe_a_folder_and_nothing_are_told(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ".", "nothing", "x" * 5000):
        with pytest.raises(UsageError), open_archive(tmp_path / name):
            pass


def test_a_file_of_another_kind_is_told(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"hello, I am a text of more than twenty-two bytes")
    refuses(tmp_path / "a.zip", "this is not a bundle")


# --- unpacking ----------------------------------------------------------------------------------


def test_nothing_is_unpacked_over_what_is_there(archive, tmp_path):
    place = tmp_path / "out"
    place.mkdir()
    (place / "x").touch()
    with open_archive(archive) as opened, pytest.raises(UsageError, match="not empty"):
        opened.unpack(place)


def test_no_link_is_followed_when_a_file_is_unpacked(archive, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with open_archive(archive) as opened, pytest.raises(StoreError, match="cannot be written"):
        opened.extract("empty", tmp_path / "link")
    assert not (tmp_path / "target").exists()


def test_a_damaged_file_leaves_nothing(archive, tmp_path):
    data = archive.read_bytes()
    archive.write_bytes(data.replace(b"# what", b"# When"))
    with open_archive(archive) as opened:
        with pytest.raises(StoreError, match=r"the file README.md is damaged"):
            opened.extract("README.md", tmp_path / "README.md")
        assert opened.read("empty") == b""
    assert not (tmp_path / "README.md").exists()


def test_content_in_pieces_is_one_content(tmp_path):
    path = tmp_path / "a.zip"
    content = Content(name="a", pieces=lambda: iter([b"x" * 10, b"", b"y" * 3]))
    with path.open("wb") as file:
        write_archive(file, [weigh(content)])
    assert path.read_bytes() == packed(tmp_path / "b.zip", {"a": b"x" * 10 + b"y" * 3}).read_bytes()
    assert of_bytes(b"1")() is not None
