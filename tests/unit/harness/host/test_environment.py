from __future__ import annotations

import hashlib
import json
import stat
import struct
import sys
from pathlib import Path

import pytest

from analysis.record.environment import describe_changes, diff, of_one_session, whole_targets
from harness.host import executables as targets_module
from harness.host.activity import Host
from harness.host.executables import (
    describe_inputs,
    describe_target,
    describe_targets,
    read_elf,
    sha256_of,
)
from harness.host.snapshot import capture, compare_environments
from harness.host.variables import HIDDEN, redact_text
from tests.hosts import trees as hosts


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def record(tmp_path):
    """A capture of the prepared AMD host, with one script as target and no compilers."""
    target = script(tmp_path / "program", "#!/bin/sh\nexit 0\n")
    with Host(hosts.lent(hosts.amd())) as host:
        found = capture(
            host,
            targets={"text/a": target, "text/b": target},
            variables={"PATH": str(tmp_path), "LANG": "C", "API_KEY": "hunter2"},
            tool_version="0.1.0",
        )
    return found | {"targets": whole_targets(found["targets"])}


def changed(record, *path, value):
    # As it comes back from its file: deepcopy would keep what the targets share.
    other = json.loads(json.dumps(record))
    place = other
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return other


def test_a_record_is_json_and_comes_back_the_same(record):
    assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_a_record_says_what_the_host_is(record):
    assert record["host"]["name"] == "lab07"
    assert (
        record["host"]["machine_id_sha256"] == hashlib.sha256(hosts.MACHINE_ID.encode()).hexdigest()
    )
    assert record["cpu"]["model"] == "AMD EPYC 7443P 24-Core Processor"
    assert record["cpu"]["microcode"] == "0xa0011d1"
    assert record["cpu"]["governor"] == {"0-7": "performance"}
    assert (record["cpu"]["turbo"], record["cpu"]["smt"]) == (False, "off")
    assert record["kernel"]["release"] == "6.1.0"
    assert record["kernel"]["boot_arguments"] == "BOOT_IMAGE=/vmlinuz-6.1.0 root=UUID=1 ro quiet"
    assert record["memory"]["total_bytes"] == 16_384_000_000
    assert record["tools"]["fairtrial"] == "0.1.0"
    assert record["tools"]["packages"]["numpy"]
    assert record["process"]["umask"] == "0022"


@pytest.mark.parametrize("name", sorted(hosts.TREES))
def test_every_host_can_be_captured(name):
    with Host(hosts.lent(hosts.TREES[name]())) as host:
        made = capture(host, targets={}, variables={"PATH": "/nowhere"}, tool_version="1")
    assert json.dumps(made, allow_nan=False)
    assert diff(made, made) == ()


def test_the_documentation_explains_every_key(record):
    text = (Path(__file__).parents[4] / "docs" / "environment.md").read_text()
    for section, values in record.items():
        assert f"`{section}`" in text, section
        if section != "variables":  # names of variables are anybody's
            names = values if section != "targets" else values["text/a"]
            for name in names:
                assert f"`{name}`" in text, f"{section}.{name}"


