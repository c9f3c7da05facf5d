"""Every number that a command prints is in its ``--json``, by the formula that its place has.

Made trials are judged by each command; its page is what screens are written from. Each number of a
table is bound to its column (`printed_numbers.py`), each number of a sentence to the words around
it. A number that nobody claims fails: only names and dates are taken out before.
"""

from __future__ import annotations

import html
import io
import itertools
import json
import math
import re
import statistics
import sys
from collections import defaultdict
from functools import partial

import pytest
from made_trials import FLEETS, SHAPES, _write_fleet, write_trial
from scipy.stats import t

from analysis import option_groups as arguments, registry
from analysis.data.trial import read_trial
from analysis.pages.model import Section, Sentence, Table, text_of
from analysis.verdict.compare import NamedCommand, answer_of, screen_of
from harness.cli import main
from tests.golden.printed_numbers import (
    KINDS,
    NUMBER,
    SCALES,
    TABLES,
    both_ends,
    claims,
    fits,
    is_change,
    near,
)

# ---- sentences: what the words around a number say it is


def first_of(d):
    """Give the line of the suite, or of the one benchmark, of the first candidate."""
    m = d["candidates"][0]["multilevel"]
    return m["these"] if m["these"] and m["these"]["speedup"] else m["benchmarks"][0]


def tells(text, line, better):
    """Tell whether a sentence holds both ends of an interval, and the change where it is told.

    What is less is below 0; a number without a word has that of the one before.
    """
    found, word = [], re.search("less|more", text)[0]
    for number, after in re.findall(r"(\d+(?:\.\d+)?)(?: %)?(?: (less|more))?", text):
        word = after or word
        found.append(f"-{number}" if word == "less" else number)
    low, high = both_ends(line, better)
    ends = found[-2:] if low(found[-2]) else found[:-3:-1]
    middle = len(found) == 2 or is_change(line, "speedup", better)(found[0])
    return len(found) in {2, 3} and middle and low(ends[0]) and high(ends[1])


def headline(d, match):
    one = d["candidates"][0]
    if d["method"] == "gate":
        return tells(match[0], one["suite"], one["better"])
    line = first_of(d)
    if d["hosts"] and one["hosts"] and not match.string.startswith("on hosts"):
        line = one["hosts"]["these"]
    if named := re.match(r"(\S+) is the ", match.string):
        line = next(c for c in d["candidates"] if c["variant"] == named[1])["multilevel"]["these"]
    return tells(match[0], line, d["better"])


def of_hpt(key, by, spec):
    """Bind what HPT is compared with, under the name that the sentence says."""

    def told(d, match):
        one = next(one for one in d["context"][key] if one[by] == match[1])
        if by == "on" and match[2] != d["candidate"]:
            one = one | {"pvalue": one["pvalue_two_sided"] / 2}
        return claims(spec, d["context"] | one | {"required": d["required"]})

    return told


def proportion(d, match):
    one = d[f"proportion_{match[1]}"]
    more = " n:needed_benchmarks d2:precision" * (one["needed_benchmarks"] is not None)
    spec = "n:accelerated n:total g:share n:=95 d3:low d3:high d3:low_plain d3:high_plain"
    return claims(f"{spec} d3:low_wald d3:high_wald{more}", one)


def significant(d, match):
    found = []
    for of in ("mean", "median"):
        sure = sum(b[of]["significant"] is True for b in d["benchmarks"])
        found += [KINDS["n"](sure), KINDS["n"](len(d["benchmarks"]))]
    spec = "d2:required" + " n:slower.mean n:slower.median" * ("swapped" in match[0])
    return [*found, *claims(spec, d | {"required": d["benchmarks"][0]["required"]})]


def advised(d, match):
    """Bind the sessions or hosts that would decide, and the range that they lie in."""
    one, found = d["candidates"][0], claims("n:=3 n:=4", d) if "3 of 4" in match[0] else []
    m, hosts = one["multilevel"], one.get("hosts")
    lines = [b for b in (*m["benchmarks"], m["these"]) if b]
    for k, line in enumerate(lines):
        more = hosts["more_hosts"][k] if hosts else line["more_sessions"]
        if more is None or f"{line['name']}" not in match[0]:
            continue
        found += claims(f"n:={size(d, of_mean=True)}", d) if line["name"] == "these" else []
        known = claims("n:hosts" if hosts else "n:sessions n:low n:high", more)
        found += known or [lambda token: token == "> 100"]
    return found


