"""What a campaign file means: defaults, templates, overriding, matrices, identity."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, strategies as st

from analysis.errors import CampaignError, UsageError
from harness.campaign.cells import SessionBuilds, layout_seed
from harness.campaign.model import LAYOUT_SEED, Campaign, Hooks, Isolation, Protocol, filled
from harness.campaign.resolve import load_campaign, starter_text
from harness.campaign.schema import identity_of, resolved_text
from harness.host.checks import CHECK_NAMES

MINIMAL = """\
name: small
variants: {a: }
benchmarks: {x: {command: [true]}}
"""


def one(load, more: str, command: str = "[run]"):
    """Load a campaign with one cell, whose benchmark has more keys."""
    campaign = load(
        f"name: n\nvariants: {{v: }}\nbenchmarks:\n  b: {{command: {command}, {more}}}\n"
    )
    return campaign.cells[0]


def test_a_pattern_that_a_later_python_may_read_otherwise_says_nothing(load, recwarn):
    # the attacks on 0.1.0, B16: a FutureWarning on the screen
    assert one(load, "expect: {regex: '[[a]'}").expect.stdout_regex == "[[a]"
    assert not recwarn.list


def test_a_minimal_campaign_has_every_default(load, tmp_path):
    campaign = load(MINIMAL)
    assert campaign.protocol == Protocol()
    assert campaign.isolation == Isolation()
    assert campaign.hooks == Hooks()
    assert (campaign.seed, campaign.description, campaign.baseline) == (1, "", "a")
    assert campaign.builds == ()
    cell = campaign.cell("x", "a")
    assert cell.command.argv == ("true",)
    assert cell.command.mark == f"{tmp_path}/c.yaml:3:27"
    assert (cell.cwd, cell.stdin, cell.env, cell.timeout_s) == (tmp_path, None, {}, None)
    assert (cell.stdout, cell.stderr) == ("file", "file")
    assert cell.expect.exit_codes == (0,)
    assert campaign.text == MINIMAL.encode()
    assert campaign.source == tmp_path / "c.yaml"


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ('["a b", "{word}", 010, 1e3, on]', ("a b", "two words", "010", "1e3", "on")),
        ('prog {word} "{word}!" a\\ b', ("prog", "two words", "two words!", "a b")),
        ("'p --x={word}'", ("p", "--x=two words")),
        ("{shell: 'cat {word} | wc'}", ("/bin/sh", "-c", "cat two words | wc")),
        ('["{{word}}", "{word}"]', ("{word}", "two words")),
    ],
)
def test_the_three_forms_of_a_command(load, command, argv):
    text = f"name: n\nvariants: {{v: }}\nbenchmarks:\n  b:\n    command: {command}\n"
    assert load(text + "    word: two words\n").cells[0].command.argv == argv


def test_a_pipe_without_a_shell_is_noted(load):
    campaign = load("name: n\nvariants: {v: }\nbenchmarks: {b: {command: 'ls | wc'}}\n")
    assert any("'|' is an argument here" in note for note in campaign.notes)


def test_the_variant_takes_precedence_over_its_benchmark(load, tmp_path):
    campaign = load("""\
        name: n
        variants:
          plain:
          own:
            command: [own, "{size}"]
            size: 9
            cwd: there
            env: {A: v, C: "{benchmark}"}
            stdin: "in-{size}"
            stdout: keep
            timeout: 500ms
            expect: {exit: [1, 2]}
            metrics: {t: {regex: 'v(.)', unit: s, better: lower}}
        baseline: plain
        benchmarks:
          b:
            command: [bench, "{size}"]
            size: 1
            cwd: "here/{variant}"
            env: {A: b, B: b}
            stdin: in
            timeout: 2min
            expect: {regex: ok, file: "ref-{size}"}
            metrics:
              t: {regex: 'b(.)', unit: s, better: lower}
              u: {json: 'a[*].b', from: "out-{size}.json", unit: B, better: higher}
        """)
    plain, own = campaign.cells
    assert plain.command.argv == ("bench", "1")
    assert plain.cwd == tmp_path / "here/plain"
    assert plain.env == {"A": "b", "B": "b"}
    assert plain.stdin == tmp_path / "in"
    assert (plain.stdout, plain.timeout_s) == ("file", 120.0)
    assert plain.expect.stdout_regex == "ok"
    assert plain.expect.stdout_file == tmp_path / "ref-1"
    assert [(m.name, m.regex, m.json) for m in plain.metrics] == [
        ("t", "b(.)", None),
        ("u", None, "a[*].b"),
    ]
    assert plain.metrics[1].source == tmp_path / "here/plain/out-1.json"

    assert own.command.argv == ("own", "9")
    assert own.cwd == tmp_path / "there"
    assert own.env == {"A": "v", "B": "b", "C": "b"}
    assert own.stdin == tmp_path / "in-9"
    assert (own.stdout, own.timeout_s) == ("keep", 0.5)
    assert own.expect.exit_codes == (1, 2)
    assert own.expect.stdout_regex is None  # expect is replaced as a whole
    assert [(m.name, m.regex) for m in own.metrics] == [("t", "v(.)"), ("u", None)]
    assert own.metrics[0].source == "stdout"
    assert own.metrics[1].source == tmp_path / "there/out-9.json"


def test_absolute_paths_and_programs_stay_as_written(load):
    cell = one(load, "cwd: /usr, stdin: /etc/hostname", command='["./prog"]')
    assert (str(cell.cwd), str(cell.stdin), cell.command.argv[0]) == (
        "/usr",
        "/etc/hostname",
        "./prog",
    )


def test_builds_belong_to_variants(load, tmp_path):
    campaign = load("""\
        name: n
        build: [["cc", "{opt}"], {shell: "echo {variant}"}]
        variants:
          a: {opt: -O1, env: {CC: gcc, OUT: "{benchmark}"}}
          b: {build: "make {variant}"}
          c: {build: []}
        baseline: a
        benchmarks: {x: {command: [p]}}
        """)
    assert [(b.variant, [s.argv for s in b.steps]) for b in campaign.builds] == [
        ("a", [("cc", "-O1"), ("/bin/sh", "-c", "echo a")]),
        ("b", [("make", "b")]),
    ]
    assert campaign.builds[0].env == {"CC": "gcc"}
    assert campaign.builds[0].cwd == tmp_path
    assert any("'OUT'" in note for note in campaign.notes)  # left out, and said


def test_hooks_around_runs_belong_to_cells(load):
    campaign = load("""\
        name: n
        variants: {a: {k: 1}, b: {k: 2}}
        baseline: a
        benchmarks: {x: {command: [p]}}
        hooks:
          setup: {shell: "mkdir -p {{a,b}}"}
          cleanup: [["rm", "-r", "a"]]
          before: "echo {k} {benchmark}"
          after: [["echo", "{variant}"], {shell: "sync"}]
          finish: notify-send done
          timeout: 5
        """)
    assert campaign.hooks.setup[0].argv == ("/bin/sh", "-c", "mkdir -p {a,b}")
    assert campaign.hooks.cleanup[0].argv == ("rm", "-r", "a")
    assert campaign.hooks.finish[0].argv == ("notify-send", "done")
    assert campaign.hooks.timeout_s == 5.0
    second = campaign.cell("x", "b")
    assert [c.argv for c in second.before] == [("echo", "2", "x")]
    assert [c.argv for c in second.after] == [("echo", "b"), ("/bin/sh", "-c", "sync")]


def test_a_matrix_gives_one_entry_for_each_combination(load):
    campaign = load("""\
        name: n
        variants:
          gcc: {matrix: {opt: [-O2, -O3]}}
          tcc: {opt: ""}
        baseline: gcc--O2
        benchmarks:
          sort:
            matrix: {n: [10, 20], file: [data/a, b]}
            command: "{variant} {opt} {n} {file}"
        """)
    assert campaign.variants == ("gcc--O2", "gcc--O3", "tcc")
    assert campaign.benchmarks == ("sort-10-data_a", "sort-10-b", "sort-20-data_a", "sort-20-b")
    assert campaign.cell("sort-20-data_a", "gcc--O3").command.argv == (
        "gcc--O3",
        "-O3",
        "20",
        "data/a",
    )


def test_a_value_of_the_variant_hides_that_of_the_benchmark(load):
    campaign = load("""\
        name: n
        variants: {a: {k: mine}, b: }
        baseline: a
        benchmarks: {x: {k: theirs, command: ["{k}"]}}
        """)
    assert [cell.command.argv for cell in campaign.cells] == [("mine",), ("theirs",)]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0s", 0.0), ("60s", 60.0), ("500ms", 0.5), ("2min", 120.0), ("1h", 3600.0), ("1.5", 1.5)],
)
def test_durations(load, text, seconds):
    assert load(f"{MINIMAL}protocol: {{cooldown: {text}}}").protocol.cooldown_s == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("1", 1), ("4096", 4096), ("64MB", 64_000_000), ("1GiB", 2**30), ("1.5KiB", 1536)),
        *(("10B", 10), ("0.001kB", 1), ("2TB", 2 * 10**12), ("1e3", 1000), ("10.0", 10)),
        *(("3GB", 3_000_000_000), ("7MiB", 7_340_032), ("1.5TiB", 1_649_267_441_664)),
    ],
)
def test_sizes(load, text, size):
    campaign = load(f"{MINIMAL}isolation: {{output_limit: {text}}}")
    assert campaign.isolation.output_limit_bytes == size


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        *(("auto", "auto"), ("none", "none"), ("3", (3,)), ("[2, 3]", (2, 3))),
        *(("'2-4,7'", (2, 3, 4, 7)), ("6-7", (6, 7)), ("'5'", (5,))),
    ],
)
def test_cpus(load, text, cpus):
    assert load(f"{MINIMAL}isolation: {{cpus: {text}}}").isolation.cpus == cpus


def test_the_settings_of_isolation(load):
    isolation = load(
        MINIMAL
        + dedent("""\
        isolation:
          nice: -5
          scheduling: fifo
          priority: 7
          aslr: off
          padding: off
          environment: {keep: [PATH, LC_*], set: {A: "{b}"}}
          limits: {as: 1GiB, core: 0, cpu: 10, nofile: 64}
          containment: none
        """)
    ).isolation
    assert isolation == Isolation(
        nice=-5,
        scheduling="fifo",
        priority=7,
        aslr=False,
        padding=0,
        keep_environment=("PATH", "LC_*"),
        set_environment={"A": "{b}"},  # no template: what stands there is meant
        limits={"as": 2**30, "core": 0, "cpu": 10, "nofile": 64},
        containment="none",
    )


def test_every_limit_is_one_that_the_kernel_has(load):
    import resource

    limits = load(
        f"{MINIMAL}isolation: {{limits: {{as: 1, core: 1, cpu: 1, data: 1, fsize: 1,"
        " memlock: 1, nofile: 1, nproc: 1, stack: 1}}"
    ).isolation.limits
    assert len(limits) == 9
    assert all(hasattr(resource, f"RLIMIT_{name.upper()}") for name in limits)


def test_a_campaign_may_name_every_check_that_there_is(load):
    checks = load(f"{MINIMAL}checks: {{require: [{', '.join(CHECK_NAMES)}]}}").checks
    assert checks.require == CHECK_NAMES


def test_what_was_decided_by_default_is_noted(load):
    two = load("name: n\nvariants: {a: , b: }\nbenchmarks: {x: {command: [p]}}\n")
    assert two.notes == ("no baseline is named: the first variant, 'a', is the baseline",)
    assert load(MINIMAL).notes == ("there is one variant: it is measured, not compared",)
    sequential = load(f"{MINIMAL}protocol: {{order: sequential}}")
    assert any("drift" in note for note in sequential.notes)


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode())
    assert identity_of(load_campaign(path)) == identity_of(_saved(tmp_path / "d.yaml", MINIMAL))


def _saved(path: Path, text: str) -> Campaign:
    path.write_text(text, encoding="utf-8")
    return load_campaign(path)


IDENTITY = """\
name: n
seed: 5
variants: {a: {k: 1}, b: {k: 2}}
baseline: a
benchmarks:
  x: {command: [p, "{k}"], env: {A: "1", B: "2"}, cwd: sub}
