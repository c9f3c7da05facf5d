"""The archive of a bundle: Info-ZIP's reader is the authority for what it holds."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import stat
import struct
import subprocess
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from analysis.artifact.archive import (
    Analysis,
    Author,
    BundleSource,
    Contents,
    FileRecord,
    Metadata,
    Missing,
    Needs,
    RedactionRecord,
    ReportMade,
    SmokeRun,
    contents_text,
    open_archive,
    read_contents,
    read_tar,
    tar_of,
    unpack_tar,
    weigh,
    write_archive,
)
from analysis.errors import StoreError, UsageError
from tests.examples import examples
from tests.unit.analysis.artifact.conftest import FILES, packed


def read(path: Path) -> dict[str, bytes]:
    with open_archive(path) as opened:
        return {name: opened.read(name) for name in opened.entries}


def test_what_was_packed_is_read_back(archive, tmp_path):
    assert read(archive) == FILES
    place = tmp_path / "out"
    place.mkdir()
    with open_archive(archive) as opened:
        assert list(opened.entries) == sorted(FILES, key=str.encode)
        opened.unpack(place)
    there = {
        p.relative_to(place).as_posix(): p.read_bytes() for p in place.rglob("*") if p.is_file()
    }
    assert there == FILES
    assert (place / "campaigns/a/run.sh").stat().st_mode & 0o100


def test_its_metadata_are_fixed_and_another_reader_finds_no_fault(archive):
    with zipfile.ZipFile(archive) as other:
        for info in other.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            wanted = 0o755 if info.filename.endswith(".sh") else 0o644
            assert info.external_attr >> 16 == stat.S_IFREG | wanted
            assert (info.compress_type, info.create_system) == (zipfile.ZIP_STORED, 3)
    unzip = shutil.which("unzip")
    if unzip is None:
        pytest.skip("unzip is not installed")
    subprocess.run([unzip, "-tqq", archive], check=True, capture_output=True)


def test_the_order_in_which_files_are_given_changes_no_byte(archive, tmp_path):
    other = packed(tmp_path / "b.zip", dict(reversed(FILES.items())))
    assert other.read_bytes() == archive.read_bytes()


def test_an_empty_archive_is_one(tmp_path):
    assert read(packed(tmp_path / "a.zip", {})) == {}


def test_a_file_that_changes_while_it_is_packed_is_told(tmp_path):
    file = tmp_path / "f"
    file.write_bytes(b"one")
    weighed = weigh("f", file)
    file.write_bytes(b"two")
    with (
        (tmp_path / "a.zip").open("wb") as out,
        pytest.raises(StoreError, match="changed while it was packed"),
    ):
        write_archive(out, [weighed])


# --- damage -------------------------------------------------------------------------------------


def test_every_single_flipped_bit_is_refused_or_changes_nothing(archive):
    data = archive.read_bytes()
    drawn = random.Random(15)
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << drawn.randrange(8)
        archive.write_bytes(flipped)
        inside = [name for name, one in FILES.items() if one and _holds(data, one, position)]
        try:
            found = read(archive)
        except StoreError as error:
            found, what = FILES, error.what
        else:
            what = ""
        assert found == FILES
        assert all(f"the file {name} is damaged" in what for name in inside)


def _holds(data: bytes, content: bytes, position: int) -> bool:
    start = data.index(content)
    return start <= position < start + len(content)


@given(st.data())
@settings(max_examples=examples(300), deadline=None)
def test_no_bytes_end_in_another_error(tmp_path_factory, data):
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
    with contextlib.suppress(StoreError):
        read(path)


@pytest.mark.parametrize("size", [0, 1, 2, 21, 30, 100, -1, -22, -200])
def test_what_is_cut_off_is_refused(archive, size):
    archive.write_bytes(archive.read_bytes()[:size])
    with pytest.raises(StoreError):
        read(archive)


# --- hostile ------------------------------------------------------------------------------------


def made(path: Path, *infos: tuple[zipfile.ZipInfo, bytes], **options) -> Path:
    with zipfile.ZipFile(path, "w", **options) as file:
        for info, data in infos:
            file.writestr(info, data)
    return path


def info(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo("place")
    found.filename = name  # ZipInfo would mend it
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
        *(("../up", "leads out"), ("a/../../up", "leads out"), ("/etc/passwd", "absolute")),
        *(("C:/x", "absolute"), ("a\\b", "backslash"), ("a//b", "empty part"), ("a/", "folder")),
        *(("./a", "empty part"), ("a\nb", "control"), ("a\0b", "control")),
        *(("x" * 300, "too long"), ("/".join(["abcd"] * 300), "too long")),
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path, name, what):
    refuses(made(tmp_path / "a.zip", (info(name), b"x")), what)


@pytest.mark.parametrize(
    "mode",
    [
        *(stat.S_IFLNK | 0o777, stat.S_IFCHR | 0o644, stat.S_IFBLK | 0o644, stat.S_IFIFO | 0o644),
        stat.S_IFDIR | 0o755,
    ],
)
def test_what_is_no_plain_file_is_refused(tmp_path, mode):
    refuses(
        made(tmp_path / "a.zip", (info("\u00fc", mode), b"/etc/passwd")),
        "is a link, a device or a folder",
    )


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("names", "what"),
    [
        (("a", "a"), "twice"),
        (("A\u00fc", "a\u00fc"), "into one folder"),
        (("\u00e9", "e\u0301"), "into one folder"),
        (("a\u00fc", "a\u00fc/b"), "into one folder"),
        (("D\u00fc/x", "d\u00fc/y"), "into one folder"),
    ],
)
def test_names_for_one_place_are_refused(tmp_path, names, what):
    refuses(made(tmp_path / "a.zip", *((info(name), b"x") for name in names)), what)


def test_what_somebody_packed_again_is_the_same(tmp_path):
    folder = info("a/", stat.S_IFDIR | 0o755)
    files = [(info("a/b", 0o600), b"x" * 999), (info("c", stat.S_IFREG | 0o4775), b"")]
    for one, _ in files:
        one.compress_type = zipfile.ZIP_DEFLATED
    path = made(tmp_path / "a.zip", (folder, b""), *files)
    place = tmp_path / "new"
    place.mkdir()
    with open_archive(path) as archive:
        assert dict(archive.entries) == {"a/b": 999, "c": 0}
        archive.unpack(place)
    assert (place / "a" / "b").read_bytes() == b"x" * 999
    modes = [(place / name).stat().st_mode & 0o7100 for name in ("a/b", "c")]
    assert modes == [0, 0o100]


@pytest.mark.parametrize(
    ("kind", "claimed"), [(zipfile.ZIP_DEFLATED, 10**9), (zipfile.ZIP_BZIP2, 0)]
)
def test_compressed_entries_that_claim_too_much_are_refused(tmp_path, kind, claimed):
    one = info("\u00fc")
    one.compress_type = kind
    path = made(tmp_path / "a.zip", (one, bytes(10**5)))
    data = bytearray(path.read_bytes())
    if claimed:
        struct.pack_into("<L", data, data.index(b"PK\1\2") + 24, claimed)
    path.write_bytes(data)
    refuses(path, "claims more than it holds|compressed in a way")


def test_entries_of_overlapping_bytes_are_refused(tmp_path):
    # the other kind of bomb: many lines of the directory for one content
    path = made(tmp_path / "a.zip", (info("a00"), bytes(1000)))
    data = path.read_bytes()
    start = data.index(b"PK\1\2")
    line = data[start:-22]
    lines = b"".join(line.replace(b"a00", b"a%02d" % k) for k in range(50))
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 50, 50, len(lines), start, 0)
    path.write_bytes(data[:start] + lines + end)
    refuses(path, "claim 50,000 bytes, more than it has")


@pytest.mark.parametrize("claimed", [0, 10, 999, 1001, 2**31, 2**32 - 1])
def test_lying_sizes_are_refused(tmp_path, claimed):
    path = made(tmp_path / "a.zip", (info("a"), bytes(1000)))
    data = bytearray(path.read_bytes())
    struct.pack_into("<2L", data, data.index(b"PK\1\2") + 20, claimed, claimed)
    path.write_bytes(data)
    with pytest.raises(StoreError):
        read(path)


def test_a_directory_of_a_million_lines_is_refused_before_it_is_read(tmp_path):
    path = made(tmp_path / "a.zip", (info("a"), b""))
    data = path.read_bytes()
    start = data.index(b"PK\1\2")
    lines = data[start:-22] * 10**6
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(lines), start, 0)
    path.write_bytes(data[:start] + lines + end)
    refuses(path, "directory is too large")


def test_limits_can_be_raised_and_lowered(archive):
    total = sum(map(len, FILES.values()))
    for limits in ({"max_entries": len(FILES) - 1}, {"max_bytes": total - 1}):
        refuses(archive, "more than", **limits)
    with open_archive(archive, max_entries=len(FILES), max_bytes=total):
        pass


def test_names_that_are_no_utf8_or_not_marked_so_are_refused(archive):
    data = archive.read_bytes()
    archive.write_bytes(data.replace("\u00fcber".encode(), b"\xff\xfeber"))
    refuses(archive, "not a whole bundle")
    place = data.rindex(b"PK\1\2", 0, data.rindex("\u00fcber".encode()))
    changed = bytearray(data)
    changed[place + 9] ^= 8
    archive.write_bytes(changed)
    refuses(archive, "not UTF-8")


def test_encryption_and_sizes_behind_the_content_are_refused(tmp_path):
    path = made(tmp_path / "a.zip", (info("a"), b"x"))
    data = path.read_bytes()
    for bit in (1, 8):
        changed = bytearray(data)
        changed[data.index(b"PK\1\2") + 8] |= bit
        path.write_bytes(changed)
        refuses(path, "is encrypted, or claims more than it holds")


def test_zip64_is_read(tmp_path):
    path = tmp_path / "a.zip"
    with (
        zipfile.ZipFile(path, "w") as file,
        file.open(info("\u00fc"), "w", force_zip64=True) as one,
    ):
        one.write(b"x")
    assert read(path) == {"\u00fc": b"x"}


def test_what_is_no_file_and_a_file_of_another_kind_are_told(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ".", "nothing", "x" * 5000):
        with pytest.raises(UsageError), open_archive(tmp_path / name):
            pass
    (tmp_path / "a.zip").write_bytes(b"hello, I am a text of more than twenty-two bytes")
    refuses(tmp_path / "a.zip", "this is not a whole bundle")


# --- unpacking ----------------------------------------------------------------------------------


def test_nothing_is_unpacked_over_what_is_there_or_through_a_link(archive, tmp_path):
    place = tmp_path / "out"
    place.mkdir()
    (place / "x").touch()
    with open_archive(archive) as opened:
        with pytest.raises(UsageError, match="not empty"):
            opened.unpack(place)
        (place / "x").unlink()
        opened.pieces = lambda name: (place / name).symlink_to(tmp_path / "target") or [b"x"]
        with pytest.raises(StoreError, match="cannot be written"):
            opened.unpack(place)
    assert not (tmp_path / "target").exists()


def test_a_damaged_file_leaves_nothing(archive, tmp_path):
    data = archive.read_bytes()
    archive.write_bytes(data.replace(b"# what", b"# When"))
    place = tmp_path / "out"
    place.mkdir()
    with open_archive(archive) as opened:
        with pytest.raises(StoreError, match=r"the file README.md is damaged"):
            opened.unpack(place)
        assert opened.read("empty") == b""
    assert not (place / "README.md").exists()


def test_what_a_bundle_says_of_itself_is_no_larger_than_its_list_of_files(tmp_path):
    path = tmp_path / "large.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr(zipfile.ZipInfo("bundle.json"), b"[" + b"[]," * 2_000_000 + b"[]]")
    with (
        open_archive(path) as opened,
        pytest.raises(StoreError, match=r"bundle\.json is larger than any such file"),
    ):
        opened.read("bundle.json")


# --- bundle.json: written and read back; what is none is refused


CONTENTS = Contents(
    schema=3,
    kind="fairtrial-bundle",
    tool_version="0.2.0",
    python="3.11.7",
    libraries={"numpy": "2.0"},
    sources=(BundleSource(name="x", kind="trial", path="trials/x", trial="x", identity="0" * 64),),
    analyses=(
        Analysis(name="verdict", command=("verdict", "trials/x"), seed=None, result="analyses/1"),
    ),
    report=ReportMade(command=("report", "trials/x"), result="report.html"),
    claims=None,
    smoke=SmokeRun(command=("run", "campaigns/x/campaign.yaml"), time_s=1.5),
    needs=Needs(disk_bytes=1, compilers={"cc": "cc 12"}),
    missing=(Missing(what="data/\u00fc", why="too large", bytes=5),),
    redacted=RedactionRecord(what=("user",), replaced={"user": 2}, files={"a": "0" * 64}),
    metadata=Metadata(title="T", authors=(Author(name="A"),)),
    files={"README.md": FileRecord(bytes=1, sha256="0" * 64)},
)


@pytest.mark.parametrize("contents", [CONTENTS, replace(CONTENTS, report=None, redacted=None)])
def test_what_was_written_is_read_back(contents):
    assert read_contents(contents_text(contents), "a.zip") == contents


def test_later_keys_are_passed_over():
    value = json.loads(contents_text(CONTENTS))
    value["later"] = {"x": 1}
    assert read_contents(json.dumps(value).encode(), "a.zip") == CONTENTS


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"kind": "other"}, "does not say that this is a bundle"),
        ({"schema": 4}, "newer than 3"),
        ({"sources": None}, "must be a list"),
        ({"files": {"a": {"bytes": "1", "sha256": ""}}}, "whole number"),
        ({"needs": {}}, "lacks compilers, disk_bytes"),
    ],
)
def test_what_is_no_description_is_refused(change, what):
    value = json.loads(contents_text(CONTENTS)) | change
    with pytest.raises(StoreError, match=what):
        read_contents(json.dumps(value).encode(), "a.zip")


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 10**5, b'{"kind": NaN}'])
def test_other_bytes_are_refused(data):
    with pytest.raises(StoreError, match="not a description"):
        read_contents(data, "a.zip")


# --- Outputs as a tar archive: Python's tarfile and GNU tar are the authority for what it holds


TARBALL_FILES = {
    "0001.stdout": b"said\n",
    "0002.stderr": b"",
    "targets-before/0123456789abcdef-" + "n" * 200: b"x" * 1000,
    "\u00fc.log": bytes(512),
}


@pytest.fixture
def tar(tmp_path):
    for k, data in enumerate(TARBALL_FILES.values()):
        (tmp_path / f"f{k}").write_bytes(data)
    return b"".join(tar_of({name: tmp_path / f"f{k}" for k, name in enumerate(TARBALL_FILES)})())


def tarball_read(data: bytes, **limits: int) -> dict[str, bytes]:
    members = read_tar(io.BytesIO(data), "outputs.tar", **limits)
    return {name: b"".join(content) for name, content in members}


def test_what_was_packed_is_read_back_tarball(tar, tmp_path):
    assert tarball_read(tar) == TARBALL_FILES
    place = tmp_path / "out"
    place.mkdir()
    unpack_tar(io.BytesIO(tar), place, "outputs.tar")
    assert {
        p.relative_to(place).as_posix(): p.read_bytes() for p in place.rglob("*") if p.is_file()
    } == TARBALL_FILES


def test_other_readers_find_the_same(tar, tmp_path):
    with tarfile.open(fileobj=io.BytesIO(tar)) as other:
        found = {one.name: other.extractfile(one).read() for one in other.getmembers()}
        assert found == TARBALL_FILES
        assert list(found) == sorted(TARBALL_FILES, key=str.encode)
        for one in other.getmembers():
            assert (one.mtime, one.uid, one.gid, one.uname, one.mode) == (0, 0, 0, "", 0o644)
    gnu = shutil.which("tar")
    assert gnu is not None
    done = subprocess.run([gnu, "-t"], input=tar, capture_output=True, check=True)
    assert done.stderr == b""
    assert len(done.stdout.splitlines()) == len(TARBALL_FILES)


def test_flipped_bits_of_headers_are_found(tar):
    drawn = random.Random(15)
    contents = b"".join(TARBALL_FILES.values())
    assert len(contents) < len(tar)
    for position in range(len(tar)):
        changed = bytearray(tar)
        changed[position] ^= 1 << drawn.randrange(8)
        try:
            found = tarball_read(bytes(changed))
        except StoreError:
            continue
        assert len(found) == len(TARBALL_FILES)  # contents and long names have hashes elsewhere


@pytest.mark.parametrize(
    ("member", "what"),
    [
        ({"name": "../up"}, "leads out"),
        ({"name": "/etc/passwd"}, "absolute"),
        ({"name": "a", "type": tarfile.SYMTYPE, "linkname": "/etc"}, "link, a device or a folder"),
        ({"name": "a", "type": tarfile.LNKTYPE, "linkname": "b"}, "link, a device or a folder"),
        ({"name": "a", "type": tarfile.CHRTYPE}, "link, a device or a folder"),
        ({"name": "a", "type": tarfile.DIRTYPE}, "link, a device or a folder"),
        ({"name": "a", "type": tarfile.GNUTYPE_SPARSE}, "link, a device or a folder"),
        ({"name": "n" * 2000}, "too long"),
    ],
)
def test_hostile_members_are_refused_before_anything_is_written(member, what, tmp_path):
    info = tarfile.TarInfo()
    info.mode = 0o644
    for key, value in member.items():
        setattr(info, key, value)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as file:
        file.addfile(info)
    with pytest.raises(StoreError, match=what):
        unpack_tar(io.BytesIO(out.getvalue()), tmp_path, "outputs.tar")
    assert list(tmp_path.iterdir()) == []


def test_limits_hold_before_the_content_is_read(tar):
    for limits in ({"max_files": 3}, {"max_bytes": 1500}):
        with pytest.raises(StoreError, match="more than"):
            tarball_read(tar, **limits)
    info = tarfile.TarInfo("a")
    info.size, info.mode = 8**11 - 1, 0o644
    with pytest.raises(StoreError, match="more than 1,000,000,000 bytes"):
        tarball_read(info.tobuf(tarfile.GNU_FORMAT), max_bytes=10**9)
    info.size = -1
    with pytest.raises(StoreError, match="more than"):
        tarball_read(info.tobuf(tarfile.GNU_FORMAT))


def test_names_for_one_place_ends_and_rest_are_refused(tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    one = b"".join(tar_of({"a": tmp_path / "f"})())[:1024]
    other = b"".join(tar_of({"A": tmp_path / "f"})())[:1024]
    end = bytes(1024)
    for data in (one + one + end, one + other + end, one, one + end[:512], one + end + b"x"):
        with pytest.raises(StoreError):
            tarball_read(data)
    assert tarball_read(one + end) == {"a": b"x"}
    assert tarball_read(end) == {}


def test_a_file_that_grows_while_it_is_packed_is_told(tmp_path):
    file = tmp_path / "f"
    file.write_bytes(b"x" * 10)
    pieces = tar_of({"a": file})()
    next(pieces)
    with file.open("ab") as grown:
        grown.write(b"y")
    with pytest.raises(StoreError, match="changed"):
        list(pieces)