def undecided(d, _):
    lines = [
        b for b in d["candidates"][0]["multilevel"]["benchmarks"] if b["outcome"] == "undecided"
    ]
    apart = sum(one["more_sessions"]["runs_suffice"] is False for one in lines)
    return [KINDS["n"](apart), KINDS["n"](len(lines))]


def wins(d, match):
    place = [one["name"] for one in d["distributions"]["systems"]].index(match[1])
    return [KINDS["%3"](d["distributions"]["wins"][place][1 - place])]


def costs(d, match):
    runs = [f"n:={x}" for x in sorted(set(d.get("pilot_runs", ())))]
    head = ["n:pilot_hosts" if "hosts" in d else "", "n:pilot_sessions", *runs]
    between = " t:costs.between_s" * ("between" in match[0])
    return claims(f"{' '.join(head)} t:costs.block_s t:costs.warmup_s{between}", d)


def quartiles(d, _):
    by = "hosts" if "hosts" in d else "sessions"
    same = d[f"{by}_low"] == d[f"{by}_high"]
    return claims(f"n:pilot_{by} n:{by}_low" + f" n:{by}_high" * (not same), d)


def far_run(d, match):
    """Bind a run that is named, among those of its number in that session."""
    told = [
        one
        for one in d["far_runs"]
        if [str(one[key]) for key in ("session", "run")] == [*match.groups()]
    ]
    return any(fits(match[0], claims("n:session n:run d2:ratio", one)) for one in told)


def inside(d, match):
    """Bind what lies on each source, of the variance without that of benchmarks."""
    known = {
        c["source"]: c["share"]
        for c in d["components"]
        if (c["variant"], c["benchmark"]) == (match[1], None)
    }
    sources = ("session", "benchmark:session", "block", "run")
    total = sum(known[source] for source in sources)
    return [KINDS["%1"](known[source] / total) for source in sources]


def fitted(d, _):
    several = sum(v["mixture"]["components"] > 1 for b in d["benchmarks"] for v in b["variants"])
    spec = f"n:={len(d['benchmarks'])} n:samples n:={several} n:samples n:rejected n:tested n:=5 n:resamples"
    return claims(spec, d["corpus"] | d["options"])


def shapes(d, _):
    samples, modes = d["corpus"]["samples"], {int(k): v for k, v in d["corpus"]["modes"].items()}
    shares = (*(modes.get(k, 0) for k in (1, 2, 3)), sum(v for k, v in modes.items() if k > 3))
    spec = "g:median g:upper_quartile n:largest"
    return [
        *claims(spec, d["corpus"]["components"]),
        *(KINDS["%3"](x / samples) for x in shares if x),
    ]


def size(d, *, of_mean=False):
    """Count the benchmarks that something is said of."""
    if "benchmarks" in d:
        return len(d["benchmarks"])
    if "candidates" in d:
        one = d["candidates"][0]
        known = (one.get("multilevel") or one)["benchmarks"]
        return sum(not of_mean or line.get("speedup", 1) is not None for line in known)
    return len((d.get("distributions") or d)["systems"][0]["benchmarks"])


def n(of):
    return lambda d, match: [
        KINDS["n"](x) for x in ((of(d),) if isinstance(of(d), (int, float)) else of(d))
    ]


def judged(d):
    return sum(one["judged"] for one in d["hosts"])


def distinct(d):
    factors = {f["factor"] for f in d["factors"] if f["pvalue"] is not None}
    return len(factors), len({(f["benchmark"], f["variant"]) for f in d["factors"]})


def best(d, match):
    return [
        KINDS["n"](sum(b["contest"]["best"] == match[1] for b in d["benchmarks"])),
        KINDS["n"](size(d)),
    ]


