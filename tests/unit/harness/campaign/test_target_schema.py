"""The forms of `build`: once for the campaign or before each session, the files that it makes, and mistakes.

Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before; the
definition of layouts per session, for where `{layout_seed}` may stand.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from analysis.errors import CampaignError
from harness.campaign.cells import has_port
from harness.campaign.model import Ready, filled, port_mark
from harness.campaign.resolve import one_cell
from harness.campaign.schema import identity_of, resolved_text
from harness.trial.plan import PlannedSession

TEXT = """\
name: built
build: %s
variants: {a: , b: }
benchmarks: {x: {command: ["run"]}}
"""
ALONE = "name: built\nvariants: {a: {%s}, b: }\nbenchmarks: {x: {command: [run]}}\n"


@pytest.mark.parametrize(
    ("run", "argv"),
    [
        ("make all", [("make", "all")]),
        ("{shell: make all}", [("/bin/sh", "-c", "make all")]),
        ("[[make, all], {shell: ls}]", [("make", "all"), ("/bin/sh", "-c", "ls")]),
    ],
)
@pytest.mark.parametrize("each", ["campaign", "session"])
def test_the_steps_have_the_forms_that_they_have_alone(load, run, argv, each):
    campaign = load(TEXT % f"{{run: {run}, each: {each}}}")
    for build, variant in zip(campaign.builds, "ab", strict=True):
        assert [step.argv for step in build.steps] == argv
        assert (build.variant, build.each) == (variant, each)
    assert [step.argv for step in load(TEXT % run).builds[0].steps] == argv


def test_a_mapping_with_a_shell_stays_one_command(load):
    (build, _) = load(TEXT % "{shell: 'make run each'}").builds
    assert [step.argv for step in build.steps] == [("/bin/sh", "-c", "make run each")]
    assert (build.each, build.artifacts) == ("campaign", ())


def test_files_that_are_made_lie_below_the_campaigns_folder(load, tmp_path):
    text = (
        TEXT % "{run: make, artifacts: ['build/{variant}/app', '{variant}.so', 'b.so', 3, /opt/x]}"
    )
    made = [build.artifacts for build in load(text).builds]
    shared = [tmp_path / "b.so", tmp_path / "3", Path("/opt/x")]
    assert list(made[0]) == [tmp_path / "build/a/app", tmp_path / "a.so", *shared]
    assert list(made[1]) == [tmp_path / "build/b/app", *shared]  # each file once
    stored = json.loads(resolved_text(load(text)))["campaign"]["builds"]
    assert stored[1]["artifacts"] == ["build/b/app", "b.so", "3", "/opt/x"]


def test_a_value_that_only_a_file_name_uses_is_used(load):
    text = ALONE % "out: bin, build: {run: make, artifacts: ['{out}/app']}"
    assert load(text).builds[0].artifacts[0].parts[-2:] == ("bin", "app")


def test_a_variants_build_takes_the_place_of_the_whole_mapping(load):
    text = TEXT % "{run: make, each: session, artifacts: [app]}"
    changed = load(text.replace("a: ,", "a: {build: {run: make}},")).builds
    assert [(build.each, len(build.artifacts)) for build in changed] == [
        ("campaign", 0),
        ("session", 1),
    ]
    assert [build.variant for build in load(text.replace("a: ,", "a: {build: []},")).builds] == [
        "b"
    ]


def test_what_a_build_leaves_unsaid_is_the_campaign_of_before(load):
    plain = load(TEXT % "make")
    for said in ("{run: make}", "{run: make, each: campaign}", "{run: make, artifacts: []}"):
        campaign = load(TEXT % said)
        assert identity_of(campaign) == identity_of(plain)
        assert campaign.to_dict() == plain.to_dict()
    # of the version before these keys, byte for byte
    kept = json.loads(resolved_text(plain))["campaign"]["builds"][0]
    assert list(kept) == ["variant", "steps", "cwd", "env"]
    defaults = json.loads(resolved_text(plain))["defaults"]
    assert (defaults["build.each"], defaults["build.artifacts"]) == ("campaign", [])


def test_a_build_of_its_own_is_another_experiment_with_the_same_plan(load):
    texts = [
        TEXT % said
        for said in (
            "make",
            "{run: make, each: session}",
            "{run: make, artifacts: [app]}",
            "{run: make, artifacts: [ape]}",
            "{run: 'make {layout_seed}', each: session}",
            "{run: 'make {{layout_seed}}', each: session}",
        )
    ]
    assert len({identity_of(load(text)) for text in texts}) == len(texts)
    plans = [list(PlannedSession(load(text), 7, 1, None)) for text in texts]
    assert all(plan == plans[0] for plan in plans)


def test_variables_with_a_seed_belong_to_builds_of_a_session_alone(load):
    env = "env: {S: '{layout_seed}', T: t}, build: {run: make, each: %s}"
    campaign = load(ALONE % (env % "campaign"))
    assert dict(campaign.builds[0].env) == {"T": "t"}
    assert [note for note in campaign.notes if "'S'" in note] == [
        "the build of 'a' is executed without the variable 'S': its value depends on the session"
    ]
    assert set(load(ALONE % (env % "session")).builds[0].env) == {"S", "T"}


MISPLACED = "'{layout_seed}' is the seed of a session, and cannot stand here"
ONCE = "'{layout_seed}' is the seed of a session, and this build is executed once for all of them"
WHERE = "it may stand in 'env', and in the 'run' of a build with 'each: session'"


@pytest.mark.parametrize(
    ("said", "column", "what", "fix"),
    [
        ("{each: session}", 1, "'run' is missing in build", "add it"),
        ("{}", 1, "'run' is missing in build", "add it"),
        ("{run: []}", 14, "'run' must not be empty", "give a value"),
        ("{run: [make, x]}", 14, "not a list", "[[make, x]]"),
        ("{shel: x}", 9, "unknown key 'shel'", "did you mean 'shell'?"),
        ("{rn: x}", 9, "unknown key 'rn'", "did you mean 'run'? Known here: run, each, artifacts"),
        ("{shell: x, each: session}", 9, "'shell' stands inside 'run' here", "run: {shell: TEXT}"),
        ("{run: x, eech: session}", 17, "unknown key 'eech'", "did you mean 'each'?"),
        ("{run: x, each: sesion}", 23, "must be campaign or session", "did you mean 'session'?"),
        ("{run: x, each: run}", 23, "'each' must be campaign or session, not 'run'", ""),
        ("{run: x, artifacts: app}", 28, "'artifacts' must be a list", "write [app]"),
        ("{run: x, artifacts: ['']}", 29, "must be the name of a file, not ''", ""),
        ("{run: x, artifacts: ['{nope}']}", 30, "unknown placeholder '{nope}'", "variant"),
        ("{run: x, each: session, artifacts: ['{layout_seed}']}", 45, MISPLACED, WHERE),
        ("'make {layout_seed}'", 14, ONCE, "write build: {each: session, run: ...}"),
        ("{run: 'make {layout_seed}'}", 20, ONCE, "write build: {each: session, run: ...}"),
        ("{run: 'm {layout_sed}', each: session}", 17, "'{layout_sed}'", "mean '{layout_seed}'?"),
    ],
)
def test_a_mistake_is_told_with_its_place(mistake, said, column, what, fix):
    mistake(TEXT % said, f"c.yaml:2:{column}", what, fix)


@pytest.mark.parametrize(
    "key",
    [
        "command: [run, '{layout_seed}']",
        "cwd: '{layout_seed}'",
        "stdin: '{layout_seed}'",
        "inputs: ['{layout_seed}']",
        "expect: {file: '{layout_seed}'}",
    ],
)
def test_a_seed_has_no_meaning_in_what_is_measured(problem, key):
    found = problem(ALONE % key)
    assert (found.what, found.fix) == (MISPLACED, WHERE)
    assert found.where.endswith(f"c.yaml:2:{16 + key.index('{layout')}")


@pytest.mark.parametrize(
    "key",
    [
        "hooks: {setup: 'a {layout_seed}'}",
        "hooks: {before: '{layout_seed}'}",
        "commit: '{layout_seed}'",
    ],
)
def test_a_seed_has_no_meaning_in_hooks_and_commits(problem, key):
    found = problem(ALONE % "" + key + "\n")
    assert (found.what, found.fix) == (MISPLACED, WHERE)


@pytest.mark.parametrize("value", ["layout_seed: 5", "matrix: {layout_seed: [5, 6]}"])
def test_a_value_of_the_seeds_name_cannot_stand_beside_a_build_of_each_session(problem, value):
    found = problem(ALONE % (value + ", build: {each: session, run: 'make {layout_seed}'}"))
    assert found.what == "'layout_seed' is the seed of each session's build (each: session)"
    assert found.fix == "choose another name for the value"
    assert found.where.endswith(f"c.yaml:2:{16 + value.index('layout')}")


SHARED = "name: n\nbuild: {run: make, each: %s, artifacts: ['app%s']}\nvariants: {a: {%s}, b: , c: {build: []}}\n"


def test_two_variants_cannot_make_one_file_in_each_session(load, problem):
    text = SHARED + "benchmarks: {x: {command: [run]}}\n"
    found = problem(text % ("session", "", ""))
    assert found.where.endswith("c.yaml:2:46")
    assert found.what == "the builds of 'a' and 'b' make one file, 'app'"
    assert found.fix.endswith("put {variant} into its name")
    own = "build: {run: make, artifacts: [app]}"  # once, and each session overwrites it
    assert (
        problem(text % ("session", "", own)).what
        == "the builds of 'b' and 'a' make one file, 'app'"
    )
    load(text % ("session", "-{variant}", ""))
    load(text % ("campaign", "", ""))


# --- The key `services`: what a campaign may say of long-lived processes, and how each mistake is told
#
# Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before.


PLAIN = """\
name: stores
variants: {rarely: {sync: everysec}, often: {sync: always}}
benchmarks: {set: {command: [client, "%s"]}}
"""
SERVED = (
    PLAIN % "{redis.port}"
    + """\
