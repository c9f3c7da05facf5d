"""The key `services`: what a campaign may say of long-lived processes, and how each mistake is told.

Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before.
"""

from __future__ import annotations

import dataclasses
import json

import pytest

from harness.campaign.cells import has_port
from harness.campaign.model import Ready, filled, port_mark
from harness.campaign.resolve import one_cell
from harness.campaign.schema import identity_of, resolved_text

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
            "'command' cannot stand beside 'output': one sign is enough",
            "delete one of them",
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


def test_a_port_that_is_none_is_told_once(problem):
    """It is no port that two services want."""
    found = problem(SERVED.replace('"{sync}"]', '"{sync}"], ready: {port: http}'))
    assert found.what.startswith("'port' must be a number from 1 to 65535")


def test_a_value_that_some_variant_lacks_is_named(problem):
    found = problem(SERVED.replace("{sync: always}", "{}"))
    assert found.what == "'{sync}' has no value in the service 'redis' of variant 'often'"


def test_services_of_runs_of_different_variants_may_have_one_port(load):
    source = SERVED.replace('"{sync}"]', '"{sync}"], each: run, ready: {port: 6471}')
    assert [one.ready.port for one in load(source).services] == [6471, 6471]
