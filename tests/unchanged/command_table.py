"""The table of command lines: for each command its sources, its options, and what it refuses.

Each row is a pattern and what stands in its places, all combinations of it. A row is written where
a new command, option or kind of source is to be watched; the list follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import split

from command_lines import Line, expanded, line

TRIALS = (
    *("@pair", "@reverse", "@close", "@equal", "@three", "@same", "@single", "@two-sessions"),
    *("@tiny", "@one-benchmark", "@one-variant", "@many", "@failing", "@always-failing"),
    *("@metrics", "@iterations", "@modes", "@drift", "@coarse", "@constant", "@changed"),
    *("@unfinished", "@interrupted", "@appended", "@sample", "@sample-0.2.0", "@schema-1"),
    *("@schema-1-unfinished", "@schema-2", "@damaged-row", "@torn", "@no-manifest"),
    *("@newer-schema", "@changed-file"),
)
FLEETS = ("@fleet", "@fleet-apart", "@fleet-missing", "@fleet-two")
SOUND = ("@pair", "@three", "@failing", "@metrics", "@modes", "@sample", "@fleet")
SIDES = (  # what a comparison of two sides takes
    *("@pair:new", "@pair", "@three:newer @three:new", "@same:b @same:a", "@single:new"),
    *("@two-sessions", "@tiny", "@one-benchmark", "@failing", "@always-failing", "@metrics"),
    *("@iterations:new", "@coarse", "@constant", "@unfinished", "@sample", "@sample-0.2.0"),
    *("@pair:new @again:old", "@pair:new @new.csv --better lower", "@fleet", "@schema-2"),
    *("@three", "@one-variant", "@pair:none", "@torn", "@newer-schema"),
)
SCORES = "@scores.csv @scores.csv --layout rows --better higher"
MATRICES = (
    *("@new.csv @old.csv --better lower", "@new.csv @old.csv --better higher"),
    *("@new-columns.txt @old-columns.txt --layout columns --better lower", "@new.csv @old.csv"),
    *("@new-comma.csv @old-comma.csv --better lower", "@new.json @old.json"),
    *("@new-comma.csv @old-comma.csv --decimal comma --better lower",),
    *("@new-ambiguous.csv @old-ambiguous.csv --better lower",),
    *("@new-ambiguous.csv @old-ambiguous.csv --better lower --decimal point",),
    *("@new-list.dat @old-list.dat --better lower", "@new-list.txt @old-list.txt --better lower"),
    *("@new-ragged.csv @old-ragged.csv --better lower", "@new-plain.json @old.json"),
    *("@new-failed.json @old-failed.json", "@constant.csv @constant.csv --better lower"),
    *("@empty.csv @old.csv --better lower", "@words.csv @old.csv --better lower"),
    *("@quoted.txt @quoted.txt --better lower", "@missing.csv @old.csv --better lower"),
    *("@negative.csv @old.csv --better lower", "@twice.csv @old.csv --better lower"),
    *("@broken.json @old.json", "@stray.json @old.json", "@headed.csv @headed.csv --better lower"),
    *("@foreign/mitata.json", "@samples/pyperf/new.json @samples/pyperf/base.json"),
    *(
        "@samples/go-bench/new.txt @samples/go-bench/old.txt",
        "@samples/hyperfine/two-commands.json",
    ),
    "@samples/google-benchmark/new.json @samples/google-benchmark/old.json",
    "@original/bench.cfg",
)
FOREIGN = split("""
    bencher.json benchmarkdotnet-0.15.json benchmarkdotnet.json benchmarkjs-suite.json
    benchmarkjs.json fio.json github-action.json julia-estimates.json microbenchmark.csv
    mitata-none.json mitata.json r-bench-press.csv r-bench-printed.csv r-bench-summary.csv
    r-bench.csv sysbench.txt tinybench-none.json tinybench.json vitest-none.json
    vitest-own-reporter.json
""")
SAMPLES = split("""
    asv benchexec benchexec/table.csv benchexec/results.default.tasks.xml criterion
    generic-csv/long.csv generic-csv/wide.csv generic-csv/one-column/config.csv go-bench/new.txt
    go-bench/test-json.jsonl google-benchmark/new.json google-benchmark/reps-truncated.csv
    hyperfine/two-commands.json hyperfine/parameter-list.json hyperfine/failing-command.json
    hyperfine/two-commands.csv perf-stat/x-comma-r5.csv perf-stat/interval-100ms.csv
    perf-stat/json-lines.jsonl pyperf/base.json pytest-benchmark/full-json.json rebench/rebench.data
    pytest-benchmark/autosave-stats-only.json hyperfine/two-commands.md hyperfine