services:
  redis: {command: [redis-server, --port, "{redis.port}", --appendfsync, "{sync}"]}
"""
)


def test_one_that_uses_a_value_of_the_variants_exists_once_for_each(load):
    rarely, often = load(SERVED).services
    assert (rarely.label, often.label) == ("redis/rarely", "redis/often")
    assert (rarely.command.argv[-1], often.command.argv[-1]) == ("everysec", "always")
    assert rarely.serves("rarely")
    assert not rarely.serves("often")
    assert rarely.cwd == load(SERVED).source.parent
    assert (rarely.each, rarely.stop, rarely.grace_s, rarely.cpus) == (
        "session",
        "TERM",
        10,
        "auto",
    )
    assert rarely.ready == Ready()
    assert rarely.ready.listens


def test_one_that_uses_none_is_the_same_for_all(load):
    plain = SERVED.replace(', --appendfsync, "{sync}"', "").replace("{sync:", "{path:")
    plain = plain.replace("[client,", '[client, "{path}",')
    (one,) = load(plain).services
    assert (one.variant, one.label) == (None, "redis")
    assert one.serves("rarely")
    assert one.serves("often")


@pytest.mark.parametrize(
    "text",
    [
        "cwd: 'data-{sync}'",
        "env: {SYNC: '{sync}'}",
        "ready: {port: '{number}'}",
        "env: {V: '{variant}'}",
    ],
)
def test_any_of_its_texts_may_use_a_value(load, text):
    source = (
        PLAIN % "{redis.port}"
        + f"services: {{redis: {{command: [s, '{{redis.port}}'], {text}}}}}\n"
    )
    source = source.replace("{sync: everysec}", "{sync: a, number: 1}").replace(
        "{sync: always}", "{sync: b, number: 2}"
    )
    source = source.replace("[client,", '[client, "{sync}", "{number}",')
    assert [one.variant for one in load(source).services] == ["rarely", "often"]


def test_a_service_may_use_the_port_of_one_before_it_and_is_of_a_variant_as_that_one_is(load):
    source = SERVED + '  app: {command: [app, "{app.port}", --store, "{redis.port}"]}\n'
    services = load(source).services
    assert [one.label for one in services] == [
        "redis/rarely",
        "redis/often",
        "app/rarely",
        "app/often",
    ]
    app = filled(services[2], {port_mark("redis"): "7001", port_mark("app"): "7002"})
    assert app.command.argv == ("app", "7002", "--store", "7001")


def test_the_port_may_stand_in_command_env_and_hooks_of_a_run(load):
    source = SERVED.replace(
        'command: [client, "{redis.port}"]',
        'command: [client, -p, "{redis.port}"], env: {PORT: "{redis.port}"}',
    )
    source += 'hooks: {before: "flush -p {redis.port}", after: {shell: "ask {redis.port}"}}\n'
    cell = load(source).cell("set", "often")
    assert port_mark("redis") in cell.command.argv
    now = filled(cell, {port_mark("redis"): "15021"})
    assert now.command.argv == ("client", "-p", "15021")
    assert now.env == {"PORT": "15021"}
    assert now.before[0].argv == ("flush", "-p", "15021")
    assert now.after[0].argv[-1] == "ask 15021"


def test_ready_may_be_a_line_a_command_or_a_fixed_port(load):
    source = SERVED.replace(
        'command: [redis-server, --port, "{redis.port}", --appendfsync, "{sync}"]',
        "command: [s, '{sync}'], ready: {%s}",
    )
    quiet = source.replace('"{redis.port}"', "x")
    line = load(quiet % "output: '^ready', timeout: 2min").services[0].ready
    assert (line.output, line.timeout_s, line.listens) == ("^ready", 120, False)
    asked = load(quiet % "command: [ask, '{variant}']").services[1].ready
    assert asked.command is not None
    assert asked.command.argv == ("ask", "often")


def test_a_fixed_port_may_be_a_value_of_the_variant(load):
    source = SERVED.replace("{sync: everysec}", "{sync: a, p: 6471}").replace(
        "{sync: always}", "{sync: b, p: 6472}"
    )
    source = source.replace('--port, "{redis.port}", ', "").replace(
        '"{sync}"]', '"{sync}"], ready: {port: "{p}"}'
    )
    services = load(source).services
    assert [one.ready.port for one in services] == [6471, 6472]
    assert all(map(has_port, services))


def test_without_the_key_nothing_is_other_than_before(load):
    plain = load(PLAIN % "{sync}")
    assert plain.services == ()
    assert "services" not in plain.to_dict()
    assert identity_of(plain) == identity_of(dataclasses.replace(plain, services=()))
    assert identity_of(load(SERVED)) != identity_of(plain)


def test_what_a_service_says_is_part_of_the_identity(load):
    first = identity_of(load(SERVED))
    said = SERVED.replace(
        '"{sync}"]', '"{sync}"], cpus: auto, each: session, grace: 10s, ready: {}'
    )
    assert identity_of(load(said)) == first
    assert identity_of(load(SERVED.replace('"{sync}"]', '"{sync}"], each: run'))) != first


def test_a_trial_keeps_what_they_are_with_the_port_as_the_file_names_it(load):
    stored = json.loads(resolved_text(load(SERVED)))["campaign"]
    one = stored["services"][0]
    assert one["command"]["argv"][:3] == ["redis-server", "--port", "{redis.port}"]
    assert one["variant"] == "rarely"
    assert stored["cells"][0]["command"]["argv"] == ["client", "{redis.port}"]


def test_one_cell_has_the_services_of_its_variant_alone(load):
    source = SERVED + '  all: {command: [s, "{all.port}"]}\n'
    assert [one.label for one in one_cell(load(source), "set:often").services] == [
        "redis/often",
        "all",
    ]


SERVICE = PLAIN % "{sync}" + "services: {s: {%s}}\n"


@pytest.mark.parametrize(
    ("text", "place", "what", "fix"),
    [
        (SERVICE % "cwd: x", "4:12", "'command' is missing in services.s", "add it"),
        (
            SERVICE % "command: [x]",
            "4:12",
            "nothing tells when the service 's' is ready",
            "put {s.port} into its command, or write ready: {output: REGEX}, {command: ...} or {port: ...}",
        ),
        (
            SERVICE % "command: [x, '{s.port}'], ready: {port: 70000}",
            "4:56",
            "'port' must be a number from 1 to 65535, not '70000'",
            "leave it out for one that is free",
        ),
        (
            SERVICE % "command: [x, '{s.port}'], ready: {output: a, command: b}",
            "4:70",
            "'command' cannot be combined with 'output'",
            "delete one: one sign is enough",
        ),
        (
            SERVICE % "command: [x], ready: {output: '('}",
            "4:46",
            "the regex is wrong: missing ), unterminated subpattern at position 0",
            "Python's 're' reads it; put the text in single quotes, which keep '\\'",
        ),
        (
            SERVICE % "command: [x, '{s.port}'], cpus: none",
            "4:48",
            "'cpus' must be auto or a whole number from 0 to 4095 or a list such as [2, 3] or 2-3, not 'none'",
            None,
        ),
        (
            SERVICE % "command: [x, '{s.port}'], cpus: 3-2",
            "4:48",
            "the range '3-2' of 'cpus' is empty, too large or given twice",
            "write ranges upwards, such as 2-3,6",
        ),
        (SERVICE % "command: [x, '{s.port}'], stop: KILL", "4:48", "'stop' must be TERM, INT or QUIT, not 'KILL'", None),
        (SERVICE % "command: [x, '{s.port}'], each: trial", "4:48", "'each' must be session or run, not 'trial'", None),
        (SERVICE % "command: [x, '{s.port}'], redy: {}", "4:42", "unknown key 'redy' in services.s", None),
        (
            SERVICE % "command: [x, '{t.port}'], ready: {output: x}",
            "4:30",
            "unknown placeholder '{t.port}'",
            "known here: ",
        ),
        (
            (SERVICE % "command: [x, '{s.port}']").replace("{s:", "{1s:"),
            "4:12",
            "'1s' must be a name of letters, digits, _ and -, beginning with a letter or _: at most 50 characters",
            "choose another name",
        ),
        (
            SERVED.replace("{redis.port}", "{reds.port}", 1),
            "3:39",
            "unknown placeholder '{reds.port}'",
            "did you mean '{redis.port}'? Known here: ",
        ),
        (
            SERVED.replace("benchmarks: {set: {", 'benchmarks: {set: {cwd: "{redis.port}", '),
            "3:26",
            "'{redis.port}' is the port of a service, and cannot stand here",
            "it may stand in commands, 'env', the hooks 'before' and 'after', and in services",
        ),
        (
            SERVED + 'hooks: {setup: "x {redis.port}"}\n',
            "6:19",
            "'{redis.port}' is the port of a service, and cannot stand here",
            "it may stand in commands, 'env', the hooks 'before' and 'after', and in services",
        ),
        (
            SERVED.replace('--port, "{redis.port}"', "x").replace(
                '"{sync}"]', '"{sync}"], ready: {output: x}'
            ),
            "3:39",
            "'{redis.port}' is a port that the service 'redis' never hears of",
            "put {redis.port} into its own command, or fix the port: ready: {port: ...}",
        ),
        (
            SERVED.replace(
                "services:\n", 'services:\n  app: {command: [app, "{app.port}", "{redis.port}"]}\n'
            ).replace('[client, "{redis.port}"]', '[client, "{app.port}"]'),
            "5:3",
            "the service 'app' uses the port of 'redis', which starts after it",
            "write 'redis' first: services start in their order",
        ),
        (
            SERVED.replace('"{sync}"]}', '"{sync}"], each: run}')
            + '  app: {command: [app, "{app.port}", "{redis.port}"]}\n',
            "6:3",
            "'app' stands during a session and uses the port of 'redis', which does not",
            "write 'each: run' for both, or for none of them",
        ),
        (
            SERVED.replace('"{sync}"]', '"{sync}"], ready: {port: 6471}'),
            "5:99",
            "the services 'redis/rarely' and 'redis/often' want one port, 6471",
            "give each its own, or leave 'port' out: each gets one that is free",
        ),
    ],
)  # fmt: skip
def test_every_mistake_is_told_with_its_place(problem, text, place, what, fix):
    found = problem(text)
    assert (found.what, ":".join(found.where.rsplit(":", 2)[1:])) == (what, place)
    if fix is not None:
        assert (found.fix or "").startswith(fix)


@pytest.mark.parametrize(
    ("port", "what"),
    [
        ("http", "'port' must be a number from 1 to 65535"),
        ("'-'", "'port' must be a number from 1 to 65535"),
        ("'{q}'", "unknown placeholder '{q}'"),
    ],
)
def test_a_port_that_is_none_is_told_once(problem, port, what):
    """It is no port that two services want."""
    found = problem(SERVED.replace('"{sync}"]', f'"{{sync}}"], ready: {{port: {port}}}'))
    assert found.what.startswith(what)


def test_a_value_that_some_variant_lacks_is_named(problem):
    found = problem(SERVED.replace("{sync: always}", "{}"))
    assert found.what == "'{sync}' has no value in the service 'redis' of variant 'often'"


def test_services_of_runs_of_different_variants_may_have_one_port(load):
    source = SERVED.replace('"{sync}"]', '"{sync}"], each: run, ready: {port: 6471}')
    assert [one.ready.port for one in load(source).services] == [6471, 6471]


# --- The key `warmup_iterations` of a metric: what it takes, what it changes, and mistakes
#
# Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before; what is
# judged changes, never what is stored.


WARMUP_ITERATIONS_TEXT = """\
name: warm
variants: {a: , b: }
benchmarks:
  x:
    command: [run]
    metrics:
      t: {regex: 't (.)', unit: s, better: lower%s}
