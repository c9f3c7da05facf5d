"""How numbers are printed, and which number of ``--json`` each column of a table claims to be.

A claim is ``KIND:PATH``: a way of writing, and where the number stands in what the row is about.
"""

from __future__ import annotations

import math
import re
from functools import partial

from analysis.pages.model import text_of

NUMBER = re.compile(r"[<>]?\s?[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?")
SCALES = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "min": 60, "MiB": 2**20}


def near(token, value, *, digits=1, step=math.inf, scale=1.0, way=0):
    """Tell whether a number is `value` to so many significant digits or more, or to a step or finer.

    `way` is 1 where it is rounded up, -1 where down, else 0.
    """
    sign, text = token[0], re.sub(r"[<>\s,]", "", token)
    number = float(text)
    if sign in "<>":
        return number > value * scale if sign == "<" else number < value * scale
    mantissa, _, exponent = text.partition("e")
    own = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    off = (number - value * scale) / own
    if abs(off - way / 2) > 0.5 + 1e-6:
        return False
    if step < math.inf:
        return own <= step * (1 + 1e-9)
    if number == 0:
        return abs(value) < 1e-15
    return own <= 10.0 ** (math.floor(math.log10(abs(number))) - digits + 1) * (1 + 1e-9)


def changed(ratio, better):
    """Give the change that a speedup is: of times 1 / ratio - 1, of rates ratio - 1."""
    return 1 / ratio - 1 if better == "lower" else ratio - 1


def is_change(line, key, better, way=0):
    """Bind a change in percent, no coarser than its interval is wide."""
    if line[key] is None:
        return lambda _: False
    wide = 1.0
    if line["low"] is not None:
        wide = 100 * abs(changed(line["high"], better) - changed(line["low"], better))
    step = min(1.0, max(wide, 0.1))
    return partial(near, value=changed(line[key], better), step=step, scale=100, way=way)


def both_ends(line, better):
    keys = ("high", "low") if better == "lower" else ("low", "high")
    return [is_change(line, key, better, way) for key, way in zip(keys, (-1, 1), strict=True)]


def is_pvalue(p):
    return lambda token: token == "1" if p >= 0.9995 else near(token, p, digits=3)


def is_reliability(x):
    return lambda token: token == "> 0.999" if x >= 0.9995 else near(token, x, step=1e-3)


def is_least_p(_):
    """Bind the least p of some number of exchanges, a power of 2."""
    return lambda token: any(near(token, 2.0**-k) for k in range(40))


KINDS = {
    "n": lambda x: partial(near, value=x, step=1),
    "g": lambda x: lambda token: float(token) == float(f"{x:.3g}"),
    "s1": lambda x: partial(near, value=x),
    "s3": lambda x: partial(near, value=x, digits=3),
    "s4": lambda x: partial(near, value=x, digits=4),
    "d2": lambda x: partial(near, value=x, step=1e-2),
    "d3": lambda x: partial(near, value=x, step=1e-3),
    "d4": lambda x: partial(near, value=x, step=1e-4),
    **{
        kind: lambda x, way=way: (
            lambda token: near(token, x, step=1e-2, way=way) or near(token, x, digits=3, way=way)
        )
        for kind, way in (("x", 0), ("x<", -1), ("x>", 1))
    },
    "p": is_pvalue,
    "r": is_reliability,
    "2^": is_least_p,
    "q": lambda x: (x, 3),  # its unit follows it
    "t": lambda x: (x, 2),  # a time span
    "%": lambda x: partial(near, value=x, digits=2, scale=100),
    "%1": lambda x: partial(near, value=x, scale=100),
    "%3": lambda x: partial(near, value=x, digits=3, scale=100),
    "%.1": lambda x: partial(near, value=x, step=0.1, scale=100),
    "%.2": lambda x: partial(near, value=x, step=1e-2, scale=100),
    "%~": lambda x: lambda token: KINDS["%"](x)(token) or KINDS["%.1"](x)(token),
}


