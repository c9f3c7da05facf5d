"""Every mistake in a campaign file: what is said, and that line, column and carets are right."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

import pytest

from analysis.errors import CampaignError, Problem
from analysis.record.yaml_reader import MAX_BYTES
from harness.campaign.resolve import load_campaign


def problems(tmp_path: Path, text: str | bytes) -> tuple[Problem, ...]:
    path = tmp_path / "c.yaml"
    path.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
    with pytest.raises(CampaignError) as caught:
        load_campaign(path)
    assert caught.value.exit_code == 2
    for problem in caught.value.problems:
        assert problem.where.startswith(f"{path}:")
        assert problem.excerpt
    return caught.value.problems


def place(problem: Problem) -> str:
    return ":".join(problem.where.rsplit(":", 2)[1:])


def token(problem: Problem) -> str:
    assert problem.excerpt
    line, carets = problem.excerpt.split("\n")
    start = carets.index("^")
    return line[start : start + carets.count("^")]


def test_the_sketch_of_a_mistake(tmp_path, monkeypatch):
    # The screen that the design shows, except for the keys that were added since.
    monkeypatch.chdir(tmp_path)
    Path("campaign.yaml").write_text(
        dedent("""\
        name: x
        variants:
          a:

        benchmarks:
          text:
            comand: ["gzip", "-6"]




        protocol: {      runs: ten}
        """)
    )
    with pytest.raises(CampaignError) as caught:
        load_campaign(Path("campaign.yaml"))
    assert str(caught.value).splitlines() == [
        "campaign.yaml:7:5: unknown key 'comand' in benchmarks.text",
        '      comand: ["gzip", "-6"]',
        "      ^^^^^^",
        "  fix: did you mean 'command'? Known here: command, cwd, env, stdin, inputs,"
        " stdout, stderr, timeout, expect, metrics, matrix",
        "campaign.yaml:12:24: 'runs' must be a whole number of at least 1, not 'ten'",
        "  protocol: {      runs: ten}",
        "                         ^^^",
        "2 problems; nothing was executed.",
    ]


# Text before the place, and what follows there; the frame below puts it into a campaign.
TOP = [
    # (line of the file, its column, what is said, what the carets show, part of the remedy)
    ("protocol: {runs: 0}", 18, "'runs' must be a whole number of at least 1, not '0'", "0", ""),
    ("protocol: {runs: 1.5}", 18, "'runs' must be a whole number of at least 1", "1.5", ""),
    ("protocol: {runs: 1_0}", 18, "'runs' must be a whole number", "1_0", "write 10"),
    ("protocol: {runs: 0x10}", 18, "'runs' must be a whole number", "0x10", ""),
    ("protocol: {runs: 010}", 18, "'runs' must be a whole number", "010", ""),
    ("protocol: {runs: .inf}", 18, "'runs' must be a whole number", ".inf", ""),
    ("protocol: {runs: 1e999}", 18, "'runs' must be at most 1,000,000, not '1e999'", "1e999", ""),
    ("protocol: {runs: 10000000}", 18, "'runs' must be at most 1,000,000", "10000000", ""),
    ("protocol: {runs: '10'}", 18, "'runs' must be a whole number", "'10'", "without quotes"),
    ("protocol: {runs: true}", 18, "'runs' must be a whole number", "true", ""),
    ("protocol: {runs: }", 12, "'runs' must be a whole number of at least 1, not an empty value", "runs", "delete the key"),
    ("protocol: {runs: ~}", 18, "'runs' must be a whole number", "~", "delete the key"),
    ("protocol: {runs: [1]}", 18, "'runs' must be a whole number of at least 1, not a list", "[", ""),
    ("protocol: {rums: 3}", 12, "unknown key 'rums' in protocol", "rums", "did you mean 'runs'?"),
    ("protocol: {order: random}", 19, "'order' must be shuffled, interleaved, alternating, drawn-start or sequential",
     "random", ""),
    ("protocol: {order: shufled}", 19, "'order' must be", "shufled", "'shuffled'"),
    ("protocol: {cooldown: nan}", 22, "'cooldown' must be a duration such as", "nan", ""),
    ("protocol: {cooldown: -1s}", 22, "'cooldown' must be a duration", "-1s", ""),
    ("protocol: {cooldown: 1_0s}", 22, "'cooldown' must be a duration", "1_0s", "write 10s"),
    ("protocol: {cooldown: 5 s}", 22, "'cooldown' must be a duration", "5 s", "write 5s"),
    ("protocol: {cooldown: 1m}", 22, "'cooldown' must be a duration", "1m", ""),
    ("protocol: {timeout: 0s}", 21, "'timeout' must be a duration", "0s", ""),
    ("protocol: {max_time: 300h}", 22, "'max_time' must be a duration", "300h", ""),
    ("protocol: {stop: {width: 0.015, min_runs: 2}}", 43,
     "'min_runs' must be a whole number of at least 3, not '2'", "2", ""),
    ("protocol: {runs: 9, stop: {width: 0.015}}", 18, "'runs' cannot be combined with 'stop'", "9", "stop.max_runs"),
    ("protocol: {order: sequential, stop: {width: 0.015}}", 19,
     "'order' has no blocks, between which 'stop' could look", "sequential", "'shuffled'"),
    ("protocol: {stop: {min_runs: 6}}", 12, "'width' is missing in protocol.stop", "stop", "add it"),
    ("protocol: {stop: {width: 0}}", 26, "'width' must be a number such as 0.015, more than 0", "0", ""),
    ("protocol: {stop: {width: 1.5%}}", 26, "'width' must be a number such as 0.015", "1.5%", ""),
    ("protocol: {stop: {width: '0.1'}}", 26, "'width' must be a number", "'0.1'", "without quotes"),
    ("protocol: {stop: {width: 11}}", 26, "'width' must be a number such as", "11", ""),
    ("protocol: {stop: {width: 0.1, max_runs: 4}}", 41,
     "'max_runs' makes the least of 5 runs more than the most, 4", "4", "raise max_runs"),
    ("protocol: {stop: {width: 0.1, min_runs: 70}}", 41,
     "'min_runs' makes the least of 70 runs more than the most, 50", "70", "lower min_runs"),
    ("protocol: {stop: {width: 0.1, max_tme: 2h}}", 31, "unknown key 'max_tme' in protocol.stop",
     "max_tme", "did you mean 'max_time'? Known here: width, min_runs, max_runs, max_time"),
    ("protocol: {stop: {width: 0.1, max_time: 0s}}", 41, "'max_time' must be a duration", "0s", ""),
    ("protocol: {stop: 0.1}", 18, "'stop' must be a mapping of keys, not '0.1'", "0.1", "key: value"),
    ("protocol:", 1, "'protocol' must be a mapping of keys, not an empty value", "protocol", "delete the key"),
    ("protocol: fast", 11, "'protocol' must be a mapping of keys, not 'fast'", "fast", "key: value"),
    ("seed: -1", 7, "'seed' must be a whole number of at least 0, not '-1'", "-1", ""),
    ("seed: 9223372036854775808", 7, "'seed' must be at most 9,223,372,036,854,775,807", "9223372036854775808", ""),
    ("isolation: {aslr: yes}", 19, "'aslr' must be on or off, not 'yes'", "yes", ""),
    ("isolation: {aslr: 'true'}", 19, "'aslr' must be on or off", "'true'", "without quotes"),
    ("isolation: {aslr: On}", 19, "'aslr' must be on or off, not 'On'", "On", ""),
    ("isolation: {nice: 20}", 19, "'nice' must be a whole number from -20 to 19", "20", ""),
    ("isolation: {priority: 5}", 23, "'priority' is only for 'scheduling: fifo'", "5", ""),
    ("isolation: {scheduling: fifo, priority: 98}", 41, "'priority' must be a whole number from 1", "98", ""),
    ("isolation: {cpus: all}", 19, "'cpus' must be auto or none or a whole number", "all", ""),
    ("isolation: {cpus: [1, x]}", 23, "'cpus[1]' must be a whole number", "x", ""),
    ("isolation: {cpus: [1, 1]}", 23, "'cpus[1]' names 1 a second time", "1", ""),
    ("isolation: {cpus: []}", 19, "'cpus' must not be empty", "[", ""),
    ("isolation: {cpus: {a: 1}}", 19, "'cpus' must be auto, none, a CPU number or a list", "{", ""),
    ("isolation: {cpus: '3-2'}", 20, "the range '3-2' of 'cpus' is empty", "3-2", ""),
    ("isolation: {padding: 65537}", 22, "'padding' must be random or off or a whole", "65537", ""),
    ("isolation: {output_limit: 0}", 27, "'output_limit' must be a size", "0", ""),
    ("isolation: {kept_outputs: -1}", 27, "'kept_outputs' must be a size", "-1", ""),
    ("protocol: {build_timeout: 0}", 27, "'build_timeout' must be a duration", "0", ""),
    ("inputs: [[a]]", 10, "'inputs[0]' must be a text, not a list", "[", ""),
    ("isolation: {output_limit: 64 MB}", 27, "'output_limit' must be a size", "64 MB", "write 64MB"),
    ("isolation: {limits: {memory: 0}}", 30, "'memory' must be a size", "0", ""),
    ("isolation: {limits: {pids: 0}}", 28, "'pids' must be a whole number", "0", ""),
    ("isolation: {limits: {nofiles: 3}}", 22, "unknown key 'nofiles' in isolation.limits", "nofiles",
     "did you mean 'nofile'?"),
    ("isolation: {environment: all}", 26, "'environment' must be a mapping of keys", "all", ""),
    ("isolation: {environment: {keep: some}}", 33, "'keep' must be all or none", "some", ""),
    ("isolation: {environment: {set: {A=B: 1}}}", 33, "'A=B' must be a name without '='", "A=B", ""),
    ("checks: {require: [load, loud]}", 26, "'require[1]' must be a known name, not 'loud'", "loud",
     "did you mean 'load'? Known here: governor, turbo"),
    ("checks: {require: load}", 19, "'require' must be a list, not 'load'", "load", "[load]"),
    ("checks: {require: [load], warn: [smt, load]}", 39, "the check 'load' is both required", "load", ""),
    ("hooks: {before: [sync]}", 17, "'before' must be a list of commands, a text or {shell: TEXT}", "[", "[[sync]]"),
    ("hooks: {before: [[sync], sync]}", 26, "'before[1]' must be a list of arguments or", "sync", "[[sync]]"),
    ("hooks: {before: [[]]}", 18, "'before[0]' must not be empty", "[", ""),
    ("hooks: {setup: 'echo {variant}'}", 22, "unknown placeholder '{variant}'", "{variant}", "no variant and no benchmark"),
    ("hooks: {setup: {shell: \"awk '{print $1}'\"}}", 30, "'{print $1}' is not a placeholder",
     "{print $1}", "{{print $1}}"),
    ("hooks: {setup: {}}", 9, "'shell' is missing in hooks.setup", "setup", ""),
    ("hooks: {setup: {shel: x}}", 17, "unknown key 'shel' in hooks.setup", "shel", "'shell'"),
    ("build: make {levle}", 13, "unknown placeholder '{levle}'", "{levle}", "{level}"),
    ("build: echo {benchmark}", 13, "unknown placeholder '{benchmark}'", "{benchmark}", "known here: level, variant"),
    ("build: \"make '\"", 8, "the command cannot be split: no closing quotation", '"make \'"', ""),
    ("build: ' '", 8, "the command is empty", "' '", ""),
    ("build: [[\"\", x]]", 10, "the command begins with an empty text", '""', ""),
    ("baseline: c", 11, "the baseline 'c' is no variant", "c", "known here: a, bee"),
    ("baseline: be", 11, "the baseline 'be' is no variant", "be", "did you mean 'bee'?"),
    ("baseline: [a]", 11, "'baseline' must be a name", "[", ""),
    ("bassline: a", 1, "unknown key 'bassline'", "bassline", "did you mean 'baseline'?"),
    ("sessions: 3", 1, "unknown key 'sessions'", "sessions", "write it below 'protocol'"),
    ("description:", 1, "'description' must be a text, not an empty value", "description", ""),
    ("name: again", 1, "'name' is given twice (first on line 1)", "name", "delete one"),
    ("protocol: {runs: 3, runs: 4}", 21, "'runs' is given twice (first on line 6)", "runs", ""),
    ("seed: &x 3", 7, "the anchor '&x' is not allowed", "&x 3", ""),
    ("seed: !!int 3", 7, "the tag 'tag:yaml.org,2002:int' is not allowed", "!!int 3", ""),
    ("<<: {seed: 3}", 1, "the merge key '<<' is not allowed", "<<", ""),
]  # fmt: skip


INSIDE = [
    ("comand: [x]", 5, "unknown key 'comand' in benchmarks.x", "comand", "'command'"),
    ("tiemout: 5s", 5, "unknown key 'tiemout' in benchmarks.x", "tiemout", "'timeout'"),
    ("levle: 3", 5, "no template uses the value 'levle' of benchmarks.x", "levle", "'level'"),
    ("other: 3", 5, "no template uses the value 'other' of benchmarks.x", "other", "use it as {other}"),
    ("level: [3]", 5, "unknown key 'level' in benchmarks.x", "level", "known here: command"),
    ("free:", 5, "unknown key 'free' in benchmarks.x", "free", ""),
    ("build: make", 5, "unknown key 'build' in benchmarks.x", "build", "belong to the campaign"),
    ("variant: 3", 5, "'variant' cannot be a value: it is the name of the variant", "variant", ""),
    ("a b: 3", 5, "'a b' cannot be the name of a value", "a b", "letters, digits, _ and -"),
    ("cwd: ''", 10, "a path must not be empty", "''", ""),
    ("cwd: a/{leevl}", 12, "unknown placeholder '{leevl}'", "{leevl}", "'{level}'"),
    ("cwd: a{", 11, "the brace '{' stands alone", "{", "'{{'"),
    ("inputs: data", 13, "'inputs' must be a list, not 'data'", "data", "write [data]"),
    ("inputs: ['']", 14, "a path must not be empty", "''", "name a file"),
    ("inputs: ['{leevl}']", 15, "unknown placeholder '{leevl}'", "{leevl}", "'{level}'"),
    ("stdin: [a]", 12, "'stdin' must be a text, not a list", "[", ""),
    ("stdout: discrd", 13, "'stdout' must be file, discard, keep, pipe", "discrd", "'discard'"),
    ("env: {A: [x]}", 14, "'A' must be a text, not a list", "[", ""),
    ("env: {A: }", 11, "'A' must be a text, not an empty value", "A", "give a value"),
    ("env: [A]", 10, "'env' must be a mapping of keys, not a list", "[", ""),
    ("env: {A: '{nope}'}", 15, "unknown placeholder '{nope}'", "{nope}", "known here: level"),
    ("timeout: 10 parsecs", 14, "'timeout' must be a duration", "10 parsecs", ""),
    ("expect: {exit: 256}", 20, "'exit' must be a whole number from 0 to 255", "256", ""),
    ("expect: {exit: [0, -1]}", 24, "'exit[1]' must be a whole number from 0", "-1", ""),
    ("expect: {sha256: abc}", 22, "'sha256' must be 64 hexadecimal digits", "abc", ""),
    ("expect: {regex: '('}", 21, "the regex is wrong: missing )", "'('", ""),
    ("expect: {regx: a}", 14, "unknown key 'regx' in benchmarks.x.expect", "regx", "'regex'"),
    ("expect: {file: '{'}", 21, "the brace '{' stands alone", "{", ""),
    ("metrics: {wall: {regex: (a), unit: s, better: lower}}", 15,
     "the metric 'wall' is always measured", "wall", "another name"),
    ("metrics: {t: {regex: (a), better: lower}}", 15, "'unit' is missing in benchmarks.x.metrics.t", "t", ""),
    ("metrics: {t: {regex: (a), better: lower, unti: s}}", 46,
     "unknown key 'unti' in benchmarks.x.metrics.t", "unti", "'unit'"),
    ("metrics: {t: {regex: (a), unit: s, better: more}}", 48, "'better' must be lower or higher", "more", ""),
    ("metrics: {t: {unit: s, better: lower}}", 18, "'t' needs exactly one of 'regex', 'json', 'hlog' and 'percentiles'",
     "{", ""),
    ("metrics: {t: {regex: a, unit: s, better: lower}}", 26, "the regex needs one group", "a", "(...)"),
    ("metrics: {t: {regex: (a)(b), unit: s, better: lower}}", 26,
     "the regex needs one group for the value, and has 2", "(a)(b)", "(?P<value>...)"),
    ("metrics: {t: {json: 'a[', unit: s, better: lower}}", 25, "the JSON path is wrong", "'a['", "results[*].time"),
    ("metrics: {t: {json: a, from: 'f{', unit: s, better: lower}}", 36, "the brace '{' stands alone", "{", ""),
    ("metrics: {a b: {json: a, unit: s, better: lower}}", 15, "'a b' must be a name", "a b", ""),
    ("matrix: {n: []}", 17, "'n' must not be empty", "[", ""),
    ("matrix: {n: [1, 2]}", 14, "no template uses the value 'n' of benchmarks.x", "n", "{n}"),
    ("matrix: {level: [a b, a_b]}", 5, "the name 'x-a_b' is taken by benchmarks.x", "matrix", ""),
    ("matrix: [1]", 13, "'matrix' must be a mapping of keys, not a list", "[", ""),
    ("matrix: {benchmark: [1]}", 14, "'benchmark' cannot be a value", "benchmark", ""),
]  # fmt: skip


FRAME = """\
name: frame
variants: {a: {level: 1}, bee: {level: 2}}
benchmarks:
  x:
    command: "run {level}"
