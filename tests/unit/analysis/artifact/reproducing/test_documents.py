"""What two documents differ in. Authority: RFC 6901 for pointers, RFC 8259 for JSON, and arithmetic."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from analysis.artifact import describing, reproduce as reproduction
from analysis.artifact.archive import open_archive, weigh, write_archive
from analysis.artifact.bundle import pack_bundle
from analysis.artifact.describing import PackingRequest
from analysis.artifact.recomputing import Commands, Recomputed
from analysis.artifact.reproduce import receive_bundle, reproduce, with_packed_question
from analysis.artifact.reproduction import NEAR, OtherVersion, compare_documents
from analysis.record.trial_files import JudgedMetrics
from tests.examples import examples
from tests.unit.analysis.artifact.reproducing.conftest import handmade


def compared(stored, fresh, *, same_tool=True, others=()):
    return compare_documents(_bytes(stored), _bytes(fresh), same_tool=same_tool, others=others)


def _bytes(value):
    return value if isinstance(value, bytes) else (json.dumps(value, indent=2) + "\n").encode()


def only(found):
    (one,) = found.differences
    return one


def test_equal_bytes_need_no_reading_and_every_number_is_counted():
    found = compared({"a": [1, 2.5, None, True, "3"]}, {"a": [1, 2.5, None, True, "3"]})
    assert found.standing == "same bytes"
    assert (found.numbers, found.same, found.near, found.different) == (2, 2, 0, 0)
    assert found.differences == ()


def test_a_number_in_its_last_digits_is_within_and_named_by_its_pointer():
    stored = {"benchmarks": [{"speedup": 1.2}, {"speedup": 1.3}], "a/b~c": 5.0}
    fresh = {"benchmarks": [{"speedup": 1.2}, {"speedup": 1.3 * (1 + 5e-10)}], "a/b~c": 5.0}
    found = compared(stored, fresh)
    assert found.standing == "within"
    assert (found.same, found.near, found.different) == (2, 1, 0)
    assert only(found).pointer == "/benchmarks/1/speedup"
    assert only(found).relative == pytest.approx(5e-10, rel=1e-3)
    other = compared(stored, {**stored, "a/b~c": 5.1})
    assert only(other).pointer == "/a~1b~0c"
    assert other.standing == "different"


@pytest.mark.parametrize(
    ("old", "new", "grade"),
    [
        (1.0, 1.0 + 0.99e-9, "within"),
        (1.0, 1.0 + 1.1e-9, "different"),  # the negative control of the bound
        (-1.0, 1.0, "different"),
        (0.0, 1e-300, "different"),  # relative: no number is near zero
        (1, 1.0, "within"),  # the same value in other bytes
        (1, True, "different"),  # Python says 1 == True; JSON does not
        *((None, 0, "different"), (None, False, "different"), ("1", 1, "different")),
        *((10**25, 10**25 + 1, "within"), (1, 2, "different"), (1e308, -1e308, "different")),
        ([1], {"0": 1}, "different"),
    ],
)
def test_how_near_is_near(old, new, grade):
    assert compared({"x": old}, {"x": new}).standing == grade


def test_words_are_conclusions_and_must_be_the_same():
    found = compared({"word": "faster"}, {"word": "slower"})
    assert found.standing == "different"
    one = only(found)
    assert (one.kind, one.stored, one.recomputed) == ("text", "faster", "slower")


def test_only_another_version_of_the_tool_may_word_anew_and_add_keys():
    stored = {"tool_version": "0.1.0", "cautions": ["few runs"], "references": ["x"], "a": 1}
    fresh = {"tool_version": "0.2.0", "cautions": ["too few"], "references": ["y"], "a": 1, "b": 2}
    assert compared(stored, fresh, same_tool=False).standing == "within"
    grades = [one.grade for one in compared(stored, fresh, same_tool=False).differences]
    assert {*grades} == {"wording", "added"}
    assert compared(stored, fresh, same_tool=True).standing == "different"
    # a caution more or less is no wording
    assert compared(stored, {**fresh, "cautions": []}, same_tool=False).standing == "different"
    assert compared(stored, {"tool_version": "0.2.0"}, same_tool=False).standing == "different"


def test_lists_of_other_lengths_and_keys_that_are_gone_are_named():
    found = compared({"a": [1, 2, 3], "b": 1}, {"a": [1, 2]})
    assert {(one.pointer, one.kind) for one in found.differences} == {
        ("/a/2", "missing"),
        ("/b", "missing"),
    }
    assert found.different == 2  # both are numbers that were not found again


def test_several_objects_one_after_the_other_are_read_each():
    stored = b'{"a": 1}\n{"a": 2}\n'
    assert compared(stored, b'{"a": 1}\n{"a": 2}\n').numbers == 2
    assert only(compared(stored, b'{"a": 1}\n{"a": 3}\n')).pointer == "/1/a"
    assert compared(stored, b'{"a": 1}\n').standing == "different"


def test_text_is_compared_by_its_numbers_at_their_places():
    stored = b"<p>wall 1.25 s, 8 runs</p>\n<path d='M 0.333333333333 2'/>\n"
    near = compared(stored, stored.replace(b"0.333333333333", b"0.3333333333331"))
    assert near.standing == "within"
    assert only(near).pointer == "line 2, column 12"
    far = compared(stored, stored.replace(b"1.25", b"1.26"))
    assert (far.standing, only(far).stored, only(far).recomputed) == ("different", 1.25, 1.26)
    words = compared(stored, stored.replace(b"runs", b"ways"))
    one = only(words)
    assert (words.standing, one.kind, one.pointer) == ("different", "text", "line 1")


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe\x00",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a": NaN}',
        b'{"a": 1' + b"0" * 5000 + b"}",
        b'{"a": 1, "a": 2}',  # which of the two counts is nobody's guess
        b"",
        b'{"a": 1e999}',
        b'"\\ud800"',
    ],
)
def test_hostile_documents_are_compared_as_text_and_never_crash(text):
    assert compared(text, text).standing == "same bytes"
    assert compared(text, b'{"a": 1}').standing == "different"
    assert compared(b'{"a": 1}', text).standing == "different"


def test_a_pointer_and_a_text_stay_short_in_what_is_told():
    found = compared({"k" * 10_000: "v" * 10_000}, {"k" * 10_000: "w" * 10_000})
    assert len(only(found).stored) < 400
    found = compared({"a": list(range(5000))}, {"a": list(range(1, 5001))})
    assert found.different == 5000
    assert len(found.differences) < 5000  # counted all, listed as many as a person may want
    assert found.not_listed == 5000 - len(found.differences)


_leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
_json = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def test_a_stored_document_without_an_end_differs_and_takes_no_memory():
    stored = b"[" + b"[]," * 3_000_000 + b"[]]"
    tracemalloc.start()
    found = compare_documents(stored, b"[1]", same_tool=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.standing == "different"
    assert peak < 100_000_000  # 3,000,000 empty lists alone are 168 MB


@settings(max_examples=examples(200))
@given(_json)
def test_a_document_equals_itself_in_any_layout(value):
    text = json.dumps(value).encode()
    other = json.dumps(value, indent=3, sort_keys=True).encode()
    assert compare_documents(text, text, same_tool=True).standing == "same bytes"
    assert compare_documents(text, other, same_tool=True).different == 0
    assert compare_documents(text, other, same_tool=True).standing in {"same bytes", "within"}


@settings(max_examples=examples(200))
@given(_json, _json)
def test_the_grade_is_the_same_in_both_directions(one, two):
    a, b = json.dumps([one]).encode(), json.dumps([two]).encode()
    there = compare_documents(a, b, same_tool=True)
    back = compare_documents(b, a, same_tool=True)
    assert there.standing == back.standing
    if one != two:
        assert there.standing != "same bytes"


def test_the_bound_is_the_one_that_is_promised():
    assert NEAR == 1e-9


# ---- what a page says of the versions under which it was made

OTHERS = (
    OtherVersion(name="Python", packed="3.11.7", here="3.11.2"),
    OtherVersion(name="numpy", packed="2.4.6", here="1.26.4"),
    OtherVersion(name="fairtrial", packed="0.9", here="0.8"),
    OtherVersion(name="gone", packed="1.0", here=None),
)
PAGES = {
    "html": '<tr><th scope="row"><bdi>{}</bdi></th><td><bdi>{}</bdi></td></tr>\n',
    "md": "| version | {} | {} |\n",
    "latex": "{{version}} & {{{}}} & {{{}}} \\\\\n",
    "txt": "  {}   {}\n",
}


def _page(form, python, numpy, *more):
    facts = [("judged under", f"Python {python}"), ("numpy", numpy), *more]
    return "".join(PAGES[form].format(*fact) for fact in facts).encode()


@pytest.mark.parametrize("form", PAGES)
def test_versions_that_a_page_states_are_surroundings(form):
    stored = _page(form, "3.11.7", "2.4.6", ("a", "1.5"))
    fresh = _page(form, "3.11.2", "1.26.4", ("a", "1.5"))
    found = compared(stored, fresh, others=OTHERS)
    assert (found.standing, found.differences) == ("within", ())
    # the negative controls: without it, another number, another version than was packed or is here
    assert compared(stored, fresh).standing == "different"
    for one, two in (
        (stored, fresh.replace(b"1.5", b"1.6")),
        (stored.replace(b"3.11.7", b"3.11.9"), fresh),
        (stored.replace(b"2.4.6", b"2.4.7"), fresh),
        (stored, fresh.replace(b"1.26.4", b"1.26.5")),
        (stored + b"numpy 2.4.6", fresh + b"numpy 1.26.4"),
        (stored + b"numpy: 2.4.6", fresh + b"numpy: 1.26.4"),  # in what was measured
    ):
        assert compared(one, two, others=OTHERS).standing == "different"


def test_a_number_that_reads_like_a_version_is_a_number_elsewhere():
    others = (OtherVersion(name="numpy", packed="1.5", here="2.4.6"),)
    stored = _page("html", "3.11.7", "1.5", ("other numpy 2 of", "1.5"))
    fresh = _page("html", "3.11.7", "2.4.6", ("other numpy 2 of", "2.5"))
    found = compared(stored, fresh, others=others)
    assert (found.standing, found.different) == ("different", 1)


def test_versions_in_json_are_surroundings_at_their_name_only():
    def document(python, numpy, value):
        facts = [{"name": "judged under", "text": python}, {"name": "numpy", "text": numpy}]
        return {"versions": facts, "value": value}

    stored = document("Python 3.11.7", "2.4.6", "2.4.6")
    for fresh, standing in (
        (document("Python 3.11.2", "1.26.4", "2.4.6"), "within"),
        (document("Python 3.11.2", "1.26.4", "1.26.4"), "different"),
        (document("Python 3.11.9", "1.26.4", "2.4.6"), "different"),
    ):
        assert compared(stored, fresh, others=OTHERS).standing == standing


def test_whole_numbers_of_any_length_are_compared():
    found = compare_documents(b"[" + b"9" * 4000 + b"]", b"[1.5]", same_tool=True)
    assert (found.standing, found.different) == ("different", 1)


# --- What a bundle tells of its results is what they are. The packer, and the results, are the authority


CLAIMS = """claims:
  - text: gzip -1 takes 0.4 of the time.
    command: fairtrial verdict sample --variant gzip-1
    value: /candidates/0/multilevel/these/speedup
    is: at_least
    expected: 1.5
  - text: It is about 2 times as fast.
    command: fairtrial verdict sample --variant gzip-1
    value: /candidates/0/multilevel/these/speedup
    is: at_least
    expected: 1
    digits: 0