protocol: {runs: 4, sessions: 2}
hooks: {before: "echo {k}"}
"""

SAME = [
    ("comments and blank lines", lambda t: "# hello\n\n" + t.replace("\n", "  # c\n")),
    ("the order of keys", lambda t: t.replace("runs: 4, sessions: 2", "sessions: 2, runs: 4")),
    ("the order of variables", lambda t: t.replace('A: "1", B: "2"', 'B: "2", A: "1"')),
    ("the order of sections", lambda t: "hooks: {before: 'echo {k}'}\n" + t[: t.index("hooks")]),
    ("quotes", lambda t: t.replace("seed: 5", "seed: 5.0").replace("name: n", "name: 'n'")),
    ("a default written out", lambda t: t + "isolation: {aslr: on}\nchecks: {warn: []}\n"),
    ("another form of the same", lambda t: t.replace('[p, "{k}"]', "'p {k}'")),
]
CHANGED = [
    ("an argument", lambda t: t.replace("[p,", "[q,")),
    ("a value", lambda t: t.replace("k: 2", "k: 3")),
    ("the seed", lambda t: t.replace("seed: 5", "seed: 6")),
    ("the baseline", lambda t: t.replace("baseline: a", "baseline: b")),
    ("the order of variants", lambda t: t.replace("{a: {k: 1}, b: {k: 2}}", "{b: {k: 2}, a: {k: 1}}")),
    ("a variable", lambda t: t.replace('A: "1"', 'A: "3"')),
    ("the folder", lambda t: t.replace("cwd: sub", "cwd: other")),
    ("the runs", lambda t: t.replace("runs: 4", "runs: 5")),
    ("a hook", lambda t: t.replace("echo {k}", "echo {k} x")),
]  # fmt: skip


@pytest.mark.parametrize(("what", "change"), SAME, ids=[what for what, _ in SAME])
def test_the_identity_does_not_depend_on(tmp_path, what, change):
    changed = change(IDENTITY)
    assert changed != IDENTITY
    first = _saved(tmp_path / "one.yaml", IDENTITY)
    assert identity_of(_saved(tmp_path / "two.yaml", changed)) == identity_of(first)


@pytest.mark.parametrize(("what", "change"), CHANGED, ids=[what for what, _ in CHANGED])
def test_the_identity_depends_on(tmp_path, what, change):
    changed = change(IDENTITY)
    assert changed != IDENTITY
    first = _saved(tmp_path / "one.yaml", IDENTITY)
    assert identity_of(_saved(tmp_path / "two.yaml", changed)) != identity_of(first)


def test_the_identity_does_not_depend_on_the_folder(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = _saved(tmp_path / "a/c.yaml", IDENTITY)
    assert identity_of(_saved(tmp_path / "b/c.yaml", IDENTITY)) == identity_of(one)


def test_a_seed_given_by_the_caller_takes_the_place_of_the_files(load):
    assert load(IDENTITY, seed=9).seed == 9
    assert load(IDENTITY).seed == 5
    with pytest.raises(UsageError, match="-1"):
        load(IDENTITY, seed=-1)


def test_the_relative_path_of_the_file_is_no_matter(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/c.yaml").write_text(MINIMAL)
    monkeypatch.chdir(tmp_path)
    campaign = load_campaign(Path("sub/c.yaml"))
    assert campaign.source == tmp_path / "sub/c.yaml"
    assert campaign.cells[0].cwd == tmp_path / "sub"
    assert campaign.cells[0].command.mark == "sub/c.yaml:3:27"


def test_the_starter_loads_without_a_note(tmp_path):
    campaign = _saved(tmp_path / "c.yaml", starter_text("my-first.one"))
    assert campaign.name == "my-first.one"
    assert campaign.notes == ()
    assert len(campaign.benchmarks) >= 6  # with fewer, HPT cannot reach a reliability of 0.95
    assert len(campaign.variants) == 3


def test_the_starter_runs_as_it_stands(tmp_path):
    campaign = _saved(tmp_path / "c.yaml", starter_text("null"))
    for command in campaign.hooks.setup:
        subprocess.run(command.argv, cwd=tmp_path, check=True)
    again = campaign.cell(campaign.benchmarks[0], "gzip-6-again")
    first = campaign.cell(campaign.benchmarks[0], "gzip-6")
    outputs = [
        subprocess.run(cell.command.argv, cwd=cell.cwd, check=True, capture_output=True).stdout
        for cell in (first, again)
    ]
    assert outputs[0] == outputs[1] != b""


def test_the_starter_refuses_a_name_that_no_campaign_can_have():
    with pytest.raises(UsageError, match="'a b'"):
        starter_text("a b")


def test_the_resolved_campaign_needs_no_yaml():
    code = "import sys, harness.campaign.model; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ten_thousand_cells_are_resolved_and_one_more_is_refused(load):
    numbers = ", ".join(map(str, range(100)))
    text = f"""\
        name: n
        variants: {{v: {{matrix: {{a: [{numbers}]}}}}}}
        baseline: v-0
        benchmarks: {{x: {{command: ["{{a}}", "{{b}}"], matrix: {{b: [{numbers}]}}}}}}
        """
    assert len(load(text).cells) == 10_000
    with pytest.raises(CampaignError, match="100 variants x 101 benchmarks are more than 10,000"):
        load(text.replace("b: [0,", "b: [x, 0,"))
    with pytest.raises(CampaignError, match="the matrix has more than 10,000 combinations"):
        load(text.replace("b: [0,", f"c: [{numbers}], d: [{numbers}], b: [0,"))


def test_inputs_add_up_with_their_templates(load, tmp_path):
    campaign = load(
        """\
        name: n
        inputs: ["config-{variant}", /etc/hostname]
        variants:
          a: {level: 1}
          b: {level: 2, inputs: ["of-b", shared]}
        baseline: a
        benchmarks:
          x: {command: [p], inputs: ["in-{level}", shared]}
          y: {command: [p]}
        """
    )

    def names(benchmark, variant):
        inputs = campaign.cell(benchmark, variant).inputs
        return [str(path.relative_to(tmp_path)) if path.is_relative_to(tmp_path) else str(path)
                for path in inputs]  # fmt: skip

    assert names("x", "a") == ["config-a", "/etc/hostname", "in-1", "shared"]
    assert names("x", "b") == ["config-b", "/etc/hostname", "in-2", "shared", "of-b"]
    assert names("y", "a") == ["config-a", "/etc/hostname"]


def test_a_value_that_only_the_campaigns_inputs_use_is_used(load):
    text = """\
        name: n
        inputs: ["in-{size}"]
        variants: {a: }
        benchmarks: {x: {command: [p], size: 3}}
        """
    assert load(text).cells[0].inputs[0].name == "in-3"


def test_empty_inputs_are_no_inputs_and_no_other_campaign(load):
    assert identity_of(load(f"{MINIMAL}inputs: []\n")) == identity_of(load(MINIMAL))
    kept = "isolation: {kept_outputs: 256MB}\nprotocol: {build_timeout: 1h}\n"
    assert identity_of(load(MINIMAL + kept)) == identity_of(load(MINIMAL))


# --- Which files the build of a session makes; authority: docs/layouts.md, by enumeration


CAMPAIGN = """
name: layouts
variants:
  old: {build: {each: session, run: [[make, old]], artifacts: [ELSEWHERE/lib.so]}, cmd: ../built/prog}
  new: {build: [[make, new]], cmd: build/new}