NONE = None  # no results: limits of a method, figures of the literature, the line itself
COMMON = [
    (
        r"\(ops\) |, in 1/s|slower>1%|a \(1 - a/b\) > 5|\(1 - p, not the chance|interval holds 1$",
        NONE,
    ),
    (r"ratio so far from 1 with|and \d+ (?:more|less surprising)\b.*", NONE),
    (
        r"(?:these|this) \d+ benchmarks?|if these \d+ were",
        n(lambda d: size(d, of_mean=True)),
    ),
    (r"of each of \d+ bench\w+|passes over \d+ benchmarks?", n(size)),
    (
        r"the \d+ % allowed|: \d+ % is neither",
        lambda d, _: [KINDS["s1"](100 * (1 / d["limit"] - 1))],
    ),
    (r"within [\d.]+ %|the margin of [\d.]+ %", lambda d, _: [KINDS["%1"](d["margin"])]),
]
SAID = {
    "verdict": [
        (r"on these \d+ hosts|made on \d+|takes \d+ hosts", n(judged)),
        (r"of \d+ hosts", n(lambda d: len(d["hosts"]))),
        (
            r"\d+ hosts x \d+ sessions x \d+ runs",
            n(lambda d: (judged(d), d["sessions"] / judged(d), d["session_runs"][0])),
        ),
        (r"fastest of \d+", n(lambda d: len(d["candidates"]) + 1)),
        (r"^would decide in 3 of 4 cases at least.*|^\S+: > 100 more sess.*", advised),
        (r"(takes|does) [\d.]+ % (less|more).*%\)|is the +: .*%\)|it lies between.*", headline),
        (r"\([\d.]+ % (less|more) to .*\)|: \d.*% less time|between \d+ % .*", headline),
        (r"\d+ sessions? x .*runs?", n(lambda d: (d["sessions"], *sorted(set(d["session_runs"]))))),
        (r"(?:takes|draws) \d+ sessions", "n:sessions"),
        (r"look \d+$", "n:looks"),
        (r"^\d+ runs count", "n:runs"),
        (r"\d+ warm-up runs?", "n:warmups"),
        (r"\d+ failed runs?", "n:failed"),
        (r"corrected for \d+ b|correction for \d+|Friedman counts \d+ benchmarks", n(size)),
        (r"corrected for \d+ c", n(lambda d: size(d) * len(d["candidates"]))),
        (r"no speedup has reliability [\d.]+", "d2:candidates.0.hpt_speedup.required"),
        (
            r"speedup of at least [\d.]+x has reliability [\d.]+",
            lambda d, _: claims(
                "d2:least d2:required",
                (h := d["candidates"][0]["hpt_speedup"])
                | {"least": math.floor(100 * h["value"]) / 100},
            ),
        ),
        (
            r"a suite of \d+ reaches at most [\d.]+",
            lambda d, _: claims(
                f"n:={(k := sum(b['speedup'] is not None for b in d['candidates'][0]['multilevel']['benchmarks']))} d3:={1 - 2.0**-k}",
                d,
            ),
        ),
        (r"not do: \d+ of \d+ undecided", undecided),
        (r"no p lies below \S+", "2^:=0"),
        (r"different in 31 to 41 % of trials|from 31 runs on it would", NONE),
    ],
    "gate": [
        (r"(takes|does) [\d.]+ % (less|more)[^(]*\([^)]*\)|takes between.*?time", headline),
        (
            r"\(\d+ of \d+ candidates pass\)",
            n(
                lambda d: (
                    sum(c["outcome"] == "passed" for c in d["candidates"]),
                    len(d["candidates"]),
                )
            ),
        ),
    ],
    "hpt": [
        (r" at [\d.]+:", "d2:required"),
        (
            r"HPT reliability \S* ?[\d.]+, the opposite [\d.]+",
            lambda d, _: claims("r:confidence r:other", d | {"other": 1 - d["pvalue_baseline"]}),
        ),
        (r" : HPT reliability >? ?[\d.]+", "r:confidence"),
        (
            r"no speedup has HPT reliability [\d.]+; at most [\d.]+ is",
            lambda d, _: claims(
                "d2:required d3:most",
                d
                | {"most": max(d["r_speedup"]["curve"]["at"] + d["r_speedup"]["curve"]["between"])},
            ),
        ),
        (
            r"largest speedup with HPT reliability .*",
            lambda d, _: claims(
                "d2:required d3:least r:attained_confidence d2:required",
                (r := d["r_speedup"]) | {"least": math.floor(1000 * r["value"]) / 1000},
            ),
        ),
        (
            r"signed ranks.*",
            lambda d, _: claims(
                f"g:rank_sum_candidate g:rank_sum_baseline n:={size(d)} p:pvalue p:pvalue_baseline",
                d,
            ),
        ),
        (
            r"geometric mean of (\w+): \S+, HPT reliability >? ?[\d.]+$",
            of_hpt("geometric_means", "of", "x:speedup r:confidence"),
        ),
        (
            r"geometric mean of (\w+): .* from the .*",
            of_hpt("geometric_means", "of", "x:speedup r:confidence %.1:speedup_error d2:required"),
        ),
        (
            r"paired t on ([a-z ]+): p .* for (\S+), .*",
            of_hpt("paired_t", "on", "p:pvalue d2:required s4:low s4:high"),
        ),
    ],
    "speedup-test": [
        (r"the speedup of the mean is significant.*", significant),
        (r"accelerated in (mean|median): .*", proportion),
    ],
    "resample": [
        (r"is [\d.]+ times as fast", "s4:ratio"),
        (r"p [=<] \S+?(?= |,) \(± (\S+)\)", "p:pvalue s1:pvalue_error"),
        (r"p [=<] \S+?(?= |,)", "p:pvalue"),
        (
            r": \S+x, 95 % interval \[.*\]",
            "d3:interval.ratio n:=95 d3:interval.low d3:interval.high",
        ),
        (r"truth in [\d.]+ %", "%3:interval.known_coverage"),
        (r"one pass over the suite with (\S+) is faster in \S+ %", wins),
        (r"^seed \d+", "n:=1"),
        (
            r"has the median .* half",
            lambda d, _: claims(
                "s4:median s4:q1 s4:q3", (d.get("distributions") or d)["systems"][0]
            ),
        ),
        (r"there is one round only.*|measure 3 or more", NONE),
    ],
    "plan": [
        (
            r"a 95 % interval of width.*",
            lambda d, _: claims(
                "n:=95 d2:width"
                + " n:hosts" * ("hosts" in d)
                + " n:sessions n:runs t:seconds"
                + " t:elapsed_s" * ("hosts" in d),
                d,
            ),
        ),
        (r"as well as .*", quartiles),
        (r"^from \d+ (?:sessions|hosts).*", costs),
    ],
    "diagnose": [
        (
            r"\d+ runs of \d+ cells in \d+ sessions?",
            n(lambda d: (d["runs"], len(d["cells"]), d["sessions"])),
        ),
        (
            r"by \d+ tests? \(at most [\d.]+ % of clean trials",
            lambda d, _: claims("n:tests %.1:risk", d | {"risk": 1 - d["confidence"]}),
        ),
        (r"^far runs: \d+", n(lambda d: len(d["far_runs"]))),
        (r"session (\d+), run (\d+): [\d.]+x", far_run),
        (r"[\d.]+ % of the runs share", lambda *_: [KINDS["%3"](1.0)]),
        (r"on \d+ hosts", n(lambda d: sum(h["runs"] > 0 for h in d["hosts"]))),
        (r"a cell needs 10 runs|under 10 runs: .*", NONE),
    ],
    "sources": [
        (r"^(\S+), benchmarks aside: .*", inside),
        (r"\d+ factors in \d+ cells", n(distinct)),
        (r"family-wise risk \d+ %", lambda d, _: [KINDS["%1"](1 - d["confidence"])]),
    ],
    "history": [
        (r"^\D*\d+ nights?.*:", n(lambda d: max(len(s["values"]) for s in d["series"]))),
        (r"· \d+ nights?", "n:nights"),
        (
            r"· \d+ baselines?",
            n(lambda d: len({s["baseline"] for s in d["series"] if not s["ends"]} - {None})),
        ),
        (r" 8 are needed", NONE),
    ],
    "mixture": [
        (r"^\d+ benchmarks.*", fitted),
        (r"^components: .*", shapes),
        (r"most likely .* run: (\S+) on \d+ of \d+", best),
    ],
}

