"""What was stored comes out of the raw rows again, or is named. The raw rows are the authority."""

import hashlib
import json
import platform
import random
import re
import shutil
import zipfile
from dataclasses import replace
from functools import partial
from importlib.metadata import version

import pytest

from analysis.artifact.archive import Archive, open_archive
from analysis.artifact.claims import pointed
from analysis.artifact.describing import readme_text
from analysis.artifact.recomputing import Commands, LimitReachedError, Limits
from analysis.artifact.reproduce import check_archive, reproduce, unpack_bundle
from analysis.artifact.reproduction import Difference, Recomputation
from analysis.errors import StoreError, UsageError
from analysis.pages import as_markup as as_markdown
from analysis.record.shapes import encode_checked

from .conftest import REPORT, write_bundle

pytestmark = pytest.mark.usefixtures("quick_answers")


def test_an_untouched_bundle_gives_the_same_bytes_and_ten_differences_are_named(bundle):
    found = reproduce(bundle())
    assert found.outcome == "same bytes"
    assert found.exit_code == 0
    assert [one.standing for one in found.analyses] == ["same bytes"] * 2
    assert found.numbers["numbers"] == found.numbers["same"] > 100
    assert found.other_versions == ()
    assert found.files == 12
    assert all(" ".join(one.command) in str(found) for one in found.analyses)  # whole, to be pasted
    places = [f"/place/{k:02}" for k in range(15)]
    differences = tuple(
        Difference(pointer=place, kind="number", grade="different", stored=1, recomputed=2)
        for place in places
    )

    def told(count, **changes):
        one = Recomputation(
            name="verdict",
            command=("verdict",),
            result="analyses/verdict.json",
            standing="different",
            differences=differences[:count],
            **changes,
        )
        return str(replace(found, analyses=(one,)))

    page = told(15)
    assert [place for place in places if place in page] == places[:10]
    assert "and 5 more places: see --json, or analyses/verdict.json" in page
    assert "more places" not in told(10)
    assert "and 1 more places" in told(11)
    assert "and 7 more places" in told(15, not_listed=2)


def test_a_stored_result_may_be_larger_than_other_files(bundle, monkeypatch):
    asked = {}
    read = Archive.read

    def note(self, name, **limits):
        asked[name] = limits
        return read(self, name, **limits)

    monkeypatch.setattr(Archive, "read", note)
    reproduce(bundle())
    larger = {name for name, limits in asked.items() if limits == {"most": 256 * 1024**2}}
    assert larger == {"analyses/verdict.json", "analyses/hpt.json"}


def _edited(name, change):
    def edit(files):
        document = json.loads(files[name])
        change(document)
        files[name] = (json.dumps(document, indent=2) + "\n").encode()

    return edit


def test_an_edited_number_is_named_though_all_hashes_are_consistent(bundle):
    def better(document):
        document["candidates"][0]["multilevel"]["these"]["speedup"] *= 1.01

    found = reproduce(bundle(edit=_edited("analyses/verdict.json", better)))
    assert (found.outcome, found.exit_code) == ("differs", 1)
    wrong = found.analyses[0]
    (one,) = wrong.differences
    assert (wrong.standing, wrong.different) == ("different", 1)
    assert one.pointer == "/candidates/0/multilevel/these/speedup"
    assert one.relative == pytest.approx(0.01 / 1.01)
    assert found.analyses[1].standing == "same bytes"


def test_an_edited_word_is_a_difference_too(bundle):
    def nicer(document):
        document["outcome"] = "candidate" if document["outcome"] != "candidate" else "baseline"

    found = reproduce(bundle(edit=_edited("analyses/hpt.json", nicer)))
    assert found.outcome == "differs"
    assert [one.pointer for one in found.analyses[1].differences] == ["/outcome"]


def test_edited_rows_give_other_numbers(bundle):
    def faster(files):  # a row whose checksum was made again, too
        name = "trials/sample/measurements.jsonl"
        lines = files[name].splitlines(keepends=True)
        row = json.loads(lines[20])
        row.pop("crc32")
        row["wall_ns"] //= 2
        lines[20] = encode_checked(row) + b"\n"
        files[name] = b"".join(lines)
        manifest = json.loads(files["trials/sample/manifest.json"])
        manifest["files"]["measurements.jsonl"] = hashlib.sha256(files[name]).hexdigest()
        files["trials/sample/manifest.json"] = json.dumps(manifest).encode()

    found = reproduce(bundle(edit=faster))
    assert found.outcome == "differs"
    assert found.numbers["different"] > 5