def claims(spec, of):
    """Read claims such as ``n:runs p:mean.pvalue``; ``n:=5`` claims the number itself; None is not told."""
    found = []
    for one in spec.split():
        kind, _, path = one.partition(":")
        value = of
        if path.startswith("="):
            value = float(path[1:])
        else:
            for key in path.split("."):
                value = value[int(key) if isinstance(value, list) else key]
        if value is not None:
            found.append(KINDS[kind](value))
    return found


def fits(text, expected):
    """Tell whether the numbers of a text are exactly these, in this order."""
    text = re.sub(r"(?<= )1/s", "", text.replace("\N{NO-BREAK SPACE}", " "))
    found = list(NUMBER.finditer(text))
    if len(found) != len(expected):
        return False
    for match, one in zip(found, expected, strict=True):
        token, unit = match.group().strip(), re.match(r" ?([^\s,;]*)", text[match.end() :]).group(1)
        if isinstance(one, tuple):
            value, digits = one
            if not near(token, value, digits=digits, scale=1 / SCALES.get(unit, 1)):
                return False
        elif not one(token):
            return False
    return True


# ---- what the rows of a table are about


def half_width(line):
    return math.sqrt(line["high"] / line["low"]) - 1


def label(cell):
    text = text_of(cell)
    return text.partition(" ")[0] if re.match(r"(these|others)\b", text) else text


def lines_of(m):
    """Give the lines of a comparison by the labels of their rows."""
    suite = {"these": m.get("these"), "others": m.get("similar"), "suite": m.get("suite")}
    return {b["name"]: b for b in m["benchmarks"]} | suite


def candidate(d, table):
    one = d["candidates"][int(table.name.rpartition("-")[2]) - 1]
    return one, lines_of(one.get("multilevel") or one)


def verdict(d, table):
    _, lines = candidate(d, table)
    rate = table.columns[3].heading == "speedup"
    for row in table.rows:
        line = lines[label(row[0])]
        means = [
            claims(f"q:mean_{side}", line) if f"mean_{side}" in line else []
            for side in ("baseline", "candidate")
        ]
        spreads = [line.get(f"spread_{side}") or 0 for side in ("candidate", "baseline")]
        middle, ends = [is_change(line, "speedup", d["better"])], both_ends(line, d["better"])
        if rate:
            middle, ends = claims("x:speedup", line), claims("x<:low x>:high", line)
        yield ["", *means, middle, ends, [KINDS["%1"](max(spreads))], "", "any"]


def several(d, table):
    tables = [lines_of(c["multilevel"]) for c in d["candidates"]]
    for row in table.rows:
        cells = []
        for lines in tables:
            line = lines[label(row[0])]
            told = [is_change(line, "speedup", d["better"])]
            cells += (
                [claims("q:mean_candidate", line), told] if "mean_candidate" in line else [told, ""]
            )
        yield [
            "",
            claims("q:mean_baseline", line) if "mean_baseline" in line else "",
            *cells,
            "any",
        ]


def hosts(d, table):
    one, lines = candidate(d, table)
    own, spread = lines_of(one["hosts"]), one["hosts"]["spread"]
    for row in table.rows:
        name = label(row[0])
        here, wide = both_ends(own[name], d["better"]), both_ends(lines[name], d["better"])
        differ = [KINDS["%"](spread[name])] if name in spread else []
        yield ["", [is_change(lines[name], "speedup", d["better"])], here, wide, "", differ, "any"]


def methods(d, table):
    one, _ = candidate(d, table)
    specs = {
        "HPT": "r:reliability",
        "bootstrap": "x:value x<:low x>:high",
        "randomization": "p:pvalue",
    }
    for row, said in zip(table.rows, one["panel"]["methods"], strict=True):
        told = said
        spec, text = specs.get(told["method"]), text_of(row[2])
        if told["method"] == "mixtures":
            spec = "d3:value d3:low d3:high" if "(" in text else "d3:value"
        if "no p below" in text:
            spec += " 2^:=0"
        if "at least" in text:
            spec += " n:required x<:value"
            told = said | one["hpt_speedup"]
        yield ["", "", claims(spec, told) if spec and re.search(r"\d", text) else "any"]


