"""Each command once where nothing of the product is imported yet, and each option once.

A fork of a process that has imported everything cannot show a module that is imported nowhere, or too late, or a
default that only a start reads. So the first row is a new interpreter, the first of each command a fork of a
process that has imported only what other people wrote; all other rows are forks of the warm process. A row is
the exit codes that are right, and the words.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import runpy
import shlex
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.registry import commands
from harness.commands.command_parser import parser_of
from tests.forks import Forks

handmade = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "handmade_bundle.py")))

TABLE = """
0   --version
0   help exit-codes
0,2 completion bash --json -q
0   init new.yaml --json -q
0,3 doctor c.yaml --strict --probe 1ms --dir elsewhere --json -v
0,3 doctor -q
0   tune --dry-run --yes --offline-sibling --for c.yaml --json -v
2   tune --undo --dry-run -q
0   run c.yaml --resume --trial runs/new --seed 3 --built --wait-for-lock=9 --share --json -v
0   run c.yaml --resume --trial runs/more --accept-drift --sessions +1 -q
3   run required.yaml --strict --dir elsewhere
0   run c.yaml --dry-run --probe
0   run c.yaml --only one:a
0   compare true 'exit 0' --shell -n a -n b --runs 1 --sessions 2 --warmup 0 --timeout 99 --stdin old.csv --prepare true --exit 0 --cpus none --seed 3 --dir compared --wait-for-lock=9 --share --json -v
2   compare true true -q --runs 0
0,1 compare true 'sleep 0.001' --baseline true --cpus none --wait-for-lock=60 --for 1s --margin 5% --open -i -N -u ms -m 2 -M 60 --setup true --cleanup true --style basic --output null --sort command --export-json h.json --export-csv h.csv --export-markdown h.md --dir timed -q
0   compare -L n 1,2 'echo {n}' -S sh -r 2 --cpus none --wait-for-lock=60 --dir timed -q
0   compare --try true
0   compare -P n 1 3 -D 1 'echo {n}' --counters -r 2 --cpus none --wait-for-lock=60 --dir timed -q
2   compare --resume --for 1s --dir nowhere -q
2   bisect v1 v2 --campaign c.yaml --benchmark one --metric wall --warmup-iterations 3 --variant a --margin 0.01 --risk 0.05 --looks 6,12 --sessions-max 9 --all --dir runs --work-dir w --dry-run --strict --why --wait-for-lock=9 --share --json -v
2   bisect --resume --dir runs --format md -q
2   why runs/one:b --benchmark one --stored --rename a=b --any --require --json -q
2   why runs/one:b --benchmark absent --sessions 1 --frequency 999 --chains fp --folded f --wait-for-lock=9 --format md -v
0   status --dir runs --diff runs/two --json -q
0,2,3 submit c.yaml --hosts lab1 --partition p --time 1:00 --build once --dry-run --seed 4 --dir fleet --wait-for-lock=9 --json
2   submit c.yaml --count 2 --dry-run --resume -q
5   cancel runs/one --json -q
0   reproduce a.zip -C unpacked --md --max-entries 99 --max-bytes 99M --timeout 99 --max-memory 9G -q
0,1,7 reproduce a.zip --rerun --yes-execute --sessions 2 --trial t --metric wall --confidence 0.9 --share --wait-for-lock=9 --json -v
0   verdict runs/one --variant b --benchmark one --explain --margin 0.05 --correction holm --weight one=2 --looks 3 --certificate certificate.json --warmup-iterations 0 --metric wall --confidence 0.9 --json
7   verdict new.csv old.csv --better lower --layout rows --decimal point --level process --conf-level 0.9 --gate 'slower>900%' --allow-missing
0   verdict runs/one --always-valid --all
0   verdict runs/one --pairs
0   verdict runs/one --ratio
0   verdict runs/one --rank
2   verdict long.csv --columns value=absent -q
0,7 gate 'slower>900%' runs/one --variant b --allow-missing=two --on suite --warmup-iterations 0 --metric wall --confidence 0.9 --looks 3 --junit j.xml --summary s.md --annotations github
7   gate 'slower>900%' new.csv old.csv --better lower --layout rows --decimal point --level process --conf-level 0.9 --json
2   gate 'slower>900%' new.csv old.csv --better lower --always-valid --columns value=absent -q
0,7 history runs/one runs/two --benchmark one --variant b --warmup-iterations 0 --metric wall --risk 0.1 --correction bh --independent --since yesterday --gate 'slower>900%' --allow-missing --horizon 50 -o history.html --json
0   history runs/one runs/two --plain --format md
2   history runs/one --better lower --columns value=absent -q
0   hpt new.csv old.csv --better lower --layout rows --decimal point --level process --alpha 0.1 --speedup 1.01 --ties exact --scores raw --alternative two-sided --others --names new old --confidence 0.9 --json
0   hpt runs/one --warmup-iterations 0 --metric max_rss --conf-level 0.9
2   hpt new.csv old.csv --better lower --benchmark absent --exclude absent --columns value=absent -q
0   speedup-test new.csv old.csv --better lower --layout rows --decimal point --level process --confidence 0.9 --weight equal --precision 0.2 -o speedups --steps
0   speedup-test runs/one --warmup-iterations 0 --metric max_rss --conf-level 0.9 --search --compatible --json
0   speedup-test new.csv old.csv --better lower --original
2   speedup-test new.csv old.csv --better lower --benchmark absent --exclude absent --columns value=absent -q
0   resample new.csv old.csv --also newer.csv --better lower --layout rows --decimal point --level process --mean harmonic --centre median --alternative candidate --unit run --interval bca --confidence 0.9 --sides lower --resamples 99 --seed 1 --plot r.svg --json
2   resample new.csv old.csv --better lower --benchmark absent --exclude absent --columns value=absent
0   resample new.csv old.csv --better lower --compare --mean all --resamples 99
0   resample runs/one --warmup-iterations 0 --metric max_rss --draws run --conf-level 0.9 --resamples 99 -q
2   mixture new.csv --exclude absent --columns value=absent
0   mixture runs/sample --benchmark text --warmup-iterations 0 --metric user --below 0.02 --quantile 0.9 --shift 0.001 --max-components 2 --resamples 5 --scale log --starts 2 --resolution 0.0001 --jitter --seed 1 --workers 2 --backend threads --digits 3 --clusters --plot m.svg --confidence 0.9 --json
0   mixture runs/sample --benchmark text --and max_rss --and user
2   mixture new.csv --better lower --layout rows --decimal point --level process --conf-level 0.9 --workers 2 --dask nowhere -q
0   diagnose old.csv --normality --estimators --clt --better lower --layout rows --decimal point --level process --confidence 0.9 --risk 0.1 --seed 1 --json
0   diagnose runs/one --warmup-iterations 0 --metric max_rss --conf-level 0.9
2   diagnose long.csv --columns value=absent -q
0   calibrate runs/one --pair a,b --methods welch --power 0.9 --dir certificates --warmup-iterations 0 --metric max_rss --confidence 0.9 --seed 1 --workers 2 --backend threads --json
2   calibrate runs/one --no-certificate --conf-level 0.9 --workers 2 --dask nowhere --columns value=absent -q
0   plan new.csv old.csv --better lower --layout rows --decimal point --level process --confidence 0.9 --within-session --interval t --simulations 100 --max-runs 9 --power 0.9 --width 0.05 --seed 1 --json
0,6 plan runs/one --effect 1.2 --on suite --max-sessions 9 --warmup-iterations 0 --metric max_rss --conf-level 0.9
2   plan runs/one --max-hosts 9 --columns value=absent -q
0   study power old.csv --better lower --layout rows --decimal point --level process --runs 3 --shift 2 --shifted 0 --alternative candidate --alpha 0.1 --unit run --draws run --simulations 3 --resamples 19 --seed 1 --workers 2 --backend threads --json
0   study power old.csv --better lower --runs 2,3 --shift-by 0.1 --shifted 0,1 --without-replacement --simulations 3 --resamples 19 --plot p.svg
0   study draw new.csv old.csv --better lower --runs 3 --alpha 0.01,0.1 --speedup 1.1 --simulations 3 --resamples 19 --plot d.svg --json
0   study coverage runs/one:a --warmup-iterations 0 --metric wall --mean harmonic --runs 3 --simulations 3 --resamples 19
2   study type1 old.csv --better lower --runs 3 --workers 2 --dask nowhere --columns value=absent -q
0   sources runs/sample --warmup-iterations 0 --metric user --resamples 99 --confidence 0.9 --seed 1 --workers 2 --backend threads --json
0   sources systems.csv --response time --group family --test-share 0.2 --ignore system,cores --variation time2 --runs 3 --decimal point --plot s.svg --conf-level 0.9
0   sources systems.csv --benchmarks time --flags flags --test-share 0.3 --resamples 20 --ignore system,time2
2   sources runs/one --workers 2 --dask nowhere --columns value=absent -q
0   report runs/one -o p.html --plots plots --sources --width 85mm --font-size 7 --font-family 'DejaVu Sans' --variant b --benchmark one --margin 0.05 --correction holm --weight one=2 --looks 3 --certificate certificate.json --warmup-iterations 0 --metric wall --confidence 0.9
0   report new.csv old.csv --better lower --layout rows --decimal point --level process --conf-level 0.9 --format csv --guard
2   report new.csv old.csv --better lower --always-valid --format md --columns value=absent --json -q
0   plot forest runs/one -o f.svg --data d.csv --width 85mm --font-size 7 --font-family 'DejaVu Sans' --variant b --benchmark one --margin 0.05 --correction holm --weight one=2 --looks 3 --certificate certificate.json --warmup-iterations 0 --metric wall --confidence 0.9
0   plot shares new.csv old.csv newer.csv -o k.svg --better lower --scale correlation --json
0   plot box new.csv old.csv -o g.svg --better lower --layout rows --decimal point --level process --conf-level 0.9
2   plot forest new.csv old.csv -o h.svg --better lower --always-valid --columns value=absent -q
0,1,7 diff runs/one runs/two --warmup-iterations 0 --metric wall --confidence 0.9 --margin 0.05 --exit-code --better lower --decimal point --json
0   diff runs/one runs/two --level process --conf-level 0.9
2   diff long.csv long.csv --columns value=absent -q
0   merge runs/one runs/two -o merged --as sessions --accept-drift --json -q
0   import new.csv -o imported --format matrix --better lower --layout rows --decimal point --encoding utf-8 --metric value
0   import long.csv --dry-run --format long-csv --variant program --benchmark file --session folder --columns value=value --baseline old --better lower --json -q
1   export runs/one:a -o e.json --to pyperf --metric wall --strict --json
0   export new.csv -o e.csv --better lower --layout rows --decimal point
2   export long.csv -o x.csv --columns value=absent -q
0   bundle runs/one -o b.zip --claims claims.yaml --about about.yaml --campaign c.yaml --binaries --redact host --max-bytes 99M --seed 3 --json -q
"""
# a method of one file has its rows in its own test
OWN = sorted((Path(__file__).parents[1] / "unit/analysis/methods").glob("test_*.py"))
TABLE += "".join(re.findall(r'(?ms)^ROWS = """\n(.*?)"""', "".join(map(Path.read_text, OWN))))
ROWS = [line.split(maxsplit=1) for line in TABLE.strip().splitlines()]
FIRST = {text.split()[0]: text for _, text in reversed(ROWS)}  # of each command
READERS = [FIRST[name] for name in ("verdict", "speedup-test", "plan", "diagnose")]


def made(folder, run):
    """Make in a folder what the rows of the table name."""
    shutil.copytree(handmade.SAMPLE, folder / "runs" / "sample")
    campaign = {
        "name": "c",
        "seed": 5,
        "variants": {"a": {}, "b": {}},
        "baseline": "a",
        "benchmarks": {"one": {"command": ["true"]}, "two": {"command": ["true"]}},
        "protocol": {"sessions": 2, "runs": 2, "warmup": 0},
        "isolation": {"cpus": "none"},
    }
    (folder / "c.yaml").write_text(json.dumps(campaign))
    required = campaign | {"isolation": {"cpus": [4000]}}
    (folder / "required.yaml").write_text(json.dumps(required))
    for name in ("one", "two", "more"):
        done = run("run", "c.yaml", "--resume", "--trial", f"runs/{name}", "-q")
        assert done.returncode == 0, done.stderr
    for name, factor in (("old", 1.0), ("new", 0.9), ("newer", 0.8)):
        rows = [
            [
                f"b{k}",
                *(f"{factor * (k + 1 + run * k % 7 / 50 + run / 90):.4f}" for run in range(8)),
            ]
            for k in range(6)
        ]
        (folder / f"{name}.csv").write_text("".join(f"{','.join(row)}\n" for row in rows))
    nights = [
        f"{program},{name},{night},{1 + night / 50 + k / 30}\n"
        for program in ("old", "new")
        for night in range(3)
        for name in "xy"
        for k in range(3)
    ]
    (folder / "long.csv").write_text("program,input,night,value\n" + "".join(nights))
    systems = [
        f"s{k},{'abcd'[k % 4]},{2 + k % 5},{2 ** (k % 3)},{9 + k % 7},{9 + k % 7 + 0.1},"
        f"-a{' -b' * (k % 2)}\n"
        for k in range(50)
    ]
    (folder / "systems.csv").write_text(
        "system,family,clock,cores,time,time2,flags\n" + "".join(systems)
    )
    claim = {"text": "t", "command": "verdict runs/one", "value": "/runs", "is": "equals"}
    (folder / "claims.yaml").write_text(json.dumps({"claims": [claim | {"expected": 16}]}))
    (folder / "about.yaml").write_text("title: t\nauthors: [{name: A B}]\nlicense: MIT\n")
    run("calibrate", "runs/one", "--pair", "a,b", "--dir", "made", "--workers", "1")
    (certificate,) = (folder / "made").iterdir()
    certificate.rename(folder / "certificate.json")
    (folder / "trials").mkdir()
    (folder / "trials" / "t").symlink_to("../runs/one")
    _pack(folder, run("verdict", "trials/t", "--json").stdout)


def _pack(folder, verdict):
    """Pack one of the trials by hand."""
    trial = folder / "runs" / "one"
    files = handmade.files_of(trial, "t") | {"analyses/a.json": verdict.encode()}
    words = ["verdict", "trials/t", "--json"]
    analysis = {"name": "a", "command": words, "seed": None, "result": "analyses/a.json"}
    told = {"sources": [handmade.source_of("t", "one")], "analyses": [analysis | {"exit_code": 0}]}
    handmade.write_bundle(folder / "a.zip", handmade.sealed(files, **told))


@pytest.fixture(scope="module")
def bench(make_lab, tmp_path_factory):
    lab = make_lab(tmp_path_factory.mktemp("fresh") / "lab")
    made(lab.folder, lab.run_fairtrial)
    return lab


@pytest.fixture(scope="module")
def executed(bench):
    """Give what executes a row, each at most once."""

    bare = Forks(product=False)

    @functools.cache
    def execute(text):
        words = shlex.split(text)
        if text != ROWS[0][1] and text in FIRST.values():
            return bare.run(words, cwd=bench.folder, environment=bench.environment, seconds=300)
        return bench.run_fairtrial(*words, fresh=text == ROWS[0][1])

    yield execute
    bare.close()


@pytest.mark.parametrize(
    ("codes", "text"), ROWS, ids=[f"{k}-{row[1][:20]}" for k, row in enumerate(ROWS)]
)
def test_it_starts_and_ends_as_it_should(executed, codes, text):
    done = executed(text)
    assert str(done.returncode) in codes.split(","), done.stderr
    assert "Traceback" not in done.stderr


def test_every_command_and_every_option_has_a_row():
    given = {name: set() for name in commands()}
    for _, text in ROWS:
        name, *words = shlex.split(text)
        if name in given:
            given[name] |= {word.partition("=")[0] for word in words}
    for name, parser in parser_of(list(given)).commands.items():
        assert given[name], name
        for action in parser._actions:
            if action.option_strings and not isinstance(action, argparse._HelpAction):
                assert given[name] & {*action.option_strings}, f"{name}: {action.option_strings}"


def test_a_fork_tells_what_a_process_without_imports_tells(bench, executed):
    for text in READERS:
        told, fresh = bench.run_fairtrial(*shlex.split(text)), executed(text)
        assert told.returncode == fresh.returncode
        assert (told.stdout, told.stderr) == (fresh.stdout, fresh.stderr)