# ---- the trials, and what each command tells of them

PAIRS = ["pair", "again", "reverse", "close", "equal", "same", "single", "small", "tiny", "one-benchmark", "many", "failing", "always-failing", "metrics", "coarse", "constant"]  # fmt: skip
OTHERS = ["three", "one-variant", "fleet", "fleet-missing"]
REFUSED = {"again": ("history",), "one-variant": ("gate", "hpt", "speedup-test")}
DEAR = {
    "plan": ("pair", "failing", "fleet"),
    "sources": ("failing",),
    "mixture": ("pair", "metrics"),
}


def lines_of(name):
    """Give the command lines that are executed on a trial."""
    sides = [f"{name}:new", f"{name}:old"] if name == "three" else [name]
    yield ["verdict", name, "--explain"]
    yield ["gate", "slower>1%", name]
    yield ["hpt", *sides]
    yield ["speedup-test", *sides]
    yield ["resample", *sides, "--seed", "1", "--resamples", "400"]
    yield ["diagnose", name]
    yield ["history", name, "again"]
    further = {
        "plan": ["plan", *sides, "--seed", "1", "--max-runs", "9"],
        "sources": ["sources", name, "--resamples", "99", "--workers", "1", "--seed", "1"],
        "mixture": ["mixture", name, "--resamples", "20", "--seed", "1", "--json"],
    }
    yield from (words for command, words in further.items() if name in DEAR[command])


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    folder = tmp_path_factory.mktemp("printed")
    for name in (*PAIRS, *OTHERS):
        if name in SHAPES:
            write_trial(folder / name, SHAPES[name], name)
        else:
            _write_fleet(folder / name, *FLEETS[name])
    return folder