def test_a_trial_that_cannot_be_read_fails_with_its_reason(bundle):
    def torn(files):
        files["trials/sample/measurements.jsonl"] = b"x" + files["trials/sample/measurements.jsonl"]

    found = reproduce(bundle(edit=torn))
    assert {one.standing for one in found.analyses} == {"failed"}
    assert "measurements.jsonl" in found.analyses[0].reason
    assert {(one.differences, one.not_listed) for one in found.analyses} == {((), 0)}
    assert found.exit_code == 1


def test_other_versions_are_named(bundle):
    found = reproduce(bundle(libraries={"numpy": "1.0.0", "no-such-library": "2"}, python="3.8.1"))
    told = {one.name: (one.packed, one.here) for one in found.other_versions}
    assert told["numpy"][0] == "1.0.0"
    assert told["no-such-library"] == ("2", None)
    assert told["Python"][0] == "3.8.1"
    assert found.outcome == "same bytes"  # another version that gives the same numbers


def test_last_digits_are_within_and_the_bytes_are_said_to_differ(bundle):
    def other_libraries(document):
        document["candidates"][0]["multilevel"]["these"]["speedup"] *= 1 + 3e-10

    edit = _edited("analyses/verdict.json", other_libraries)
    found = reproduce(bundle(edit=edit, libraries={"numpy": "1.0"}))
    assert (found.outcome, found.exit_code) == ("within", 0)
    assert found.analyses[0].near == 1
    assert "numpy 1.0" in str(found)


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda f: f.update({"matplotlibrc": b"backend: agg\n"}), "matplotlibrc"),
        (lambda f: f.update({"harness/__main__.py": b"print('mine')\n"}), "harness/__main__.py"),
        (lambda f: f.update({".numba_config.yaml": b"{}\n"}), ".numba_config.yaml"),
        (lambda f: f.update({"runs/x": b""}), "runs/x"),
        (lambda f: f.pop("trials/sample/manifest.json"), "trials/sample"),
        (lambda f: f.pop("analyses/hpt.json"), "analyses/hpt.json"),
        (lambda f: f.pop("campaigns/sample/campaign.yaml"), "campaigns/sample/campaign.yaml"),
    ],
)
def test_what_does_not_belong_into_a_bundle_is_refused(bundle, tmp_path, edit, named):
    path = bundle(edit=edit)
    with pytest.raises(StoreError) as refused:
        reproduce(path, folder=tmp_path / "new")
    assert named in str(refused.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["run", "campaigns/sample/campaign.yaml"],
        ["compare", "touch mark", "true"],
        ["report", "trials/sample", "-o", "/tmp/mark"],
        ["verdict", "../../etc"],
        ["reproduce", "--rerun", "--yes-execute", "x.zip"],
        [],
    ],
)
def test_a_command_that_acts_is_refused_before_anything_is_computed(bundle, tmp_path, words):
    harmless = {"name": "a", "command": ["verdict", "trials/sample"], "seed": None}
    harmful = {"name": "b", "command": words, "seed": None}
    result = {"result": "analyses/hpt.json"}
    path = bundle(analyses=[harmless | result, harmful | result])
    heard = []
    with pytest.raises(StoreError) as refused:
        reproduce(path, folder=tmp_path / "new", say=heard.append)
    assert not (tmp_path / "new").exists()
    assert not any("computing" in line for line in heard)
    assert refused.value.exit_code == 5


def test_every_changed_missing_and_added_file_is_named(bundle, tmp_path):
    path = bundle()
    with open_archive(path) as archive:
        files = {name: archive.read(name) for name in archive.entries}
    files["trials/sample/plan.jsonl"] += b"\n"
    files["analyses/extra.json"] = b"{}"
    del files["trials/sample/environment.jsonl"]
    with pytest.raises(StoreError) as refused:
        reproduce(write_bundle(tmp_path / "b.zip", files))
    what = refused.value.what
    assert "trials/sample/plan.jsonl does not have the hash" in what
    assert "analyses/extra.json is not listed" in what
    assert "trials/sample/environment.jsonl is listed in bundle.json and not there" in what
    assert "SHA256SUMS" not in what


def test_wrong_sums_are_found_where_all_else_holds(bundle, tmp_path):
    path = bundle()
    with open_archive(path) as archive:
        files = {name: archive.read(name) for name in archive.entries}
    files["SHA256SUMS"] = files["SHA256SUMS"].replace(b"a", b"b", 1)
    with pytest.raises(StoreError, match="SHA256SUMS"):
        reproduce(write_bundle(tmp_path / "b.zip", files))