"""
ABOUT = """title: A fair title
description: What was done, and why.
authors: [{name: Ada Lovelace}]
license: MIT
"""


AS_DESCRIBED = pytest.mark.parametrize(
    "packed", [True, False], ids=["described", "plain"], indirect=True
)


@pytest.fixture(scope="session")
def packs(tmp_path_factory, remembered, once):
    """Pack the sample with its results, and without a wheel's 3 MB, which are hashed everywhere."""

    def make(*, described):
        folder = tmp_path_factory.mktemp("packed")
        shutil.copytree(handmade.SAMPLE, folder / "sample")
        (folder / "claims.yaml").write_text(CLAIMS)
        (folder / "bundle.yaml").write_text(ABOUT)
        asked = PackingRequest(
            sources=[str(folder / "sample")],
            claims=folder / "claims.yaml",
            about=folder / "bundle.yaml" if described else None,
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Commands, "run", remembered)
            patch.setattr(describing, "wheel_of_this", lambda: b"PK")
            done = pack_bundle(asked, folder / "a.zip")
        told = [one.code for one in done.cautions if one.code.startswith("claim")]
        assert told == ["claim-coarse"]
        with zipfile.ZipFile(folder / "a.zip") as file:
            return {one: file.read(one) for one in file.namelist()}

    return once(make)