@pytest.fixture
def told(trials, monkeypatch):
    """Give the page and the JSON of a command's result."""
    found = []
    for one in registry.commands().values():
        registry.load(one.module)
    shown = arguments.show
    for module in [*sys.modules.values()]:
        if getattr(module, "show", None) is shown:
            monkeypatch.setattr(module, "show", lambda result, *_, **__: found.append(result))
    monkeypatch.chdir(trials)

    def tell(words):
        found.clear()
        main(words, io.StringIO(), io.StringIO())
        return [(one.screen(), json.loads(json.dumps(one.to_dict()))) for one in found]

    return tell


def blocks_of(section):
    for one in section:
        if isinstance(one, Section):
            yield from [Sentence(one.title)] * bool(one.title)
            yield from blocks_of(one.blocks)
        elif isinstance(one, (Table, Sentence)):
            yield one


def wrong_in(table, command, d):
    """Name the cells of a table that are not what their column claims."""
    named = TABLES[command, re.sub(r"-\d+$", "", table.name)]
    for row, specs in zip(table.rows, named(d, table), strict=True):
        for cell, claimed in itertools.zip_longest(row, specs, fillvalue=""):
            text = text_of(cell)
            if claimed in ("", "any") or not re.search(r"\d", text):
                continue
            if not fits(text, claimed):
                yield f"{command}: {table.name}: {[text_of(one) for one in row]}: {text}"


def names_in(d):
    """Give the names with digits in them, the longest first."""
    found, keys = set(), {"trial", "name", "host", "benchmark", "variant", "first_at"}
    left = [d]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            found |= {
                one[key][:10] if key == "first_at" else one[key]
                for key in keys & one.keys()
                if isinstance(one[key], str)
            }
            if d["method"] == "history" and isinstance(one.get("host"), list):
                found |= {*one["host"]}
        left += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return sorted((name for name in found if re.search(r"\d", name)), key=len, reverse=True)