def gate(d, table):
    lines = {c["candidate"]: c["suite"] for c in d["candidates"]}
    if table.name.startswith("benchmarks"):
        _, lines = candidate(d, table)
    better = d["candidates"][0]["better"]
    for row in table.rows:
        line = lines[text_of(row[0])]
        if line["speedup"] is None:
            yield ["", "", "", "", "any"]
            continue
        yield ["", [is_change(line, "speedup", better)], both_ends(line, better), "", ""]


def speedups(d, table):
    for row, one in zip(table.rows, d["benchmarks"], strict=True):
        specs = ["", "n:runs_baseline n:runs_candidate", "x:speedup_min"]
        for of, cell in (("mean", row[4]), ("median", row[6])):
            swapped = ".swapped" * ("swapped" in text_of(cell))
            needs = text_of(cell).startswith("needs")
            specs += [
                f"x:speedup_{of}",
                f"n:{of}.needed_runs" if needs else f"p:{of}{swapped}.pvalue",
            ]
        yield [spec and claims(spec, one) for spec in specs]


def rows(spec, of, *, by=()):
    """Give the claims of a table whose rows are those of a list, in its order or by labelled columns."""
    specs = [one.strip() for one in spec.split("|")]

    def each(d, table):
        listed = [one for one in of(d, table) if one is not None]
        if by:
            known = {tuple(one[key] or "all together" for key in by): one for one in listed}
            listed = [known[tuple(text_of(cell) for cell in row[: len(by)])] for row in table.rows]
        for one, _ in zip(listed, table.rows, strict=False):
            yield [
                one_spec if one_spec in {"", "any"} else claims(one_spec, one) for one_spec in specs
            ]

    return each


def labelled(specs):
    """Give the claims of a table with a label and a text in each row."""

    def each(d, table):
        for row in table.rows:
            spec = specs.get(text_of(row[0]), "any")
            yield ["", "any" if spec == "any" else spec(d)]

    return each


def sides_of(d):
    runs = sorted({*d["interval"]["runs_candidate"], *d["interval"]["runs_baseline"]})
    return [
        KINDS["n"](x)
        for x in (len(d["interval"]["benchmarks"]), *dict.fromkeys((runs[0], runs[-1])))
    ]


def components(d, table):
    key = "share" if table.name.endswith("shares") else "sd"
    told = {}
    for c in d["components"]:
        told.setdefault((c["benchmark"], c["variant"]), {})[c["source"]] = c[key]
    sources = ("benchmark", "session", "benchmark:session", "block", "run")
    kind = KINDS["%1" if key == "share" else "%"]
    for row in table.rows:
        name = text_of(row[0])
        one = told[None if name == "all together" else name, text_of(row[1])]
        yield ["", "", *([kind(one[s])] if s in one else [] for s in sources)]


def nights(d, table):
    named = {f"{s['benchmark']} ({s['variant']})": s for s in d["series"]}
    named |= {s["benchmark"]: s for s in d["series"]}

    def told(one, at):
        if at["speedup"] is None:
            return claims("q:metric_value", at)
        return [KINDS["%~"](changed(at["speedup"], one["better"]))]

    for row in table.rows:
        if table.name == "benchmarks":
            one = named[text_of(row[0])]
            yield ["", [KINDS["n"](len(one["values"]))], told(one, one["segments"][-1]), "", "any"]
            continue
        cells = []
        for column in table.columns[1:]:
            one = named[column.heading]
            at = [v for v in one["values"] if text_of(row[0]) in {v["trial"], v["started_at"][:10]}]
            cells.append(told(one, at[0]) if at else [])
        yield ["", *cells]


def mixtures(d, _):
    for b in d["benchmarks"]:
        for v in b["variants"]:
            best = b["contest"]["best_in_a_single_run"][v["variant"]]["estimate"]
            yield v | {"count": len(v["mixture"]["modes"]), "best": best}


def planned(d, table):
    by = "hosts" if "hosts" in d else "sessions"
    known = {one[by]: one for one in d["table"]}
    return [known[row[0].value] for row in table.rows]