def test_no_secret_and_no_machine_id_stands_in_a_record(record):
    text = json.dumps(record)
    assert "hunter2" not in text
    assert hashlib.sha256(b"hunter2").hexdigest() not in text
    assert hosts.MACHINE_ID not in text
    assert record["hidden_variables"] == {"key": None, "hashes": {"API_KEY": None}}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("https://me:pw@host/x?y=1", f"https://{HIDDEN}@host/x?y=1"),
        ("http://proxy:3128", "http://proxy:3128"),
        ("-O2 --token=abc -g", f"-O2 --token={HIDDEN} -g"),
        ("run --password abc -v", f"run --password {HIDDEN} -v"),
        ("x ghp_0123456789abcdefghij y", f"x {HIDDEN} y"),
        ("Authorization: Bearer abcdefgh12345", f"Authorization: Bearer {HIDDEN}"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc", HIDDEN),
        ("root=/dev/sda1 luks.key='a b' quiet", f"root=/dev/sda1 luks.key={HIDDEN} quiet"),
        ("/home/ada/bin:/home/adam/bin:/home/ada", "~/bin:/home/adam/bin:~"),
        # attacks on an earlier version, of which these stood in trials in part or whole
        ("https://user:hunt@er2@host/x", f"https://{HIDDEN}@host/x"),
        ("https://user:hun/ter2@host/x", f"https://{HIDDEN}@host/x"),
        ("https://host:8080/@scope/x", "https://host:8080/@scope/x"),  # a port and a path
        ("keytool -storepass abc -v", f"keytool -storepass {HIDDEN} -v"),
        ("-DPW=abc -Dpwd=abc DBPW=abc", f"-DPW={HIDDEN} -Dpwd={HIDDEN} DBPW={HIDDEN}"),
        ("-j4 -- PW='a b' X=1", f"-j4 -- PW={HIDDEN} X=1"),
        ("-DKEY:=abc -DKEY:STRING=abc KEY += abc", f"-DKEY:={HIDDEN} -DKEY:STRING={HIDDEN} KEY += {HIDDEN}"),
        ("Authorization: Basic YWJj", f"Authorization: Basic {HIDDEN}"),
        ("-H 'Authorization: Digest u=\"a\"' x", f"-H 'Authorization: Digest {HIDDEN}' x"),
        ("--token 'a b' -v", f"--token {HIDDEN} -v"),
        ("-DKEY=a\\ b -O2", f"-DKEY={HIDDEN} -O2"),
        ("'-DKEY=a b' -O2", f"'-DKEY={HIDDEN}' -O2"),
        ('--token "a\\"b c" -v', f"--token {HIDDEN} -v"),
        ("--token 'a b", f"--token {HIDDEN}"),  # a quote that never ends
        ("OPTIONS=-DKEY=abc X=1", f"OPTIONS=-DKEY={HIDDEN} X=1"),
        ('{"password": "a b"}', f'{{"password": {HIDDEN}'),
        ("curl -u me:abc x", f"curl -u {HIDDEN} x"),
        ("h?sv=1&sig=abc", f"h?sv=1&sig={HIDDEN}"),
        # what explains a timing stays
        ("PWD=/build OLDPWD=/", "PWD=/build OLDPWD=/"),
        ("/opt/tokens:/usr/bin", "/opt/tokens:/usr/bin"),
        ("-O2 -Wl,-rpath=/x --param l2-cache-size=1024", "-O2 -Wl,-rpath=/x --param l2-cache-size=1024"),
        ("mitigations=off isolcpus=2,3", "mitigations=off isolcpus=2,3"),
        ("", ""),
        ("bad \udcff byte", "bad \\udcff byte"),
    ],
)  # fmt: skip
def test_secrets_and_the_home_folder_are_taken_out_of_texts(text, kept):
    assert redact_text(text, "/home/ada") == kept


@pytest.mark.parametrize("home", [None, "/", ""])
def test_a_home_that_is_no_folder_of_a_person_replaces_nothing(home):
    assert redact_text("/usr/bin", home) == "/usr/bin"


def test_a_program_is_described_with_its_loader_and_libraries():
    entry = describe_target(Path(sys.executable), {})
    assert entry["kind"] == "elf"
    assert entry["sha256"] == sha256_of(Path(sys.executable))
    assert entry["size_bytes"] == Path(sys.executable).stat().st_size
    if entry["libraries"]:  # a static interpreter has none
        assert all(len(value) == 64 for value in entry["interpreter"].values())
        libc = next(value for name, value in entry["libraries"].items() if name.startswith("libc."))
        assert libc["sha256"] == sha256_of(Path(libc["path"]))


def test_a_script_is_described_with_what_interprets_it(tmp_path):
    program = script(tmp_path / "tool", "#!/bin/sh\n")
    entry = describe_target(
        script(tmp_path / "a", "#!/usr/bin/env -S X=1 tool -u\n"), {"PATH": str(tmp_path)}
    )
    assert entry["kind"] == "script"
    assert entry["interpreter"] == {
        "/usr/bin/env": sha256_of(Path("/usr/bin/env")),
        str(program): sha256_of(program),
    }