@pytest.fixture
def packed(request, packs):
    """Give the files of a bundle that fairtrial packed."""
    return packs(described=getattr(request, "param", True))


@pytest.fixture
def checked(packed, tmp_path, monkeypatch, known_versions):
    """Check a bundle that was edited, its hashes repaired; its commands print what is stored."""
    contents = json.loads(packed["bundle.json"])
    made = {tuple(one["command"]): one["result"] for one in contents["analyses"]}
    made[tuple(contents["report"]["command"])] = contents["report"]["result"]
    monkeypatch.setattr(
        reproduction,
        "recompute",
        lambda words, *_: Recomputed(stdout=packed[made[tuple(words)]], exit_code=0),
    )

    def check(edit=lambda _: None, **changes):
        files = {k: v for k, v in packed.items() if k not in {"bundle.json", "SHA256SUMS"}}
        edit(files)
        told = {key: value for key, value in contents.items() if key != "files"}
        path = tmp_path / "b.zip"
        handmade.write_bundle(path, handmade.sealed(files, **(told | changes)))
        return reproduce(path)

    return check


def _replaced(name, pattern, other):
    def edit(files):
        changed, count = re.subn(pattern, other, files[name].decode(), count=1)
        assert count == 1
        files[name] = changed.encode()

    return edit