def test_a_flipped_bit_is_refused_and_the_file_named_or_changes_no_content(bundle, tmp_path):
    path, broken = bundle(), tmp_path / "broken.zip"
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        infos = [one for one in archive.infolist() if one.file_size]
        files = {one.filename: archive.read(one) for one in infos}
    places = {
        one.filename: whole.index(files[one.filename], one.header_offset + 30 + len(one.filename))
        for one in infos
    }
    draw = random.Random(15)
    for _ in range(100):
        at, bit = draw.randrange(len(whole)), draw.randrange(8)
        broken.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
        inside = [name for name, start in places.items() if 0 <= at - start < len(files[name])]
        try:
            with open_archive(broken) as archive:
                check_archive(archive)
                unpack_bundle(archive, tmp_path / "new")
        except StoreError as error:
            refused = str(error)
        else:
            refused = ""
            assert (tmp_path / "new/SHA256SUMS").read_bytes() == files["SHA256SUMS"]
            shutil.rmtree(tmp_path / "new")
        assert all(name in refused for name in inside)
        assert not (tmp_path / "new").exists()


def tree(folder):
    return {(path, path.lstat().st_mtime_ns) for path in folder.rglob("*")}


def test_nothing_is_written_outside_of_the_named_folder(bundle, tmp_path, monkeypatch):
    path = bundle()
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(home)
    before, bytes_before = tree(tmp_path), path.read_bytes()
    found = reproduce(path, folder=tmp_path / "new")
    after = tree(tmp_path)
    grown = {path for path, _ in after} - {path for path, _ in before}
    assert {one.relative_to(tmp_path).parts[0] for one in grown} == {"new"}
    assert path.read_bytes() == bytes_before
    assert found.outcome == "same bytes"
    # the outputs lie where a trial has them, and the sums are those of the unpacked files
    assert (tmp_path / "new/trials/sample/outputs/setup-1.log").is_file()
    unpacked = {str(one.relative_to(tmp_path / "new")) for one in grown if one.is_file()}
    sums = (tmp_path / "new/SHA256SUMS").read_text()
    listed = {line.split("  ")[1] for line in sums.splitlines()}
    assert unpacked - listed == {"SHA256SUMS", "trials/sample/outputs/setup-1.log"}


def test_a_folder_that_is_there_is_not_touched(bundle, tmp_path):
    (tmp_path / "new").mkdir()
    with pytest.raises(UsageError, match="there already"):
        reproduce(bundle(), folder=tmp_path / "new")
    with pytest.raises(UsageError, match="no folder can be made"):
        reproduce(bundle(), folder=tmp_path / "no" / "such" / "place")


def test_a_bundle_without_results_says_so(bundle):
    found = reproduce(bundle(analyses=[]))
    assert (found.outcome, found.exit_code) == ("nothing stored", 0)
    assert "no result is stored in it" in str(found)


HOME = "/home/them"  # where the campaign lay


@pytest.mark.parametrize(
    ("cwd", "source", "text", "origin", "inside"),
    [
        ("../a", "values", "", "measured", 1),
        ("../../..", "values", "", "measured", 0),
        (HOME, "values", "", "measured", 0),
        (".", "/proc/self/stat", "", "measured", 1),
        (".", "/home/values", "", "measured", 0),
        (".", "values", f"from: {HOME}/values", "measured", 0),
        (".", "values", "", "merged", 0),
    ],
)
def test_a_rerun_is_proposed_only_where_it_is_taken(
    bundle, tmp_path, cwd, source, text, origin, inside
):
    def edit(files):
        manifest = json.loads(files["trials/sample/manifest.json"])
        manifest |= {"origin": origin, "campaign_path": f"{HOME}/campaign.yaml"}
        files["trials/sample/manifest.json"] = json.dumps(manifest).encode()
        files["campaigns/sample/campaign.yaml"] = text.encode()
        cell = {"command": {"argv": ["x"]}, "cwd": cwd, "metrics": [{"source": source}]}
        files["trials/sample/resolved.json"] = encode_checked({"campaign": {"cells": [cell]}})

    path = bundle(edit=edit, analyses=[])
    found = reproduce(path, folder=tmp_path / "new")
    with open_archive(path) as archive:
        page = readme_text(check_archive(archive), None, (), tmp_path / "new").decode()
    assert found.measurable == ("sample",) * inside
    for said in (str(found), page):
        assert ("fairtrial reproduce --rerun" in said) == inside
        assert ("execute campaigns/sample/campaign.yaml" in " ".join(said.split())) != inside