"""


def given(value: str) -> str:
    return WARMUP_ITERATIONS_TEXT % f", warmup_iterations: {value}"


@pytest.mark.parametrize(
    ("said", "meant"), [("0", 0), ("25", 25), ("auto", "auto"), ("100000", 100_000)]
)
def test_it_is_a_number_or_auto(load, said, meant):
    (rule,) = load(given(said)).cells[0].metrics
    assert rule.warmup_iterations == meant


@pytest.mark.parametrize("wrong", ["-1", "1.5", "100001", "some", "'5'", "", "[1]", "true"])
def test_anything_else_is_an_error_with_its_line(load, wrong):
    with pytest.raises(CampaignError) as caught:
        load(given(wrong))
    (problem,) = caught.value.problems
    assert "auto or a whole number from 0 to 100000" in problem.what
    assert problem.where.split(":")[1] == "7"


def test_absent_and_0_are_the_campaign_of_before(load):
    plain, zero = load(WARMUP_ITERATIONS_TEXT % ""), load(given("0"))
    assert identity_of(plain) == identity_of(zero)
    assert plain.to_dict() == zero.to_dict()
    stored = json.loads(resolved_text(plain))
    assert "warmup_iterations" not in stored["campaign"]["cells"][0]["metrics"][0]
    assert stored["defaults"]["metrics.*.warmup_iterations"] == 0


def test_it_is_part_of_the_identity_and_never_of_the_plan(load):
    texts = [WARMUP_ITERATIONS_TEXT % "", given("5"), given("auto")]
    assert len({identity_of(load(text)) for text in texts}) == len(texts)
    plans = [list(PlannedSession(load(text), 7, 1, None)) for text in texts]
    assert plans[0] == plans[1] == plans[2]
    stored = json.loads(resolved_text(load(given("auto"))))
    assert stored["campaign"]["cells"][0]["metrics"][0]["warmup_iterations"] == "auto"


def test_a_name_has_one_setting_everywhere(load):
    other = "\n  y: {command: [run], metrics: {t: {regex: '(.)', unit: s, better: lower}}}\n"
    with pytest.raises(CampaignError) as caught:
        load(given("5").rstrip() + other)
    (problem,) = caught.value.problems
    assert problem.what == "the metric 't' has 'warmup_iterations: 5' elsewhere"
    assert (problem.where.split(":")[1], problem.fix) == (
        "8",
        "write the same wherever the name stands",
    )