@AS_DESCRIBED
def test_what_was_packed_is_what_comes_out(checked):
    found = checked()
    assert (found.outcome, found.exit_code) == ("same bytes", 0)
    names = {one.name for one in found.documents}
    assert {"README.md", "claims.json", "ro-crate-metadata.json"} <= names
    assert {one.standing for one in found.documents} == {"same bytes"}
    assert "claim-coarse" in [one.code for one in found.cautions]
    assert [one.is_coarse for one in found.claims] == [False, True]


@pytest.mark.parametrize(
    ("name", "pattern", "other"),
    [
        ("README.md", r"(?m)^(\| 1 \|.*`)\d+\.\d+(` \| yes)", r"\g<1>9.99\2"),  # what was found
        ("README.md", r"at least 1\.5", "at least 1.9"),
        ("README.md", r"-1 takes 0\.4", "-1 takes 0.1"),
        ("README.md", r"(?m)^# .*$", "# Another title"),
        ("README.md", r"--sessions \d+ --seed", "--sessions 99 --seed"),
        ("README.md", r"Disk: \d+", "Disk: 1"),
        ("claims.json", r'"found": \d', '"found": 9'),
        ("ro-crate-metadata.json", r'"name": "(A fair|Artifact)', '"name": "Another'),
    ],
)
def test_what_was_edited_since_is_named_though_all_hashes_are_consistent(
    checked, name, pattern, other
):
    found = checked(_replaced(name, pattern, other))
    wrong = {one.name for one in found.documents if not one.holds}
    assert name in wrong
    assert (found.outcome, found.exit_code) == ("differs", 1)
    assert name in str(found)


def test_a_found_value_that_all_files_tell_alike_is_still_not_what_comes_out(checked):
    """README.md and claims.json say the same other number: only the results say otherwise."""

    def edit(files):
        number = re.search(rb'"found": ([\d.]+)', files["claims.json"])[1]
        for name in ("claims.json", "README.md"):
            assert number in files[name]
            files[name] = files[name].replace(number, b"9.75")

    found = checked(edit)
    assert {one.name for one in found.documents if not one.holds} >= {"claims.json", "README.md"}
    assert found.exit_code == 1


def test_a_sentence_is_that_of_the_page(checked):
    found = checked(_replaced("claims.json", r"0\.4 of the time", "0.1 of the time"))
    assert "README.md" in {one.name for one in found.documents if not one.holds}


@AS_DESCRIBED
def test_titles_agree(checked, packed):
    metadata = json.loads(packed["bundle.json"])["metadata"] | {"title": "Another"}
    found = checked(metadata=metadata)
    assert found.exit_code == 1
    wrong = {one.name for one in found.documents if not one.holds}
    assert {"README.md", "ro-crate-metadata.json"} <= wrong
    assert ("CITATION.cff" in packed) == ("CITATION.cff" in wrong)


def test_a_page_of_another_version_is_not_held_and_that_is_said(checked):
    found = checked(_replaced("README.md", "(?m)^# .*$", "# Another"), tool_version="9.9")
    assert found.exit_code == 0
    assert "bundle-page-not-held" in [one.code for one in found.cautions]
    # what claims.json says is held all the same
    wrong = checked(_replaced("claims.json", r'"found": \d', '"found": 9'), tool_version="9.9")
    assert wrong.exit_code == 1


def test_a_crate_that_is_none_is_no_reason_to_stop(checked):
    for text in (b"", b"[]", b"{}", b'{"@graph": 3}', b'{"@graph": [3]}', b"[" * 100_000):
        found = checked(lambda files, text=text: files.update({"ro-crate-metadata.json": text}))
        assert found.exit_code == 1


# --- Bundles of earlier versions: what they asked when they were packed, and that they are read and computed again


