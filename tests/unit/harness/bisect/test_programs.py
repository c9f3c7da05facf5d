"""When two commits are one program: by the bytes of what the build made, or by git's name of the whole tree."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from harness.bisect.recipe import Built, campaign_of

MAIN = "int number(void); int main(void) { return number(); }\n"
LIBRARY = "int number(void) { return %d; }\n"


def campaign(command: list[str], build: str = "", more: str = "") -> str:
    step = f"build: {{shell: {json.dumps(build)}}}\n" if build else ""
    return f"name: app\nvariants: {{a: }}\n{step}benchmarks: {{run: {{command: {json.dumps(command)}{more}}}}}\n"


@pytest.fixture
def identities(make_repository, open_workshop):
    """Build commits with these files, and give what became of each."""

    def build(text: str, *commits: dict[str, str]) -> list[Built]:
        repository = make_repository("with space")
        for number, files in enumerate(commits):
            repository.commit(str(number), files)
        (repository.path / "campaign.yaml").write_text(text)
        workshop, all_of_them, recipe = open_workshop(repository)
        build.recipe = recipe
        return [workshop.build(commit) for commit in all_of_them]

    return build


COMPILED = "mkdir -p lib; cc -shared -fPIC -o lib/libnumber.so number.c; cc -o app main.c -Llib -lnumber -Wl,-rpath,"


@pytest.mark.parametrize(
    ("rpath", "tags"),
    [
        ('"$PWD/lib"', "--enable-new-dtags"),
        ('"$PWD/lib"', "--disable-new-dtags"),
        ("'$ORIGIN/lib'", "--enable-new-dtags"),
    ],
)
def test_libraries_of_the_tree_belong_to_the_program(identities, tmp_path, rpath, tags):
    built = identities(
        campaign(["./app"], f"{COMPILED}{rpath},{tags}"),
        {"main.c": MAIN, "number.c": LIBRARY % 3},
        {"number.c": LIBRARY % 4},
    )
    assert [sorted(one.programs) for one in built] == [["app", "lib/libnumber.so"]] * 2
    assert built[0].programs["app"] == built[1].programs["app"]
    assert built[0].identity != built[1].identity
    # and each commit's program finds its own, wherever it was built
    made = campaign_of(identities.recipe, built, tmp_path / "made.yaml", baseline=built[0])
    codes = [
        subprocess.run(
            cell.command.argv, cwd=cell.cwd, env={**os.environ, **cell.env}, check=False
        ).returncode
        for cell in made.cells
    ]
    assert codes == [3, 4]


def test_the_documentation_of_a_compiled_program_is_not_the_program(identities):
    one, two = identities(
        campaign(["./app"], f"{COMPILED}'$ORIGIN/lib'"),
        {"main.c": MAIN, "number.c": LIBRARY % 3},
        {"README": "words"},
    )
    assert one.identity == two.identity
    assert one.identity.startswith("programs:")


@pytest.mark.parametrize(
    "command", [["./run.sh"], ["sh", "run.sh"], ["./app", "."], ["./app", "data"]]
)
def test_what_may_read_anything_is_known_by_the_whole_tree(identities, command):
    one, two, three = identities(
        campaign(command, "cp -L /bin/sh app"),
        {"run.sh": "#!/bin/sh\n", "data/a": "1"},
        {"README": "words"},
        {"README": "other words"},
    )
    assert len({one.identity, two.identity, three.identity}) == 3
    assert one.identity == f"tree:{one.commit.tree}"


def test_a_file_that_an_argument_names_belongs_to_the_program(identities):
    one, two, three = identities(
        campaign(["./app", "--in", "data/a", "x" * 5000, "no/such"], "cp -L /bin/sh app"),
        {"data/a": "1"},
        {"data/b": "1"},
        {"data/a": "2"},
    )
    assert sorted(one.programs) == ["app", "data/a"]
    assert one.identity == two.identity != three.identity


def test_a_link_into_the_folder_of_the_build_leads_into_the_kept_tree(identities):
    (one, two) = identities(
        campaign(["./bin/app"], 'mkdir -p bin; cc -o app main.c; ln -s "$PWD/app" bin/app'),
        {"main.c": "int main(void) { return 0; }\n"},
        {"main.c": "int main(void) { return 1; }\n"},
    )
    assert (one.tree / "bin" / "app").resolve() == one.tree / "app"
    assert list(one.programs) == ["app"]
    assert one.identity != two.identity


def test_a_working_folder_that_a_commit_lacks_is_a_reason(identities):
    text = campaign(["./run.sh"], more=", cwd: sub")
    one, two = identities(text, {"a": "1"}, {"sub/run.sh": "#!/bin/sh\n"})
    assert one.why == "the folder 'sub' is not there"
    assert isinstance(two, Built)