benchmarks: {text: {command: "{cmd} text"}, host: {command: "/usr/bin/env true"}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "campaign"
    place.mkdir()
    place.joinpath("c.yaml").write_text(CAMPAIGN.replace("ELSEWHERE", f"{tmp_path}/elsewhere"))
    return place


def test_what_lies_in_the_campaigns_folder_or_is_named_by_it_is_made(folder):
    builds = SessionBuilds.of(load_campaign(folder / "c.yaml"))
    assert set(builds.places) == {"old"}
    made = {
        folder / "build" / "prog": True,
        folder.parent / "built" / "prog": True,  # the command names it so
        folder.parent / "elsewhere" / "lib.so": True,  # an artifact
        folder.parent / "elsewhere" / "other.so": False,
        folder.parent / "built" / "other": False,
        Path("/usr/bin/env"): False,
    }
    assert {path: builds.made(path, "old") for path in made} == made


def test_a_build_for_all_sessions_makes_no_file_of_one(folder):
    builds = SessionBuilds.of(load_campaign(folder / "c.yaml"))
    assert not builds.made(folder / "build" / "new", "new")
    (folder / "c.yaml").write_text(
        folder.joinpath("c.yaml").read_text().replace("each: session", "each: campaign")
    )
    assert not SessionBuilds.of(load_campaign(folder / "c.yaml")).places


def test_links_are_followed(folder):
    folder.joinpath("real").mkdir()
    folder.parent.joinpath("link").symlink_to(folder)
    builds = SessionBuilds.of(load_campaign(folder.parent / "link" / "c.yaml"))
    assert builds.made(folder / "real" / "prog", "old")


# --- The seed that a session's own build gets: `{layout_seed}`, from the campaign's seed, the session and the variant
#
# Authority: the definition of layouts per session: an integer of 1 to 2^31 - 1 from SHA-256, different for each variant.


SEED = {LAYOUT_SEED: "12"}

BUILT = """\
name: layouts
variants:
  old: {build: {each: session, run: [[link, "--seed={layout_seed}", "{{layout_seed}}"], {shell: "echo {layout_seed}"}]}}
  new: {build: "link"}
benchmarks: {x: {command: [run], env: {SEED: "a{layout_seed}b", PLAIN: "{{layout_seed}}"}}}
"""


@given(st.integers(0, 2**63 - 1), st.integers(1, 10**6), st.text(min_size=1, max_size=9))
def test_a_seed_is_what_every_linker_takes(seed, session, variant):
    assert 1 <= layout_seed(seed, session, variant) <= 2**31 - 1


def test_a_seed_depends_on_all_that_it_is_made_of_and_on_nothing_else():
    seeds = [
        layout_seed(seed, session, variant, node)
        for seed in (1, 2, 11)
        for session in (1, 2, 11)
        for variant in ("old", "new", "1")
        for node in (None, "lab1", "lab2")
    ]
    assert len(set(seeds)) == len(seeds)
    digest = hashlib.sha256(b"layout:7:3:old").digest()
    # by hand, so that a trial's sessions draw with every version what they drew
    assert layout_seed(7, 3, "old") == 1 + int.from_bytes(digest[:8], "big") % (2**31 - 1)


def test_a_build_of_a_session_gets_its_seed(load):
    old, new = load(BUILT).builds
    assert [step.argv for step in filled(old, SEED).steps] == [
        ("link", "--seed=12", "{layout_seed}"),
        ("/bin/sh", "-c", "echo 12"),
    ]
    assert filled(new, SEED) == new


def test_variables_of_a_cell_get_the_seed(load):
    for cell in load(BUILT).cells:
        assert filled(cell, SEED).env == {"SEED": "a12b", "PLAIN": "{layout_seed}"}


def test_a_command_whose_seed_was_forgotten_cannot_be_executed(load):
    forgotten = load(BUILT).builds[0].steps[0].argv
    with pytest.raises(ValueError, match="null byte"):
        subprocess.run(forgotten, check=False)


def test_the_trial_keeps_the_placeholder(load):
    campaign = load(BUILT)
    stored = json.loads(resolved_text(campaign))["campaign"]
    assert stored["builds"][0]["steps"][0]["argv"] == [
        "link",
        "--seed={layout_seed}",
        "{layout_seed}",
    ]
    assert stored["cells"][0]["env"]["SEED"] == "a{layout_seed}b"
    assert "\\u0000" not in resolved_text(campaign).decode()


def test_a_placeholder_is_another_experiment_than_the_text_of_its_name(load):
    text = "name: n\nvariants: {a: {env: {SEED: '%s'}}}\nbenchmarks: {x: {command: [run]}}\n"
    assert identity_of(load(text % "{layout_seed}")) != identity_of(load(text % "{{layout_seed}}"))


def test_a_value_of_that_name_stays_somebodys_own(load):
    text = "name: n\nvariants: {a: {layout_seed: 5}, b: {layout_seed: 6}}\nbuild: 'make S={layout_seed}'\n"
    campaign = load(
        text + "benchmarks: {x: {command: [run, '{layout_seed}'], env: {E: '{layout_seed}'}}}\n"
    )
    assert [build.steps[0].argv[1] for build in campaign.builds] == ["S=5", "S=6"]
    assert [cell.env["E"] for cell in campaign.cells] == ["5", "6"]
