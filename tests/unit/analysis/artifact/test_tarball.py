"""Outputs as a tar archive: Python's tarfile and GNU tar are the authority for what it holds."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import tarfile

import pytest

from analysis.artifact.archive import read_tar, tar_of, unpack_tar
from analysis.errors import StoreError

FILES = {
    "0001.stdout": b"said\n",
    "0002.stderr": b"",
    "targets-before/0123456789abcdef-" + "n" * 200: b"x" * 1000,
    "\u00fc.log": bytes(512),
}


@pytest.fixture
def tar(tmp_path):
    for k, data in enumerate(FILES.values()):
        (tmp_path / f"f{k}").write_bytes(data)
    return b"".join(tar_of({name: tmp_path / f"f{k}" for k, name in enumerate(FILES)})())


def read(data: bytes, **limits: int) -> dict[str, bytes]:
    members = read_tar(io.BytesIO(data), "outputs.tar", **limits)
    return {name: b"".join(content) for name, content in members}


def test_what_was_packed_is_read_back(tar, tmp_path):
    assert read(tar) == FILES
    place = tmp_path / "out"
    place.mkdir()
    unpack_tar(io.BytesIO(tar), place, "outputs.tar")
    assert {
        p.relative_to(place).as_posix(): p.read_bytes() for p in place.rglob("*") if p.is_file()
    } == FILES


def test_other_readers_find_the_same(tar, tmp_path):
    with tarfile.open(fileobj=io.BytesIO(tar)) as other:
        found = {one.name: other.extractfile(one).read() for one in other.getmembers()}
        assert found == FILES
        assert list(found) == sorted(FILES, key=str.encode)
        for one in other.getmembers():
            assert (one.mtime, one.uid, one.gid, one.uname, one.mode) == (0, 0, 0, "", 0o644)
    gnu = shutil.which("tar")
    assert gnu is not None
    done = subprocess.run([gnu, "-t"], input=tar, capture_output=True, check=True)
    assert done.stderr == b""
    assert len(done.stdout.splitlines()) == len(FILES)


def test_flipped_bits_of_headers_are_found(tar):
    drawn = random.Random(15)
    contents = b"".join(FILES.values())
    assert len(contents) < len(tar)
    for position in range(len(tar)):
        changed = bytearray(tar)
        changed[position] ^= 1 << drawn.randrange(8)
        try:
            found = read(bytes(changed))
        except StoreError:
            continue
        assert len(found) == len(FILES)  # contents and long names have hashes elsewhere


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
            read(tar, **limits)
    info = tarfile.TarInfo("a")
    info.size, info.mode = 8**11 - 1, 0o644
    with pytest.raises(StoreError, match="more than 1,000,000,000 bytes"):
        read(info.tobuf(tarfile.GNU_FORMAT), max_bytes=10**9)
    info.size = -1
    with pytest.raises(StoreError, match="more than"):
        read(info.tobuf(tarfile.GNU_FORMAT))


def test_names_for_one_place_ends_and_rest_are_refused(tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    one = b"".join(tar_of({"a": tmp_path / "f"})())[:1024]
    other = b"".join(tar_of({"A": tmp_path / "f"})())[:1024]
    end = bytes(1024)
    for data in (one + one + end, one + other + end, one, one + end[:512], one + end + b"x"):
        with pytest.raises(StoreError):
            read(data)
    assert read(one + end) == {"a": b"x"}
    assert read(end) == {}


def test_a_file_that_grows_while_it_is_packed_is_told(tmp_path):
    file = tmp_path / "f"
    file.write_bytes(b"x" * 10)
    pieces = tar_of({"a": file})()
    next(pieces)
    with file.open("ab") as grown:
        grown.write(b"y")
    with pytest.raises(StoreError, match="changed"):
        list(pieces)