""")
TOOLS = (*(f"@foreign/{name}" for name in FOREIGN), *(f"@samples/{name}" for name in SAMPLES))
FORMS = ("", "--json")

SIDE_OPTIONS = (
    *("--metric user --warmup-iterations 3", "--metric max_rss", "--metric absent"),
    *("--confidence 0.9", "--level process", "--level iteration"),
    *("--better lower", "--better higher"),
)
VERDICT_OPTIONS = (
    *("--variant new", "--variant none", "--benchmark text", "--benchmark none", "--margin 0.05"),
    *("--correction holm", "--correction bh", "--correction none", "--weight text=3", "--looks 3"),
    *("--weight none=2", "--always-valid", "--certificate absent.json", "--metric system"),
)
FIGURE_OPTIONS = ("--width 85mm", "--font-size 6", "--font-family Absent", "--width 9")
KINDS = split("forest curve box biplot shares means strip ecdf shift density qq modes")
COMMANDS = split("""
    init doctor tune run compare bisect why status submit cancel reproduce verdict gate hpt
    speedup-test resample mixture biplot diagnose history calibrate plan study sources report plot
    diff merge import export bundle completion
""")

THERE = "--resume --trial runs/t"  # a trial whose name is given, and not drawn

Row = tuple[str, *tuple[Sequence[str], ...]]

JUDGING: tuple[Row, ...] = (
    ("verdict {} {}", (*TRIALS, *FLEETS), (*FORMS, "--explain")),
    ("verdict {} {}", (*SOUND, *FLEETS), ("--all", "--ratio", "--pairs", "--rank")),
    ("verdict {} {}", ("@three", "@metrics"), ("--pairs --json", "--rank --json")),
    ("verdict {} {}", ("@pair", "@fleet"), (*SIDE_OPTIONS, *VERDICT_OPTIONS)),
    ("verdict {} --json {}", ("@three", "@fleet-apart"), VERDICT_OPTIONS),
    ("verdict {} {}", ("@pair", "@fleet", "@failing"), ("--gate slower>2%", "--gate faster<5%")),
    ("verdict {} {}", ("@pair:new @again:old", "@again @pair", "@pair:new", "@pair:old"), FORMS),
    ("verdict {} {}", ("+runs", "", "@fleet:new", "@iterations --metric step"), FORMS),
    ("verdict {}", MATRICES),
    ("verdict {} --json", MATRICES[::2]),
    ("verdict {} --better lower", TOOLS[1::2]),
    (
        "verdict {} --level iteration --json",
        ("@iterations --metric step", "@samples/pyperf/base.json"),
    ),
    ("gate slower>2% {} {}", (*TRIALS, *FLEETS), ("",)),
    ("gate {} {} {}", ("slower>2%", "faster<5%", "worse>1%"), SOUND[2:], FORMS),
    ("gate faster<30% {} {}", ("@pair", "@fleet"), (*SIDE_OPTIONS, "--looks 3", "--always-valid")),
    (
        "gate slower>1% @three {}",
        ("--variant newer", "--on suite", "--on benchmarks", "--variant none"),
    ),
    ("gate slower>1% {} {}", ("@reverse", "@pair", "@close"), ("--junit j.xml", "--summary s.md")),
    (
        "gate slower>1% {} {}",
        ("@reverse", "@pair"),
        ("--annotations github", "--annotations github --json"),
    ),
    ("gate {} @pair", ("slower", "faster>2%", "slower>x%", "slower>-1%", "''", "slower>200%")),
    ("gate slower>2% {}", MATRICES[:14]),
    ("history {} {}", ("@pair @again @reverse", "@pair @pair", "@pair", "@pair @three"), FORMS),
    (
        "history @pair @again @close {}",
        (
            *(
                "--plain",
                "--format md",
                "--gate slower>2%",
                "--gate x",
                "--since pair",
                "--since x",
            ),
            *(
                "--benchmark text",
                "--benchmark none",
                "--variant new",
                "--metric user --warmup-iterations 3",
                "--risk 0.1",
            ),
            *("--risk 2", "--correction bh", "--independent", "--horizon 9", "--output h.html"),
        ),
    ),
    ("diff {} {}", ("@pair @again", "@pair @reverse", "@pair @close", "@three @pair"), FORMS),
    (
        "diff {}",
        ("@fleet @fleet-apart", "@pair @fleet", "@sample @sample-0.2.0", "@pair @torn", "@pair"),
    ),
    ("diff @pair @again {}", (*SIDE_OPTIONS, "--margin 0.1", "--exit-code", "--margin -1")),
    ("diff {} --exit-code", ("@pair @reverse", "@pair @close", "@tiny @pair", "@pair @pair")),
    (
        "diff {} {}",
        ("@samples/pyperf/base.json @samples/pyperf/new.json",),
        (*FORMS, "--decimal point"),
    ),
)
METHODS: tuple[Row, ...] = (
    ("hpt {} {}", SIDES, FORMS),
    ("hpt {}", MATRICES),
    ("hpt {} --json", MATRICES[::2]),
    (
        "hpt {} {}",
        ("@pair", "@new.csv @old.csv --better lower"),
        (*SIDE_OPTIONS[:6], "--alpha 0.01"),
    ),
    ("hpt {} {}", ("@pair", "@many", "@coarse"), ("--speedup 1.1", "--ties exact", "--ties table")),
    ("hpt {} --alternative two-sided --others {}", ("@pair", "@many"), FORMS),
    ("hpt @pair {}", ("--ties printed", "--names NEW OLD", "--names A A")),
    ("hpt {} {}", ("@pair", "@many"), ("--scores raw", "--scores ratio", "--scores log-ratio")),
    ("hpt {} {}", ("@pair", SCORES), ("--scores auto",)),
    ("speedup-test {} {}", (*SIDES[:18], "@original/bench.cfg +original"), FORMS),
    ("speedup-test {}", MATRICES[:16]),
    (
        "speedup-test {} {}",
        ("@pair", "@single:new"),
        (*SIDE_OPTIONS, "--search", "--confidence search"),
    ),
    (
        "speedup-test @pair {}",
        ("--weight equal", "--weight fraction", "--weight custom", "--steps"),
    ),
    ("speedup-test @many {}", ("--precision 0.2", "--search --compatible", "-o out", "--verbose")),
    (
        "speedup-test @original/bench.cfg +original {}",
        ("--search", "--weight custom", "-o out --json", "--original"),
    ),
    (
        "speedup-test @original/bench.cfg +original {}",
        ("--compatible --search", "--weight fraction"),
    ),
    ("resample {} --resamples 200 --seed 1", SIDES),
    ("resample {} --resamples 200 --seed 1 --json", (*SIDES[::2], *MATRICES[:18])),
    (
        "resample {} --resamples 200 --seed 2 {}",
        ("@pair", "@new.json @old.json"),
        (
            *SIDE_OPTIONS[:6],
            *("--mean geometric", "--mean harmonic", "--mean arithmetic", "--centre runs"),
            *("--centre mean", "--centre median", "--alternative candidate", "--sides lower"),
            *("--alternative baseline", "--alternative two-sided", "--unit run", "--unit block"),
            *("--unit session", "--interval percentile", "--interval corrected", "--interval bca"),
            *("--interval studentized", "--sides upper", "--sides two", "--plot r.svg"),
        ),
    ),
    (
        "resample {} --resamples 200 --seed 1 {}",
        ("@pair", SCORES),
        ("--compare", "--mean all", "--compare --json"),
    ),
    ("{} --exclude absent", ("hpt @pair", "resample @pair", "speedup-test @pair", "mixture @pair")),
    ("{} --benchmark text", ("hpt @pair", "resample @pair", "speedup-test @pair")),
    ("resample @three:new @three:old --also @three:newer --resamples 100 --seed 3 {}", FORMS),
    (
        "mixture {} --resamples 20 --seed 1 --workers 1 {}",
        ("@pair", "@modes", "@single", "@tiny"),
        FORMS,
    ),
    (
        "mixture {} --resamples 20 --seed 1 --workers 1",
        ("@coarse", "@sample", "@fleet", "@constant"),
    ),
    (
        "mixture {} --resamples 20 --seed 1 --workers 1",
        ("@new-list.dat", "@new.csv", "@quoted.txt"),
    ),
    (
        "mixture {} --resamples 5 --workers 1",
        ("@new-columns.txt --layout columns", "@new-comma.csv --decimal comma"),
    ),
    (
        "mixture {} --resamples 20 --seed 1 --workers 1",
        ("@new-list.dat @old-list.dat --better lower",),
    ),
    ("mixture {} --resamples 20 --seed 1 --workers 1", TOOLS[::4]),
    (
        "mixture @modes --benchmark text --resamples 20 --workers 1 {}",
        (
            *FORMS,
            *SIDE_OPTIONS[:6],
            *(
                "--clusters",
                "--and max_rss",
                "--and max_rss --and user",
                "--below 0.02",
                "--quantile 0.9",
                "--shift 0.001",
                "--starts 3",
            ),
            *("--max-components 2", "--scale log", "--scale linear", "--resolution 0.001"),
            *("--jitter --resolution 0.01", "--backend threads", "--dask absent.json"),
            *("--digits 7", "--plot m.svg", "--resamples 0", "--backend processes --workers 2"),
        ),
    ),
    ("biplot {} {}", ("@three", "@pair", "@many", "@headed.csv", "@medians.csv", "@fleet"), FORMS),
    ("biplot {} --better lower", ("@old.csv @new.csv @newer.csv", "@old.csv", "@words.csv")),
    (
        "biplot @three {}",
        ("--scale log", "--scale covariance", "--scale correlation", "--plot b.svg"),
    ),
    ("biplot @three:new @three:old @three:newer {}", SIDE_OPTIONS[:7]),
    ("biplot @old-columns.txt @new-columns.txt --layout columns --better lower",),
    ("biplot @old-comma.csv @new-comma.csv --decimal comma --better lower",),
)
UNDERSTANDING: tuple[Row, ...] = (
    ("diagnose {} {}", (*TRIALS, *FLEETS), FORMS),
    (
        "diagnose {} {} --seed 1",
        ("@pair:new", "@new.csv", "@modes:old"),
        ("--normality", "--estimators"),
    ),
    ("diagnose {} {} --seed 1", ("@single:new", "@new-list.dat"), ("--clt", "--clt --json")),
    ("diagnose {} --normality --estimators --json --seed 2", ("@single:new", "@new.json")),
    ("diagnose {} {}", ("@pair", "@drift"), SIDE_OPTIONS),
    ("diagnose @old-columns.txt --layout columns --normality {}", ("", "--better lower")),
    ("diagnose @old-comma.csv --decimal comma --normality",),
    ("diagnose {}", TOOLS[::3]),
    (
        "calibrate {} --no-certificate --workers 1 --seed 1 {}",
        ("@same", "@equal", "@pair", "@tiny"),
        FORMS,
    ),
    (
        "calibrate @same --workers 1 {}",
        (
            *("", "--pair a,b", "--pair a,none", "--methods welch,hpt", "--methods none"),
            *(
                "--power 0.9",
                "--dir certificates",
                "--metric user --warmup-iterations 3",
                "--confidence 0.9",
            ),
            *("--backend threads", "--dask absent.json", "--seed 3"),
        ),
    ),
    ("calibrate {} --no-certificate", ("@fleet", "@torn", "@one-variant")),
    ("calibrate @same --workers 1 && verdict same && report same --format md",),
    ("plan {} --seed 1", (*SIDES, *FLEETS)),
    ("plan {} --seed 1 --json", (*SIDES[::2], *FLEETS)),
    (
        "plan {} --seed 2 {}",
        ("@pair", "@fleet"),
        (
            *SIDE_OPTIONS[:6],
            *("--width 0.05", "--effect 1.01", "--on suite", "--on benchmarks", "--power 0.9"),
            *("--max-sessions 5", "--max-hosts 5", "--max-runs 5"),
        ),
    ),
    (
        "plan {} --better lower",
        ("@new.csv @old.csv", "@new-list.dat @old-list.dat", "@new.json @old.json"),
    ),
    ("plan @single --within-session --simulations 20 --max-runs 30 --seed 1 {}", ("", "--json")),
    (
        "plan @single --within-session --simulations 20 --max-runs 30 {}",
        ("--interval t", "--interval studentized", "--interval percentile", "--power 0.5"),
    ),
    ("plan @new-columns.txt @old-columns.txt --layout columns --better lower --decimal point",),
    (
        "study {} {} --runs 3 --simulations 5 --resamples 50 --seed 1 --workers 1 {}",
        ("power", "type1", "coverage"),
        ("@two-sessions:new", "@new.csv"),
        FORMS,
    ),
    (
        "study {} @two-sessions:old --runs 3 --simulations 4 --resamples 40 --workers 1 {}",
        ("power", "type1", "coverage"),
        (
            *("--shift 2", "--shifted 0,2", "--alternative candidate", "--alpha 0.1"),
            *(
                "--mean harmonic",
                "--unit block",
                "--backend threads",
                "--metric user --warmup-iterations 3",
            ),
            *("--dask absent.json", "--seed 4"),
        ),
    ),
    (
        "study power {} --runs 2,3 --shifted 0,1 --simulations 4 --resamples 40 --workers 1 {}",
        ("@two-sessions:old", "@new.csv --better lower"),
        ("--shift-by 0.01", "--without-replacement", "--plot p.svg", "--plot p.gif"),
    ),
    (
        "study draw {} --runs 3 --simulations 5 --resamples 50 --workers 1 {}",
        (
            "@two-sessions",
            "@two-sessions:new @two-sessions:old",
            "@new.csv @old.csv --better lower",
        ),
        (
            *("", "--json", "--speedup 1.1", "--alternative candidate", "--alpha 0.1,0.2"),
            *("--unit block", "--without-replacement", "--plot d.svg", "--runs 3,5"),
        ),
    ),
    ("study power {} --runs 3 --simulations 2 --resamples 20", ("@pair", "@torn", "@words.csv")),
    ("study power {} --runs 3 --simulations 2 --resamples 20", ("@old-comma.csv --decimal comma",)),
    (
        "study type1 @old-columns.txt --layout columns --better lower --level process --runs 3 --simulations 2 --resamples 20",
    ),
    (
        "sources {} --resamples 50 --seed 1 --workers 1 {}",
        (*SOUND, "@drift", "@single", "@tiny"),
        FORMS,
    ),
    (
        "sources {} --resamples 50 --workers 1",
        ("@pair @again", "@fleet-apart", "@torn", "@changed"),
    ),
    (
        "sources @pair --resamples 20 --workers 1 {}",
        ("--metric user --warmup-iterations 3", "--confidence 0.9", "--seed 3"),
    ),
    (
        "sources @systems.csv --response time --seed 1 --workers 1 {}",
        (
            *("", "--json", "--ignore system", "--group family --ignore system", "--plot s.svg"),
            *("--variation time2 --runs 3 --ignore system", "--decimal point --ignore system"),
            *("--backend threads --ignore system", "--dask absent.json --ignore system"),
        ),
    ),
    (
        "sources @systems.csv --benchmarks {} --ignore system --workers 1",
        ("time", "time --resamples 9", "time --runs 3", "absent"),
    ),
    (
        "sources @systems.csv --response time --ignore system --workers 1 {}",
        ("--flags family", "--flags clock", "--test-share 0.3", "--test-share 2", "--resamples 9"),
    ),
    (
        "sources @systems.csv --response {} --ignore system --workers 1",
        ("time,time2", "absent", "family"),
    ),
)
SHARING: tuple[Row, ...] = (
    (
        "report {} --format {}",
        (*SOUND, *FLEETS[1:3], "@tiny", "@unfinished"),
        ("md", "latex", "json"),
    ),
    ("report {} --format {}", (*SOUND, "@equal", "@single", "@torn"), ("csv", "txt")),
    (
        "report {} --format {}",
        ("@new.csv @old.csv --better lower", "@pair:new @again:old"),
        ("md", "txt"),
    ),
    (
        "report {} --format {}",
        ("@samples/pyperf/base.json", "@foreign/mitata.json"),
        ("md", "json"),
    ),
    (
        "report {} -o page.html",
        ("@pair", "@fleet", "@failing", "@tiny", "@new.csv @old.csv --better lower"),
    ),
    (
        "report @two-sessions -o {}",
        ("t.md", "t.tex", "t.json", "t.csv", "t.txt", "t.xyz", "-", "folder/"),
    ),
    ("report @pair --format csv --guard",),
    ("report @pair --format md {}", (*SIDE_OPTIONS, *VERDICT_OPTIONS, "--sources")),
    (
        "report @two-sessions -o page.html {}",
        (*FIGURE_OPTIONS[:3], "--plots pictures", "--sources"),
    ),
    (
        "report {}",
        ("", "@pair", "+runs --format txt", "@pair --format html", "@pair --plots p --format md"),
    ),
    (
        "report @new-columns.txt @old-columns.txt --layout columns --better lower --decimal point --format md",
    ),
    ("plot {} {} -o {}.svg", KINDS, ("@modes", "@three"), ("figure",)),
    ("plot {} @pair -o {}", ("forest", "strip", "causes"), ("f.png", "f.pdf", "f.xyz")),
    ("plot {} @fleet -o f.svg", KINDS[:7]),
    ("plot {} @three -o f.svg --scale {}", ("biplot", "shares", "box"), ("covariance", "log")),
    (
        "plot forest @pair -o f.svg {}",
        (*SIDE_OPTIONS, *VERDICT_OPTIONS, *FIGURE_OPTIONS, "--data d.csv"),
    ),
    (
        "plot {} -o f.svg",
        ("none @pair", "strip @new-list.dat", "box @new.csv @old.csv --better lower"),
    ),
    (
        "plot box @new-columns.txt @old-columns.txt --layout columns --better lower --decimal point -o f.svg",
    ),
    (
        "merge {} -o all {}",
        ("@pair @again", "@pair @reverse", "@pair @three", "@fleet", "@pair @pair"),
        FORMS,
    ),
    (
        "merge @pair @again -o all {}",
        ("--as sessions", "--as fleet", "--accept-drift", "&& verdict all"),
    ),
    ("merge {} -o all && verdict all --json", ("@fleet/lab1 @fleet/lab2", "@fleet @fleet-two")),
    ("merge {} -o all", ("@pair", "@pair @torn", "@pair @unfinished", "@sample @sample-0.2.0")),
    ("import {} --better lower --dry-run", TOOLS),
    ("import {} --better lower --dry-run --json", TOOLS[1::2]),
    ("import {} --better lower -o trial --json", TOOLS[1::2]),
    ("import {} --better lower -o trial && verdict trial --json", TOOLS[::2]),
    ("import {} --better lower --dry-run", MATRICES[:24]),
    (
        "import @long.csv -o trial {}",
        (
            "",
            "--better lower",
            "--variant program --benchmark input --session night --better lower",
        ),
    ),
    (
        "import @long.csv -o trial --variant program --benchmark input --better lower {}",
        ("--baseline new", "--baseline none", "--metric value", "--metric none", "--session file"),
    ),
    (
        "import {} -o trial --better lower",
        ("- <old.csv", "@old-comma.csv --decimal comma", "@old.csv @new.csv"),
    ),
    (
        "import @old.csv --better lower -o trial {}",
        ("--encoding latin-1", "--encoding none", "--format none"),
    ),
    ("import @old-columns.txt --layout columns --better lower -o trial",),
    ("import @samples/{} -o trial --format {}", ("pyperf/base.json",), ("pyperf", "hyperfine")),
    ("import @pair -o trial",),
    (
        "export {} -o - --to {}",
        ("@pair:new", "@iterations:new --metric step", "@new.csv --better lower", "@failing:new"),
        (*("hyperfine", "pyperf", "go-bench", "long-csv"),),
    ),
    ("export {} -o f.{}", ("@pair", "@fleet"), ("txt", "csv", "parquet", "xyz")),
    ("export @pair:new --to {} {}", ("parquet",), ("-o f", "-o -")),
    (
        "export @three --to long-csv -o f.csv {}",
        ("--json", "--strict", "--metric user --warmup-iterations 3", "--metric none"),
    ),
    (
        "export {} -o f.csv",
        (
            "@old-columns.txt --layout columns --better lower",
            "@old-comma.csv --decimal comma --better lower",
        ),
    ),
    ("export {} --to long-csv -o -", TOOLS[::3]),
    (
        "bundle @small -o a.zip {}",
        ("", "--json", "--seed 3", "--redact user,host,paths,env", "--max-bytes 1K"),
    ),
    (
        "bundle @small -o a.zip {}",
        ("--about @about.yaml", "--campaign @told.yaml", "--binaries", "--redact none"),
    ),
    (
        "bundle @small -o a.tar.gz --claims {}",
        ("@claims.yaml", "@wrong-claims.yaml", "@told.yaml", "absent.yaml"),
    ),
    ("bundle {} -o a.zip", ("@fleet-two", "@torn", "@new.csv", "absent")),
    (
        "bundle @small -o a.zip && reproduce a.zip {}",
        (
            *(
                "",
                "--json",
                "--md",
                "-C folder",
                "--max-entries 3",
                "--max-bytes 10",
                "--timeout 60",
            ),
            *("--max-memory 2G", "-o folder -q", "--into folder", "--rerun"),
            *("--rerun --sessions 2 --trial none --metric user --confidence 0.9 --share -v",),
        ),
    ),
    ("bundle @small -o a.zip --claims @wrong-claims.yaml && reproduce a.zip {}", FORMS),
    (
        f"~run @judged.yaml {THERE} -q && bundle runs/t -o a.zip && reproduce --rerun a.zip --yes-execute",
    ),
    ("reproduce {}", ("@old.csv", "@broken.json", "absent.zip", "@pair")),
)
RUN_OPTIONS = (
    *("", "--json", "-q", "-v", "--seed 7", "--sessions 3", "--strict", "--share", "--dir other"),
    *("--built", "--wait-for-lock=1", "--only one:new", "--only one:none", "--accept-drift"),
)
CAMPAIGNS = (
    *("@told.yaml", "@judged.yaml", "@fails.yaml", "@hooks.yaml", "@stop.yaml", "@slow.yaml"),
    *("@absent-program.yaml", "@unknown-key.yaml", "@unknown-value.yaml", "@no-baseline.yaml"),
    *("@unused-value.yaml", "@unknown-judge.yaml", "@build-fails.yaml", "@setup-fails.yaml"),
    *("@times-out.yaml", "@duplicate.yaml", "@alias.yaml", "@no-yaml.yaml", "@empty.yaml"),
    *("@quickstart.yaml +quickstart_data.py", "absent.yaml", "@pair", "@required.yaml"),
)
MEASURING: tuple[Row, ...] = (
    ("init {}", ("", "new.yaml", "@old.csv", "absent/new.yaml", "@pair")),
    ("init c.yaml && ~run c.yaml --dry-run",),
    ("~run {} --dry-run", (*CAMPAIGNS, "@pinned.yaml", "@padding.yaml +c", "@compilers.yaml +c")),
    ("~run {} --dry-run --json", CAMPAIGNS[:8]),
    ("~run @told.yaml --dry-run {}", (*RUN_OPTIONS[2:8], "--probe")),
    ("~run {}", (*CAMPAIGNS[:5], *CAMPAIGNS[6:19], *CAMPAIGNS[20:])),
    ("~run @told.yaml {}", RUN_OPTIONS),
    ("~run @told.yaml --resume {}", ("", "--trial runs/t", "--trial absent/t", "--sessions +1")),
    (f"~run @told.yaml {THERE} {{}}", ("--sessions 1", "--json")),
    (f"~run @{{}}.yaml {THERE} && verdict runs/t --metric ops --json", ("told", "judged", "stop")),
    (f"~run @told.yaml {THERE} && run told.yaml {THERE} --sessions +1 && status runs/t",),
    (
        f"~run @judged.yaml {THERE} && {{}}",
        ("report runs/t --format md", "diagnose runs/t", "status --json"),
    ),
    ("~run @told.yaml --resume --trial @{}", ("pair", "unfinished", "torn", "schema-1-unfinished")),
    ("~run @judged.yaml {} && verdict --json", ("", "--seed 4")),
    (
        "~compare {} --runs 2 --sessions 2",
        ("true 'sleep 0.02'", "true", "false true", "absent-program true"),
    ),
    (
        "~compare true 'sleep 0.02' --runs 2 --sessions 2 {}",
        (
            *(
                "--json",
                "-q",
                "-v",
                "-n a -n b",
                "--name a",
                "--warmup 2",
                "--timeout 5",
                "--shell",
            ),
            *("--prepare true", "--prepare false", "--exit 0", "--cpus none", "--cpus 0"),
            *("--cpus 99", "--cpus x", "--seed 3", "--dir other", "--wait-for-lock=1", "--share"),
            *("--stdin absent", "--timeout 0.001"),
        ),
    ),
    ("~compare 'sh -c \"exit 3\"' 'sh -c \"exit 3\"' --exit 3 --exit 4 --runs 1 --sessions 1",),
    ("~compare cat cat --stdin @old.csv --runs 1 --sessions 2",),
    (
        "~compare {}",
        (
            "--runs 2 --sessions 2 -L n 1,2 'true {n}' --baseline 'true 2' -i --min-runs 1",
            "--runs 2 --sessions 2 -P n 1 5 -D 2 'true {n}' -S sh -N --setup true --cleanup true",
            "true 'sleep 0.02' --for 1s --margin 3% --open --min-runs 2 --max-runs 20 -u ms",
            "true true --runs 2 --sessions 2 --export-json a --export-csv b --export-markdown c",
            "--try 'echo seen'",
            "true --runs 2 --sessions 2 --counters",
            "true true --for 1s && compare --resume --for 1s",
            "--resume",
            "--show-output true",
        ),
    ),
    (
        "bisect {}",
        (
            *("", "v1 v2", "--resume", "--resume=absent", "v1 v2 --looks 6,2", "v1 v2 --risk 2"),
            "v1 v2 --campaign absent --benchmark one --metric wall --variant a --margin 0.01 --all",
            "v1 v2 --sessions-max 9 --work-dir w --dry-run --strict --share --json -q -v",
            "v1 v2 --dir runs --wait-for-lock=9",
            "v1 v2 --why",
            "v1 v2 --format md",
            "v1 v2 --warmup-iterations auto",
        ),
    ),
    (
        "why {}",
        (
            *("", "absent", "--stored", "--stored --json", "--stored --sessions 3", "--rename a"),
            "absent --benchmark one --sessions 4 --frequency 999 --chains fp --any --require -q -v",
            "absent --rename a=b --format md --wait-for-lock=9",
            "absent --folded f",
        ),
    ),
    ("why {} --stored", (*SOUND, "@unfinished", "@torn"), ("", "--json")),
    ("status {} {}", (*TRIALS, *FLEETS), ("",)),
    ("status {} --json", (*SOUND, "@unfinished", "@interrupted", "@torn", "@schema-1-unfinished")),
    ("status --diff {} {}", ("@pair", "@changed", "@fleet", "@torn"), FORMS),
    (
        "status {}",
        ("", "+runs", "+runs --json", "--dir absent", "+runs --dir runs", "--diff", "absent"),
    ),
    (
        "doctor {}",
        ("", "-q", "-v", "--json", "--strict", "--probe 50ms", "--probe 2h", "--dir absent"),
    ),
    ("doctor {}", CAMPAIGNS[:12]),
    (
        "tune --dry-run {}",
        ("", "--json", "-q", "-v", "--offline-sibling", "--for @told.yaml", "--yes"),
    ),
    ("tune {}", ("--undo", "--undo --json", "--for absent.yaml --dry-run", "--undo --dry-run")),
    (
        "submit @told.yaml {}",
        (
            *("", "--dry-run", "--hosts lab[1-2] --dry-run", "--partition none --dry-run"),
            *("--count 2 --dry-run", "--time 1:00:00 --dry-run", "--build once --dry-run"),
            *("--build node --dry-run", "--resume --dry-run"),
            *(
                "--seed 4 --dry-run",
                "--dir other --dry-run",
                "--wait-for-lock=1 --dry-run",
                "--json",
            ),
            "--hosts lab1 --dry-run -- --account=me",
        ),
    ),
    ("submit {} --resume {}", FLEETS[:2], ("--dry-run", "")),
    ("submit {} --dry-run", ("@unknown-key.yaml", "absent.yaml", "@pair")),
    ("cancel {} {}", ("@fleet", "@pair", "absent"), FORMS),
)
HOSTS = ("intel_pstate", "amd", "arm_biglittle", "vm_no_cpufreq", "container", "numa", "bare")
RECORDED: tuple[Row, ...] = (
    ("HOST={} {}", HOSTS, ("doctor", "doctor --json", "doctor @pinned.yaml", "tune --dry-run")),
    ("HOST={} {}", HOSTS, ("run @required.yaml --dry-run", "run @pinned.yaml --strict --dry-run")),
)
REFUSED: tuple[Row, ...] = (
    ("{} --help", COMMANDS),
    ("COLUMNS={} {} --help", ("60", "120"), ("verdict", "run", "plot")),
    ("{}", (*COMMANDS, "", "--help", "--version", "absent", "-h")),
    ("{} --absent", COMMANDS),
    (
        "{} absent-source",
        (*COMMANDS[9:12], *COMMANDS[13:19], *COMMANDS[20:22], "merge -o x", "import"),
    ),
    (
        "{} @pair --confidence {}",
        ("verdict", "hpt", "plan", "diagnose"),
        ("2", "x", "0", "-1", "nan"),
    ),
    (
        "{} @pair --metric {}",
        ("verdict", "hpt", "plan", "sources", "report --format md"),
        ("x", "''"),
    ),
    ("{} @pair --seed {}", ("resample", "plan", "sources", "diagnose"), ("-1", "x")),
    ("{} @pair --better sideways", ("verdict", "hpt", "plan", "resample", "gate slower>2%")),
    ("verdict @pair {}", ("--margin -1", "--looks 0", "--weight x", "--weight text=-1")),
    ("verdict @pair {}", ("--pairs --rank", "--gate x", "--correction x", "extra more", "--verb")),
    ("hpt @pair {}", ("--alpha 2", "--speedup 0", "--ties x", "--scores x")),
    (
        "resample @pair {}",
        ("--resamples 0", "--mean x", "--plot r.xyz", "--unit x", "--also absent"),
    ),
    (
        "mixture @pair {}",
        ("--max-components 0", "--starts 0", "--digits 99", "--quantile 2", "--workers 0"),
    ),
    ("plan @pair {}", ("--width 0", "--effect 1", "--power 2", "--max-runs 0", "--simulations 0")),
    (
        "~run @told.yaml {}",
        ("--sessions 0", "--sessions x", "--seed x", "--trial t", "--probe", "--only x"),
    ),
)


def all_lines() -> list[Line]:
    """Give the whole list, each line once."""
    return [line(text) for text in dict.fromkeys(_texts())]


def _texts() -> Iterator[str]:
    for rows in (REFUSED, JUDGING, METHODS, UNDERSTANDING, SHARING, MEASURING, RECORDED):
        for pattern, *choices in rows:
            for text in expanded(pattern, *choices):
                yield ("~" if "~" in text else "") + text.replace("~", "")