CLAIMS = [
    ("gzip-1 is at least twice as fast", "/candidates/0/multilevel/these/speedup", "at_least", 2.0),
    ("it is faster", "/candidates/0/multilevel/word", "word", "faster"),
]


def _claims(*changes, command=("verdict", "trials/sample", "--json")):
    def edit(files):
        document = json.loads(files["analyses/verdict.json"])
        found = [pointed(document, pointer) for _, pointer, *_ in CLAIMS]
        rows = [
            {
                "text": text,
                "command": list(command),
                "value": pointer,
                "is": relation,
                "expected": expected,
                "digits": None,
                "result": "analyses/verdict.json",
                "found": value,
                "holds": True,
            }
            for (text, pointer, relation, expected), value in zip(CLAIMS, found, strict=True)
        ]
        for at, change in changes:
            rows[at].update(change)
        files["claims.json"] = json.dumps({"schema": 1, "claims": rows}).encode()

    return edit


def test_claims_hold_or_fail_one_by_one(bundle):
    found = reproduce(bundle(edit=_claims((0, {"expected": 50.0})), claims="claims.json"))
    assert [one.holds for one in found.claims] == [False, True]
    assert (found.outcome, found.exit_code) == ("differs", 1)
    assert "1 of 2 claims does not hold: 1" in str(found)
    assert "not at least 50" in found.claims[0].reason
    assert found.claims[1].reason is None
    assert found.claims[0].now == pytest.approx(found.to_dict()["claims"][0]["now"])
    held = reproduce(bundle(edit=_claims(), claims="claims.json"))
    assert [one.holds for one in held.claims] == [True, True]
    assert held.exit_code == 0
    assert "all claims hold" in str(held)


def test_a_result_that_was_edited_to_fit_a_claim_does_not_help_it(bundle):
    def edit(files):
        document = json.loads(files["analyses/verdict.json"])
        document["candidates"][0]["multilevel"]["these"]["speedup"] = 51.0
        files["analyses/verdict.json"] = (json.dumps(document, indent=2) + "\n").encode()
        _claims((0, {"expected": 50.0, "found": 51.0}))(files)

    found = reproduce(bundle(edit=edit, claims="claims.json"))
    assert found.claims[0].holds is False
    assert (found.claims[0].packed, found.claims[0].now < 50) == (51.0, True)
    assert "/candidates/0/multilevel/these/speedup" in str(found)
    assert "51 when it was packed" in " ".join(str(found).split())


def test_a_claim_on_another_commands_result_has_no_value(bundle):
    edit = _claims(command=("hpt", "trials/sample:gzip-1", "trials/sample:gzip-6", "--json"))
    found = reproduce(bundle(edit=edit, claims="claims.json"))
    assert [one.holds for one in found.claims] == [None, None]
    assert found.exit_code == 1


def test_claims_that_are_none_are_refused(bundle):
    def broken(files):
        files["claims.json"] = b'{"schema": 1, "claims": [{}]}'

    with pytest.raises(StoreError, match="claim 1"):
        reproduce(bundle(edit=broken, claims="claims.json"))
    with pytest.raises(StoreError, match="are not there"):
        reproduce(bundle(claims="claims.json"))


@pytest.mark.parametrize("expected", [True, None, "1", 2**63 - 1, -(2**63), 1e308, 5e-324, -0.0])
def test_other_values_are_compared_and_told(bundle, expected):
    claims = _claims((0, {"expected": expected, "is": "equals"}))
    found = reproduce(bundle(edit=claims, claims="claims.json"))
    assert [one.holds for one in found.claims] == [False, True]
    assert "/candidates/0/multilevel/these/speedup" in str(found)
    as_markdown.render_markdown(found.screen())
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_report_that_states_other_versions_is_the_same_report(bundle, page):
    here = {name: version(name) for name in ("numpy", "scipy", "numba")}
    packed = {"numpy": "1.26.0", "scipy": "1.10.1", "numba": "0.57.0"}
    python = platform.python_version()

    def others(files, *changes):
        text = page
        for name, number in (("Python", python), *here.items()):
            other = {"Python": "Python 3.11.99"}.get(name, packed.get(name))
            stated = f"Python {number}" if name == "Python" else number
            assert text.count(f"<bdi>{stated}</bdi></td>".encode()) == 1
            old, new = (f"<bdi>{one}</bdi></td>".encode() for one in (stated, other))
            text = text.replace(old, new)
        for one, two in changes:
            assert one in text
            text = text.replace(one, two, 1)
        files["report.html"] = text

    told = {"libraries": packed, "python": "3.11.99", "analyses": []}
    told["report"] = {"command": list(REPORT), "result": "report.html"}
    found = reproduce(bundle(edit=others, **told))
    assert found.report.standing == "within"
    assert (found.outcome, found.exit_code) == ("within", 0)
    assert found.report.different == 0
    said = " ".join(str(found).split())
    assert f"numpy 1.26.0 -> {here['numpy']}" in said
    # the negative control: a number of the page is another one
    number = re.search(rb"(?<=\W)1\.\d{3}(?=\W)", page)[0]
    other = reproduce(bundle(edit=lambda files: others(files, (number, b"9.999")), **told))
    assert (other.report.standing, other.exit_code) == ("different", 1)