"""


@pytest.mark.parametrize(
    ("line", "column", "what", "carets", "fix"),
    [*TOP, *((f"    {line}", *rest) for line, *rest in INSIDE)],
)
def test_a_wrong_line_is_reported_alone_and_in_its_place(tmp_path, line, column, what, carets, fix):
    (found,) = problems(tmp_path, f"{FRAME}{line}\n")
    assert found.what.startswith(what)
    assert place(found) == f"6:{column}"
    assert token(found) == carets
    assert fix in (found.fix or "")


def test_a_metric_may_not_have_the_name_of_one_that_energy_counts(tmp_path):
    metric = "{energy_net_j: {regex: (a), unit: J, better: lower}}"
    text = f"{FRAME}    metrics: {metric}\nenergy: "
    (found,) = problems(tmp_path, f"{text}on\n")
    assert found.what == "the metric 'energy_net_j' is measured, by 'energy: on'"
    assert (place(found), token(found)) == ("6:15", "energy_net_j")
    path = tmp_path / "c.yaml"
    path.write_text(f"{text}off\n")
    assert load_campaign(path).cells[0].metrics[0].name == "energy_net_j"  # the program's own


WHOLE = [
    ("just text\n", "1:1", "a campaign is a mapping of keys, not 'just text'"),
    ("- a\n- b\n", "1:1", "a campaign is a mapping of keys, not a list"),
    ("~\n", "1:1", "a campaign is a mapping of keys, not an empty value"),
    ("", "1:1", "the file holds nothing"),
    ("name: n\nvariants: {}\nbenchmarks: {x: {command: p}}\n", "2:11", "'variants' must not be empty"),
    ("name: n\nvariants: [a]\nbenchmarks: {x: {command: p}}\n", "2:11", "'variants' must be a mapping of keys, not a list"),
    ("name: a b\nvariants: {v: }\nbenchmarks: {x: {command: p}}\n", "1:7", "'name' must be a name"),
    ("variants: {v: }\nbenchmarks: {x: {command: p}}\n", "1:1", "'name' is missing"),
    ("name: n\nvariants: {v w: }\nbenchmarks: {x: {command: p}}\n", "2:12", "'v w' must be a name of letters, digits"),
    ("name: n\nvariants: {v: }\nbenchmarks: {x: }\n", "3:14", "benchmark 'x' has no command for variant 'v'"),
    ("name: n\nvariants: {v: {command: p}, w: }\nbaseline: v\nbenchmarks: {x: }\n", "4:14",
     "benchmark 'x' has no command for variant 'w'"),
    ("name: n\nvariants: {v: {k: 1}, w: }\nbaseline: v\nbenchmarks: {x: {command: 'p {k}'}}\n",
     "4:30", "'{k}' has no value for variant 'w' with benchmark 'x'"),
    ("name: n\nvariants: {v: {stdout: discard}}\nbenchmarks:\n  x: {command: p, expect: {regex: a}}\n",
     "4:35", "'regex' looks at stdout, which is discarded"),
    ("name: n\nvariants: {v: }\nbenchmarks: {x: {command: p, stderr: discard, metrics: {t: "
     "{regex: (a), from: stderr, unit: s, better: lower}}}}\n", "3:57",
     "the metric 't' looks at stderr, which is discarded"),
    ("name: n\nvariants: {v: }\nbenchmarks:\n"
     "  x: {command: p, metrics: {t: {json: a, unit: s, better: lower}}}\n"
     "  y: {command: p, metrics: {t: {json: a, unit: ms, better: lower}}}\n", "5:29",
     "the metric 't' is in s, lower is better, elsewhere"),
    ("name: n\nvariants: {v-1: , v: {matrix: {a: [1]}}}\nbaseline: v-1\n"
     "benchmarks: {x: {command: 'p'}}\nhooks: {before: 'e {a}'}\n", "2:23",
     "the name 'v-1' is taken by variants.v-1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "where", "what"), WHOLE)
def test_a_wrong_whole(tmp_path, text, where, what):
    first = problems(tmp_path, text)[0]
    assert (place(first), first.what[: len(what)]) == (where, what)


def test_all_problems_are_told_at_once_in_the_order_of_the_file(tmp_path):
    found = problems(
        tmp_path,
        """\
        name: n
        variants:
          a: {level: 6, tiemout: 3}
          a: {level: 7}
        baseline: b
        benchmarks:
          x: {command: "run {level} {levl}"}
          y: {command: [run, "{"], env: {A: [1]}}
        protocol: {runs: ten, order: no}
        hooks: {setup: "echo {variant}"}
        """,
    )
    assert [(place(p), token(p)) for p in found] == [
        ("3:17", "tiemout"),
        ("4:3", "a"),
        ("5:11", "b"),
        ("7:29", "{levl}"),
        ("8:23", "{"),
        ("8:37", "["),
        ("9:18", "ten"),
        ("9:30", "no"),
        ("10:22", "{variant}"),
    ]


def test_a_mistake_does_not_bring_others_with_it(tmp_path):
    # The templates of what is wrong still use their values; a broken command is not missing.
    text = """\
        name: n
        variants: {a: {level: 6, deep: 1}}
        benchmarks:
          x: {command: ["run", "{level}", [x]]}
          y: {comand: "run {deep}"}
        """
    found = problems(tmp_path, text)
    assert [p.what for p in found] == [
        "'command[2]' must be a text, not a list",
        "unknown key 'comand' in benchmarks.y",
    ]


def test_one_mistake_in_many_cells_is_told_once(tmp_path):
    text = """\
        name: n
        variants: {v: {matrix: {a: [1, 2, 3]}}}
        baseline: v-1
        benchmarks:
          x: {matrix: {b: [1, 2, 3]}, command: ["{a}", "{b}", "{c}"], expect: {regex: '('}}
        """
    assert len(problems(tmp_path, text)) == 2


@pytest.mark.parametrize(
    ("data", "where", "what"),
    [
        (b"name: \xe9\n", "1:7", "byte 0xE9 is not UTF-8"),
        (b"name: n\nx: ab\xff\n", "2:6", "byte 0xFF is not UTF-8"),
        (b"\xef\xbb\xbfname: n\nx: \xcabb\xff\n", "2:4", "byte 0xCA is not UTF-8"),
        ("name: n\n".encode("utf-16"), "1:1", "byte 0xFF is not UTF-8"),
        (b"name: n\nx: a\0b\n", "2:5", "the character U+0000 is not allowed in YAML"),
        (b"name: n\n\tx: 1\n", "2:1", "not valid YAML: found character '\\t'"),
        (b"\xef\xbb\xbfnaem: n\r\nx: 1\r\n", "2:1", "unknown key 'x'"),
    ],
)
def test_wrong_bytes(tmp_path, data, where, what):
    found = [(place(p), p.what[: len(what)]) for p in problems(tmp_path, data)]
    assert (where, what) in found


def unusable(path: Path) -> Problem:
    with pytest.raises(CampaignError) as caught:
        load_campaign(path)
    (problem,) = caught.value.problems
    return problem


def test_a_file_that_cannot_be_read(tmp_path):
    missing = unusable(tmp_path / "missing.yaml")
    assert (missing.what, missing.where) == (
        "there is no such file",
        str(tmp_path / "missing.yaml"),
    )
    assert "fairtrial init" in str(missing)
    assert unusable(tmp_path).what == "this is a directory"
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert "cannot be read" in unusable(loop).what
    file = tmp_path / "file"
    file.touch()
    assert "cannot be read" in unusable(file / "c.yaml").what


def test_a_file_without_permission(tmp_path):
    path = tmp_path / "c.yaml"
    path.touch(mode=0o000)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)  # root may read every file
    try:
        found = unusable(path)
    finally:
        if root:
            os.seteuid(0)
    assert found.what == "the file cannot be read: Permission denied"


def test_a_huge_file_is_refused_unread(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    assert unusable(path).what == "the file is larger than 1 MiB"
    path.write_bytes(b"#" * (MAX_BYTES - 1) + b"\n")
    assert unusable(path).what == "the file holds nothing"


def test_an_endless_file_is_refused():
    assert unusable(Path("/dev/zero")).what == "the file is larger than 1 MiB"


# --- what the rest is held against when a part of the campaign is wrong ------------------------


@pytest.mark.parametrize(
    "part", ["protocol: {runs: ten}", "isolation: {nice: ten}", "counters: [ten]"]
)
def test_a_mistake_where_no_template_stands_hides_no_unused_value(tmp_path, part):
    unused, mistake = problems(
        tmp_path,
        f"""\
        name: n
        description: a text about {{left}} is no template
        variants: {{v: {{left: 3}}}}
        benchmarks: {{x: {{command: [p]}}}}
        {part}
        """,
    )
    assert unused.what == "no template uses the value 'left' of variants.v"
    assert "must be a " in mistake.what


def test_a_value_that_a_mistaken_part_may_use_is_not_called_unused(tmp_path):
    (found,) = problems(
        tmp_path,
        """\
        name: n
        variants: {v: {left: 3}}
        benchmarks: {x: {command: [p], words: [p, "{left}"]}}
        """,
    )
    assert found.what == "unknown key 'words' in benchmarks.x"


@pytest.mark.parametrize("matrix", ["{n: []}", "{n: 3}", "{n: [[1]]}", "{n: [1], m: []}"])
def test_a_parameter_that_is_wrong_is_no_unknown_placeholder_too(tmp_path, matrix):
    (found,) = problems(
        tmp_path,
        f"""\
        name: n
        variants: {{v: }}
        benchmarks: {{x: {{command: [p, "{{n}}", "{"{m}" if "m" in matrix else ""}"], matrix: {matrix}}}}}
        """,
    )
    assert "must" in found.what


@pytest.mark.parametrize("cpus", ["4096", "4000-4096", "[4096]"])
def test_no_cpu_has_a_number_beyond_4095(tmp_path, cpus):
    (found,) = problems(tmp_path, f"{FRAME}isolation: {{cpus: {cpus}}}\n")
    assert "cpus" in found.what
    path = tmp_path / "c.yaml"
    path.write_text(path.read_text().replace("4096", "4095"))
    assert load_campaign(path).isolation.cpus[-1] == 4095