BUNDLES = Path(__file__).resolve().parents[4] / "data" / "bundles"
IDENTITIES = {
    "gzip-0.2.0.zip": "2f6df181f9fdecb040224020898f32bb5cb9d39de1598839d9883f9562456ac4",
    "counting-0.2.0.zip": "a451516236ee053b979b3a206afcd68564d4c03b5099a465c004622c4cd83932",
}


@pytest.mark.usefixtures("quick_answers")
@pytest.mark.parametrize("name", IDENTITIES)
def test_it_is_whole_and_every_number_of_its_verdict_comes_out(name):
    found = reproduce(BUNDLES / name)
    assert found.identity == IDENTITIES[name]
    with zipfile.ZipFile(BUNDLES / name) as file:
        assert found.identity == hashlib.sha256(file.read("SHA256SUMS")).hexdigest()
    (verdict,) = (one for one in found.analyses if one.name == "verdict")
    # tests of the host dropped runs of the middle rank then, of which odd numbers of runs have one
    numbers = [one for one in verdict.differences if one.kind == "number"]
    moved = [one.pointer for one in numbers if one.grade != "within"]  # of other versions of SciPy
    assert all(re.match("/diagnosis/(host|findings)/", one) for one in moved)
    assert verdict.numbers == verdict.same + verdict.near + len(moved) > 90 + len(moved)
    assert [one.holds for one in found.claims] == [True] * len(found.claims)


@pytest.mark.parametrize("name", IDENTITIES)
def test_it_is_unpacked_to_be_measured_again(name, tmp_path):
    received = receive_bundle(BUNDLES / name, tmp_path / "new")
    (trial,) = received.trials
    assert trial.campaign.is_file()
    with zipfile.ZipFile(BUNDLES / name) as file:
        new, names = tmp_path / "new", file.namelist()
        unpacked = {one: (new / one).read_bytes() == file.read(one) for one in names}
    assert all(unpacked.values())
    script = tmp_path / "new" / "campaigns" / trial.name / "count.sh"
    assert name.startswith("gzip") or script.stat().st_mode & 0o100


@pytest.mark.parametrize("name", IDENTITIES)
def test_other_bytes_of_the_same_contents_have_its_identity(name, tmp_path):
    with open_archive(BUNDLES / name) as archive, (tmp_path / "a.zip").open("wb") as file:
        files = [weigh(one, lambda one=one: archive.pieces(one)) for one in archive.entries]
        write_archive(file, reversed(files))
    assert (tmp_path / "a.zip").read_bytes() != (BUNDLES / name).read_bytes()
    with open_archive(tmp_path / "a.zip") as archive:
        assert archive.sha256("SHA256SUMS") == IDENTITIES[name]


RPS = {"rps": {"unit": "1/s", "better": "higher"}}
GATE = ("gate", "slower>2%", "trials/t", "--json")


@pytest.fixture
def folder(synthetic, tmp_path):
    def make(**manifest):
        cells = {"a": {"x": [1.0, 2.0]}, "b": {"x": [1.0, 2.0]}}
        synthetic(cells, **manifest).write(tmp_path / "trials" / "t")
        return tmp_path

    return make


@pytest.mark.parametrize(
    "command", [GATE, ("verdict", "trials/t"), ("hpt", "trials/t:b", "trials/t:a")]
)
def test_a_trial_that_declares_metrics_was_judged_by_its_wall_time(folder, command):
    asked = with_packed_question(command, folder(metrics=RPS), b"{}")
    assert asked == (*command, "--metric", "wall")


@pytest.mark.parametrize(
    ("command", "stored", "manifest"),
    [
        ((*GATE, "--metric", "rps"), b"{}", {"metrics": RPS}),
        ((*GATE, "--metric=rps"), b"{}", {"metrics": RPS}),
        (GATE, b"declares rps; judged is wall: --metric rps", {"metrics": RPS}),
        (("report", "trials/t"), b"<li>Judged is wall, although rps is declared", {"metrics": RPS}),
        (GATE, b"{}", {}),
        (GATE, b"{}", {"metrics": {"cycles": RPS["rps"] | {"source": "counters"}}}),
        (GATE, b"{}", {"metrics": RPS, "origin": "imported"}),
        (GATE, b"{}", {"metrics": RPS, "judge": (JudgedMetrics(at="x", metrics=("rps",)),)}),
        (("gate", "slower>2%", "trials/u"), b"{}", {"metrics": RPS}),
    ],
)
def test_everything_else_asks_what_it_says(folder, command, stored, manifest):
    assert with_packed_question(command, folder(**manifest), stored) == command