def wrong_in_words(text, command, d):
    """Name what is left of a sentence with a number that no words bind, or that is another one."""
    rest = text.replace("\xa0", " ")
    for name in names_in(d):
        rest = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "NAME", rest)
    for pattern, formula in (*COMMON, *SAID[command]):
        for match in [*re.finditer(pattern, rest)]:
            if isinstance(formula, str):
                held = claims(formula, d)
            else:
                held = formula is NONE or formula(d, match)
            if not (held if isinstance(held, bool) else fits(match.group(), held)):
                yield f"{command}: {match.group()!r} in {text!r}"
            rest = rest.replace(match.group(), " ")
    if re.search(r"\d", rest):
        yield f"{command}: nobody claims {rest!r}"


@pytest.mark.parametrize("name", [*PAIRS, *OTHERS])
def test_each_number_is_in_the_json_by_the_formula_of_its_place(name, told):
    wrong = []
    for words in lines_of(name):
        pages = told(words)
        assert bool(pages) != (words[0] in REFUSED.get(name, ())), words
        for page, d in pages:
            for block in blocks_of(page.sections):
                if isinstance(block, Table):
                    wrong += wrong_in(block, words[0], d)
                else:
                    wrong += wrong_in_words(block.text, words[0], d)
    assert wrong == []


# ---- the report: its numbers stand as text and value, and in the tables of its page

REPORTED = ("pair", "three", "metrics", "one-variant", "failing")


def values_of(data, key=""):
    """Give all numbers with the key that they stand under."""
    if isinstance(data, dict):
        if data.keys() == {"text", "value"}:
            yield key, data["text"].replace("\xa0", " "), data["value"]
        for name, value in data.items():
            yield from values_of(value, name)
    elif isinstance(data, list):
        for value in data:
            yield from values_of(value, key)


def shows(text, value, key):
    """Tell whether a text shows its value: shares in percent, quantities in their unit, ratios to a hundredth."""
    number, unit = NUMBER.search(text).group().strip(), text.split()[-1]
    if key == "pvalue":
        return KINDS["p"](value)(number)
    scale = 100 if unit == "%" else 1 / SCALES.get(unit, 1)
    if isinstance(value, int):
        return KINDS["n"](value)(number)
    last = 10.0 ** -len(number.partition(".")[2])  # an end of an interval is rounded outward
    if key in {"low", "high", "rows"} and abs(value * scale - float(number)) < last:
        return True
    return near(number, value, digits=2, scale=scale) or near(number, value, step=0.01, scale=scale)


INTERVAL = ("speedup", "low", "high")


def halves_of(trial, metric):
    """Compute half the width of each side's own interval: t over the means of its sessions' logs."""
    logs = defaultdict(lambda: defaultdict(list))
    for line in (trial / "measurements.jsonl").read_text().splitlines():
        row = json.loads(line)
        if not row["warmup"] and row["outcome"] == "ok":
            values = [row["wall_ns"]] if metric == "wall" else row["metrics"][metric]
            logs[row["variant"], row["benchmark"]][row["session"]] += map(math.log, values)
    found = {}
    for cell, sessions in logs.items():
        means = [statistics.fmean(one) for one in sessions.values()]
        error = statistics.stdev(means) / math.sqrt(len(means))
        found[cell] = math.expm1(t.ppf(0.975, len(means) - 1) * error)
    return found