SPREADS = "| n:runs | n:effective | %:spread | %:session_sd | d2:lag_1 | %1:ties | n:far"
PASSES = "| s4:minimum | s4:q1 | s4:median | s4:q3 | s4:maximum | s4:observed | %:iqr"
PILOT = "| %:session_sd | %:run_sd | s3:width | d4:detectable"
OVERALL = "| %.2:gain | x:speedup | %.2:gain_accelerated | x:speedup_accelerated"
TABLES = {
    ("verdict", "benchmarks"): verdict,
    ("verdict", "candidates"): several,
    ("verdict", "hosts"): hosts,
    ("verdict", "alone"): rows(
        "| q:mean | %:half | n:sessions | q:minimum q:maximum | n:runs",
        lambda d, _: [one | {"half": half_width(one)} for one in d["alone"]],
    ),
    ("verdict", "methods"): methods,
    ("gate", "benchmarks"): gate,
    ("gate", "candidates"): gate,
    ("hpt", "rank-table"): rows(
        "| s4:median_candidate | s4:median_baseline | | s4:difference | g:rank",
        lambda d, _: d["benchmarks"],
    ),
    ("speedup-test", "benchmarks"): speedups,
    ("speedup-test", "overall"): rows(
        OVERALL,
        lambda d, _: [
            {key: d[key][of] for key in re.findall(r":(\w+)", OVERALL)}
            for of in ("min", "mean", "median")
        ],
    ),
    ("resample", "five-numbers"): rows(
        PASSES,
        lambda d, _: [
            s | {"iqr": (s["q3"] - s["q1"]) / s["median"]}
            for s in (d.get("distributions") or d)["systems"]
        ],
        by=("name",),
    ),
    ("resample", "test"): labelled(
        {
            "assignments": lambda d: claims(
                "n:assignments" if d["exact"] else "n:resamples n:assignments", d
            ),
            "p, one-sided": lambda d: claims("p:pvalue_candidate p:pvalue_baseline", d),
            "smallest p": lambda d: claims("s3:smallest_pvalue", d),
            "by chance": lambda d: claims("n:=95 s4:null.q025 s4:null.q975", d),
        }
    ),
    ("resample", "interval"): labelled(
        {"interval": lambda d: claims("n:interval.resamples", d), "data": sides_of}
    ),
    ("plan", "plans"): lambda d, table: rows(
        ("n:hosts |" if "hosts" in d else "")
        + "n:sessions | n:runs | t:seconds |"
        + (" t:elapsed_s |" if "hosts" in d else "")
        + " s3:width | d4:detectable",
        planned,
    )(d, table),
    ("plan", "benchmarks"): lambda d, table: rows(
        "| %:host_sd | %:session_sd | %:run_sd" if "lines" in d else PILOT,
        lambda d, _: d.get("lines") or d["benchmarks"],
    )(d, table),
    ("diagnose", "cells"): rows(
        f"| {SPREADS}", lambda d, _: d["cells"], by=("benchmark", "variant")
    ),
    ("diagnose", "host"): rows("| any | p:pvalue_adjusted", lambda d, _: d["host"]),
    ("diagnose", "findings"): rows(
        "| | any | p:pvalue_adjusted",
        lambda d, _: [one for one in d["findings"] if one["benchmark"]],
    ),
    ("diagnose", "hosts"): rows("| | n:sessions | n:runs | n:tests | any", lambda d, _: d["hosts"]),
    ("sources", "components"): components,
    ("sources", "components-shares"): components,
    ("sources", "factors"): rows(
        "| | | | any | x:effect | x<:low x>:high | s3:pvalue | s3:pvalue_adjusted",
        lambda d, _: d["factors"],
        by=("benchmark", "variant", "factor"),
    ),
    ("history", "benchmarks"): nights,
    ("history", "nights"): nights,
    ("mixture", "benchmarks"): rows(
        "| | n:n | n:mixture.components | n:count | p:fit_test.pvalue | r:best", mixtures
    ),
}