def test_a_gates_answer_is_an_answer(bundle, answers):
    gate = {"name": "gate", "command": ["gate", "slower>2%", "trials/sample", "--json"]}
    gate |= {"seed": None, "result": "analyses/gate.json", "exit_code": 0}
    held = partial(bundle, edit=lambda files: files.update({"analyses/gate.json": b"{}"}))
    found = reproduce(held(analyses=[gate]))
    assert found.analyses[0].exit_code_now in {0, 1, 7}
    other = gate | {"exit_code": 1 if found.analyses[0].exit_code_now != 1 else 0}
    found = reproduce(held(analyses=[other]))
    assert "it ends with" in found.analyses[0].reason
    assert found.analyses[0].standing == "different"


@pytest.mark.parametrize("limits", [Limits(total_s=1e-6)])
def test_what_a_limit_ended_is_neither_right_nor_wrong(bundle, limits, monkeypatch):
    monkeypatch.undo()  # the commands' own start, and their own end
    found = reproduce(bundle(edit=_claims(), claims="claims.json"), limits=limits)
    assert {one.standing for one in found.analyses} == {"stopped"}
    assert "1e-06 s" in found.analyses[0].reason
    assert "bundle-limit" in [one.code for one in found.cautions]
    assert (found.outcome, found.exit_code) == ("unfinished", 7)
    assert [one.holds for one in found.claims] == [None, None]
    assert "0 of 2 claims looked at: a limit was reached" in str(found)
    assert "come out differently" not in str(found)
    assert "not hold" not in str(found)


def test_what_differs_is_said_though_a_limit_ended_the_rest(bundle, monkeypatch):
    def other(document):
        document["failed"] = 99

    real = Commands.run

    def only_verdict(self, words, *rest):
        if words[0] != "verdict":
            raise LimitReachedError("no time")
        return real(self, words, *rest)

    monkeypatch.setattr(Commands, "run", only_verdict)
    found = reproduce(bundle(edit=_edited("analyses/verdict.json", other)))
    assert [one.standing for one in found.analyses] == ["different", "stopped"]
    assert found.exit_code == 1


def test_the_report_is_one_of_the_results(bundle):
    report = {"command": ["report", "trials/sample", "--format", "txt", "-o", "-"]}
    report["result"] = "report.html"
    edit = _text("report.html", b"no such line\n")
    found = reproduce(bundle(edit=edit, report=report, analyses=[]))
    assert found.report.standing == "different"
    assert found.report.differences[0].pointer == "line 1"
    assert found.numbers["numbers"] == 0  # those of a page are no results
    assert "the report made again is another one" in str(found)
    assert found.exit_code == 1


def _text(name, data):
    return lambda files: files.update({name: data})


def test_a_page_of_hostile_names_stays_a_page(bundle):
    hostile = "| <img src=x> `a` \n# b"
    found = reproduce(
        bundle(
            metadata={"title": hostile, "authors": [], "license": hostile, "doi": None},
            missing=[{"what": hostile, "why": hostile, "sha256": None, "bytes": None}],
        )
    )
    told = as_markdown.render_markdown(found.screen())
    assert "<img" not in told
    assert "\n# b" not in told


@pytest.mark.parametrize("name", ["trials/sample/outputs/a.log", "trials/sample/outputs"])
def test_outputs_packed_and_not_are_refused(bundle, name):
    with pytest.raises(StoreError, match="twice, packed and not"):
        reproduce(bundle(edit=_text(name, b"x")))


def test_outputs_that_lead_out_are_refused(bundle, tmp_path):
    import io
    import tarfile

    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as file:
        info = tarfile.TarInfo("../../../../evil")
        info.size = 1
        file.addfile(info, io.BytesIO(b"x"))
    with pytest.raises(StoreError, match="outputs are refused"):
        reproduce(
            bundle(edit=_text("trials/sample/outputs.tar", data.getvalue())),
            folder=tmp_path / "new",
        )
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "evil").exists()