@pytest.mark.parametrize("text", ["#!", "#! \n", "plain", ""])
def test_a_file_of_another_kind_is_hashed_all_the_same(tmp_path, text):
    entry = describe_target(script(tmp_path / "a", text), {})
    assert entry["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert entry["interpreter"] == {}


def test_targets_that_cannot_be_read_are_unknown(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (tmp_path / "missing", tmp_path, loop):
        entry = describe_target(path, {})
        assert (entry["sha256"], entry["kind"]) == (None, None), path


def test_no_target_is_executed(tmp_path):
    trap = script(tmp_path / "trap", f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    with Host(hosts.lent(hosts.amd())) as host:
        capture(host, targets={"t": trap}, variables={"PATH": "/nowhere"}, tool_version="1")
    assert not (tmp_path / "sprung").exists()


def elf(order="<", wide=True, needed=(b"liba.so",), loader=b"/lib/ld.so", runpath=b"$ORIGIN"):
    """A minimal ELF file: a loader, a dynamic table and its strings, one loaded segment."""
    strings = b"\0" + b"\0".join(needed) + b"\0" + runpath + b"\0"
    offset, at = 1, []
    for name in needed:
        at.append(offset)
        offset += len(name) + 1
    head, each = (64, 56) if wide else (52, 32)
    start = head + 3 * each
    pair, word = ("qQ", "Q") if wide else ("iI", "I")
    base = 0x10000
    table_size = struct.calcsize(order + pair) * (len(needed) + 4)
    where = start + len(loader) + 1 + table_size
    entries = [(1, value) for value in at] + [
        (29, offset),
        (5, base + where),
        (10, len(strings)),
        (0, 0),
    ]
    table = b"".join(struct.pack(order + pair, *entry) for entry in entries)
    body = loader + b"\0" + table + strings

    def segment(kind, place, size):
        if wide:
            return struct.pack(order + "IIQQQQQQ", kind, 4, place, base + place, 0, size, size, 1)
        return struct.pack(order + "IIIIIIII", kind, place, base + place, 0, size, size, 4, 1)

    ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    fields = struct.pack(
        order + "HHI" + word * 3 + "IHHHHHH", 3, 62, 1, 0, head, 0, 0, head, each, 3, 0, 0, 0
    )
    segments = (
        segment(3, start, len(loader) + 1)
        + segment(2, start + len(loader) + 1, len(table))
        + segment(1, 0, start + len(body))
    )
    return ident + fields + segments + body


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("wide", [True, False])
def test_elf_files_of_every_class_and_byte_order_are_read(tmp_path, order, wide):
    path = tmp_path / "program"
    path.write_bytes(elf(order, wide, needed=(b"liba.so", b"libb.so.6")))
    found = read_elf(path)
    assert found.interpreter == "/lib/ld.so"
    assert found.needed == ("liba.so", "libb.so.6")
    assert found.search == ("$ORIGIN",)


def test_a_damaged_elf_file_is_no_crash(tmp_path):
    whole = elf()
    path = tmp_path / "program"
    for length in range(0, len(whole), 3):  # at its end stand its strings
        path.write_bytes(whole[:length])
        assert read_elf(path) is None
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + b"\xff" + whole[position + 1 :])
        read_elf(path)


def test_libraries_are_found_beside_the_program_and_through_each_other(tmp_path):
    (tmp_path / "lib").mkdir()
    program, first = tmp_path / "program", tmp_path / "lib" / "liba.so"
    program.write_bytes(elf(runpath=b"$ORIGIN/lib"))
    first.write_bytes(elf(needed=(b"libfar.so", b"liba.so")))
    (tmp_path / "lib" / "libfar.so").write_bytes(elf(wide=False))  # of another class: not for us
    found = describe_target(program, {})["libraries"]
    assert found == {
        "liba.so": {"path": str(first), "sha256": sha256_of(first)},
        "libfar.so": {"path": None, "sha256": None},
    }


def test_no_file_is_hashed_twice_for_many_cells(tmp_path, monkeypatch):
    seen = []

    def counted(path):
        seen.append(path)
        return sha256_of(path)

    monkeypatch.setattr(targets_module, "sha256_of", counted)
    copy_of_it = tmp_path / "copy"
    copy_of_it.write_bytes(Path(sys.executable).read_bytes())
    with Host(hosts.lent(hosts.amd())) as host:
        cells = {f"b{number}/v": Path(sys.executable) for number in range(50)}
        record = capture(
            host, targets={**cells, "b/copy": copy_of_it}, variables={}, tool_version="0"
        )
    assert sorted(seen) == sorted(set(seen))
    assert len(seen) > 1
    assert set(record["targets"]) == {*cells, "b/copy"}
    assert record["targets"]["b7/v"] == {"same_as": "b0/v"}
    entry = json.loads(json.dumps(whole_targets(record["targets"])["b7/v"]))
    assert entry["sha256"] == record["targets"]["b/copy"]["sha256"] == sha256_of(copy_of_it)
    assert set(entry["libraries"]) == set(describe_target(Path(sys.executable), {})["libraries"])


def test_what_the_build_of_each_session_makes_is_marked(tmp_path):
    # authority: docs/environment.md; the libraries of the host keep their hashes without a mark
    mine, other = tmp_path / "mine", tmp_path / "other"
    for path in (mine, other):
        path.write_bytes(Path(sys.executable).read_bytes())
        path.chmod(0o755)
    with Host(hosts.lent(hosts.amd())) as host:
        targets = capture(
            host,
            targets={"text/new": mine, "logs/new": mine, "text/old": other},
            variables={},
            tool_version="0",
            of_session={mine: lambda path: path.is_relative_to(tmp_path)},
        )["targets"]
    whole = whole_targets(targets)
    marked = {name for name, about in whole.items() if of_one_session(about)}
    assert marked == {"text/new", "logs/new"}
    assert whole["text/new"]["sha256"] == whole["text/old"]["sha256"]
    assert not any(map(of_one_session, whole["text/new"]["libraries"].values()))


def test_descriptions_in_bulk_are_those_of_each(tmp_path):
    program = script(tmp_path / "program", "#!/bin/sh\n")
    paths = [program, Path("/bin/sh"), tmp_path / "absent", program]
    assert describe_targets(paths, {}) == {path: describe_target(path, {}) for path in paths}


def test_inputs_are_described_by_their_content_and_named_from_the_campaign(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "campaign"
    root.mkdir()
    (root / "b.txt").write_bytes(b"abc")
    (tmp_path / "a.txt").write_bytes(b"")
    paths = [root / "b.txt", tmp_path / "a.txt", root / "b.txt", root / "absent", root]
    empty, abc = (hashlib.sha256(data).hexdigest() for data in (b"", b"abc"))
    nothing = {"sha256": None, "size_bytes": None}
    assert describe_inputs(paths, root) == {
        ".": nothing,
        "absent": nothing,
        "b.txt": {"sha256": abc, "size_bytes": 3},
        "~/a.txt": {"sha256": empty, "size_bytes": 0},
    }


@pytest.mark.parametrize("home", [None, "", "work"])
def test_a_home_that_is_no_absolute_path_hides_nothing(tmp_path, monkeypatch, home):
    monkeypatch.delenv("HOME", raising=False)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    monkeypatch.setattr("harness.host.snapshot._PATIENCE_S", 600)
    script(tmp_path / "gcc", "#!/bin/sh\necho gcc of work 1\n")
    with Host(hosts.lent(hosts.amd())) as host:
        made = capture(host, targets={}, variables={"PATH": str(tmp_path)}, tool_version="1")
    assert made["tools"]["compilers"] == {"gcc": "gcc of work 1"}


def test_environments_are_compared_from_one_beginning_to_the_next(record, tmp_path, make_manifest):
    places = ((1, 0), (1, 1), (2, 0))
    lines = [
        changed(record, "cpu", "governor", value=f"g{number}") | {"session": s, "segment": k}
        for number, (s, k) in enumerate(places)
    ]
    (tmp_path / "manifest.json").write_text(json.dumps(make_manifest().to_dict()))
    (tmp_path / "environment.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    found = compare_environments(tmp_path)
    assert [(old, new) for old, new, _ in found.pairs] == [
        ("session 1", "session 1, segment 1"),
        ("session 1, segment 1", "session 2"),
    ]
    assert all(len(changes) == 1 for _, _, changes in found.pairs)


def test_compilers_on_the_path_are_asked_for_their_version(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.host.snapshot._PATIENCE_S", 600)
    script(tmp_path / "gcc", "#!/bin/sh\necho gcc 99.1\necho more\n")
    script(tmp_path / "clang", "#!/bin/sh\nexit 1\n")
    with Host(hosts.lent(hosts.amd())) as host:
        made = capture(host, targets={}, variables={"PATH": str(tmp_path)}, tool_version="1")
    assert made["tools"]["compilers"] == {"gcc": "gcc 99.1"}


def test_a_compiler_that_hangs_is_killed_and_left_out(tmp_path, monkeypatch, processes):
    monkeypatch.setattr("harness.host.snapshot._PATIENCE_S", 0.2)
    script(tmp_path / "rustc", f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 1000\n")
    with Host(hosts.lent(hosts.amd())) as host:
        made = capture(
            host, targets={}, variables={"PATH": f"{tmp_path}:/usr/bin:/bin"}, tool_version="1"
        )
    assert "rustc" not in made["tools"]["compilers"]
    if (tmp_path / "pid").exists():
        pid = int((tmp_path / "pid").read_text())
        processes.wait_until(lambda: not Path(f"/proc/{pid}").exists(), "it is gone")


@pytest.mark.parametrize(
    ("path", "value", "what", "identity"),
    [
        (("kernel", "release"), "6.1.1", "kernel.release changed from 6.1.0 to 6.1.1", False),
        (("cpu", "governor"), {"0-3": "powersave", "4-7": "performance"},
         "cpu.governor changed from performance (0-7) to powersave (0-3), performance (4-7)", False),
        (("cpu", "turbo"), True, "cpu.turbo changed from off to on", False),
        (("cpu", "turbo"), None, "cpu.turbo is unknown now; it was off", False),
        (("host", "boot_id"), "x", "the host was rebooted", False),
        (("host", "machine_id_sha256"), "x", "this is another machine: its machine id differs", True),
        (("cpu", "model"), "Intel", "the processor changed from AMD EPYC 7443P 24-Core Processor " "to Intel", True),
        (("cpu", "model"), None, "the processor is unknown now; it was AMD EPYC 7443P 24-Core " "Processor", False),
        (("cpu", "flags_sha256"), "x", "the processor's feature flags changed", False),
        (("variables", "LANG"), "de", "the variable LANG changed from C to de", False),
        (("variables", "NEW"), "1", "the variable NEW is new: 1", False),
        (("tools", "compilers"), {"gcc": "gcc 13"}, "tools.compilers.gcc is now gcc 13; it was unknown", False),
        (("process", "limits", "stack"), [8, None], None, False),
    ],
)  # fmt: skip
def test_a_change_is_told_in_a_sentence(record, path, value, what, identity):
    changes = diff(record, changed(record, *path, value=value))
    assert len(changes) == 1
    assert what is None or changes[0].what == what
    assert changes[0].identity is identity
    assert changes[0].kind == path[0]


def test_a_replaced_target_makes_another_trial(record):
    changes = diff(record, changed(record, "targets", "text/a", "sha256", value="f" * 64))
    assert [change.identity for change in changes] == [True]
    said = "the executable of text/a is another one than before: "
    assert changes[0].what.startswith((f"{said}/", f"{said}~/"))


def test_a_target_that_is_gone_makes_another_trial(record):
    changes = diff(record, changed(record, "targets", "text/a", "sha256", value=None))
    assert changes[0].identity
    assert "cannot be read any more" in changes[0].what


def test_a_moved_target_of_the_same_content_is_the_same_trial(record):
    changes = diff(record, changed(record, "targets", "text/a", "resolved", value="/x"))
    assert [change.identity for change in changes] == [False]
    assert changes[0].what.endswith("to /x (same content)")


def test_a_library_of_many_targets_is_one_change(record):
    other = json.loads(json.dumps(record))
    for name in ("text/a", "text/b"):
        other["targets"][name]["interpreter"]["/bin/sh"] = "0" * 64
    changes = diff(record, other)
    assert [change.what for change in changes] == [
        "the interpreter /bin/sh changed, used by text/a and 1 more"
    ]


def test_what_moves_by_itself_is_no_change(record):
    other = changed(record, "moment", value={"load_1min": 99.0, "uptime_s": 1.0})
    other["variables"]["SHLVL"] = "7"
    assert diff(record, other) == ()
    assert describe_changes(()) == "nothing changed"


def test_records_of_other_versions_can_be_compared(record):
    other = json.loads(json.dumps(record))
    del other["cpu"], other["variables"], other["targets"]
    assert diff(record, other)
    assert diff(other, record)
    assert diff({}, {}) == ()


def test_a_key_that_one_version_does_not_write_is_no_change(record):
    other = json.loads(json.dumps(record))
    del other["memory"]["swappiness"], other["kernel"]["mitigations"], other["process"]
    other["tools"]["colour"] = "blue"
    assert diff(record, other) == diff(other, record) == ()
    other["memory"]["swappiness"] = None  # unknown is another matter
    assert [change.key for change in diff(record, other)] == ["memory.swappiness"]


def test_identity_comes_first_in_what_a_person_reads(record):
    other = changed(record, "kernel", "release", value="6.1.1")
    other["targets"]["text/b"]["sha256"] = "f" * 64
    text = describe_changes(diff(record, other))
    assert text.splitlines()[0] == "this is no longer the same trial:"
    assert "text/b" in text.splitlines()[1]
    assert text.splitlines()[2:] == [
        "also changed:",
        "  kernel.release changed from 6.1.0 to 6.1.1",
    ]
    assert all(json.dumps(change.to_dict()) for change in diff(record, other))