@pytest.mark.parametrize("name", REPORTED)
def test_a_report_tells_the_verdict_s_numbers_and_half_of_each_interval(name, told, trials):
    verdicts = [d for _, d in told(["verdict", name])]
    out = io.StringIO()
    main(["report", name, "--format", "json"], out, io.StringIO())
    report = json.loads(out.getvalue())
    for page in ("brief", "answer", "parts", "suite", "happened"):
        for key, text, value in values_of(report[page]):
            assert (value is None) == (not re.search(r"\d", text)), (page, key, text)
            assert value is None or shows(text, value, key), (page, key, text, value)
    for verdict, brief, answer in zip(verdicts, report["brief"], report["answer"], strict=True):
        halves = halves_of(trials / name, verdict["metric"])
        lines = {
            (c["variant"], b["name"]): b
            for c in verdict["candidates"]
            for m in [c["multilevel"]]
            for b in (*m["benchmarks"], m["these"], m["similar"])
        }
        known = [*halves.values()]
        for one in lines.values():
            known += [one.get(key) for key in ("mean_candidate", "mean_baseline", *INTERVAL)]
        for variant, row in [(c["variant"], row) for c in brief["candidates"] for row in c["rows"]]:
            line = lines[variant, row["name"]]
            assert all(row[key]["value"] == line[key] for key in INTERVAL)
            assert row["outcome"] == line["outcome"]
            for side, own in (("candidate", variant), ("baseline", verdict["baseline"])):
                told_half = (row[side] or {}).get("half") or {"value": None}
                if told_half["value"] is not None:
                    assert row[side]["mean"]["value"] == line[f"mean_{side}"]
                    assert told_half["value"] == pytest.approx(halves[own, row["name"]], rel=1e-9)
        for row in brief["alone"]:
            half = halves[verdict["baseline"], row["benchmark"]]
            assert row["half"]["value"] == pytest.approx(half, rel=1e-9)
            known += [row[key]["value"] for key in ("mean", "low", "high", "runs")]
        assert set(verdict["caution_codes"]) <= set(report["caution_codes"])
        # the answer's tables are of the same numbers
        for _, text, value in values_of(answer):
            assert value is None or any(
                one is not None and value == pytest.approx(one, rel=1e-9) for one in known
            ), (name, text, value)


def test_every_number_in_the_tables_of_the_page_is_one_of_the_report_s_json(trials, tmp_path):
    out, page = io.StringIO(), tmp_path / "r.html"
    main(["report", str(trials / "pair"), "--format", "json"], out, io.StringIO())
    main(["report", str(trials / "pair"), "-o", str(page)], io.StringIO(), io.StringIO())
    known = {
        token.lstrip("<>-+ ") for token in NUMBER.findall(out.getvalue().replace("\\u00a0", " "))
    }
    cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", page.read_text(), re.DOTALL)
    texts = [re.sub(r"<svg.*?</svg>|<[^>]*>", " ", cell, flags=re.DOTALL) for cell in cells]
    told = [
        token
        for text in texts
        for token in NUMBER.findall(html.unescape(text).replace("SHA-256", ""))
    ]
    assert len(told) > 200
    assert [token for token in told if token.lstrip("<>-+\xa0 ") not in known] == []


# ---- the screen of a stored comparison


@pytest.mark.parametrize("name", ["one-benchmark", "small"])
def test_the_screen_of_a_comparison_tells_its_json(name, trials):
    trial = read_trial(trials / name)
    variants = trial.manifest.variants
    named = [NamedCommand(command=f"./{one}", variant=one, name=None) for one in variants]
    answer = answer_of(trial, named, seconds=1.2)
    d, lines = json.loads(json.dumps(answer.to_dict())), screen_of(answer).splitlines()
    line = d["candidates"][0]["multilevel"]["benchmarks"][0]
    sentence, rest = " ".join(lines[:2]).replace("\xa0", " ").split(";")
    assert tells(sentence.partition("takes")[2], line, "lower"), sentence
    told = claims("n:runs_candidate n:sessions", line)
    assert fits(rest, [*told, partial(near, value=d["measuring_s"], digits=2)])
    for one, row in zip((d["baseline_times"], *d["candidates"]), lines[4:], strict=False):
        cells = [cell.replace("\xa0", " ") for cell in re.split(r"  +", row)[1:]]
        keys = (("mean",), ("spread",), ("user",), ("system",), ("min", "max"))
        for cell, names in zip(cells, keys, strict=False):
            unit = cell.split()[-1]
            scale = 100 if unit == "%" else 1 / SCALES[unit]
            for number, key in zip(NUMBER.findall(cell), names, strict=True):
                assert near(number.strip(), one[key], scale=scale), (row, key)
        if one is not d["baseline_times"]:
            assert is_change(line, "speedup", "lower")(f"-{NUMBER.search(cells[5])[0].strip()}"), (
                row
            )
