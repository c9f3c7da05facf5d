"""The options of each command that no other has, or that say something else there; `analysis.options` reads them."""

ROWS = """
[hpt]
--alpha A  number
    risk of the test of each benchmark (default: 0.05 from 5 runs on, otherwise 0.10)
--speedup G  number = 1
    the speedup to test
--ties {table,exact,printed}  = table
    table: distributions without ties, as published (default); exact: given the ties that were
    observed; printed: like table, but from 25 benchmarks on without the continuity correction of
    the authors' window
--alternative {candidate,baseline,two-sided}
    who is better if there is a difference (default: each direction with its own p)
--others
    also show the paired t-test and the confidence interval: how reliable each finds --speedup, and
    the largest speedup that each of them claims
--names A B  named
    names of the two sides
--scores {auto,raw,ratio,log-ratio}  = auto
    what is ranked over the benchmarks (default: the values if higher is better, otherwise baseline
    median / value)

[calibrate]
TRIAL
    a trial directory, such as runs/NAME
--pair A,B
    two variants that execute the same program (default: the first two that are identical according
    to the trial)
--methods M,...
    only these methods, such as welch,hpt (default: all)
--power P  number = 0.8
    probability with which the smallest detectable effect is found
--dir FOLDER
    where the certificate goes (default: the folder certificates next to the trial)
--no-certificate
    print the answer, and keep nothing

[verdict]
[SOURCE]
    a trial or a fleet (default: the newest in runs/), {side}
[BASELINE]
    compare SOURCE with this one instead
--all
    show all benchmarks and cautions
--explain
    also ask the published methods, and say why they differ
--ratio
    show speedups, such as 1.82x, instead of per cent of the baseline's time
--pairs
    compare every variant with every other
--rank
    rank the variants over the suite, pair by pair
--gate CONDITION
    then decide a condition such as 'slower>2%', with the exit codes of 'fairtrial gate'

[gate]
CONDITION
    such as 'slower>2%'
SOURCE
    a trial (runs/NAME), or {side}
[BASELINE]
    what to compare with, such as a variant of another trial (default: the baseline of the trial's
    campaign)
--on {suite,benchmarks}  = suite
    what must pass: the benchmarks together (default), or each of them; either way no benchmark may
    be proven
--confidence R  number = 0.95
    confidence of the intervals; each proof and each pass has half of its risk
confidence --conf-level R  number
--junit FILE
    also write a report of tests, in XML
--summary FILE
    also append the answer in Markdown, for "$GITHUB_STEP_SUMMARY"
--annotations {github}
    also print lines that a build's page shows (on stderr with --json)

[history]
--variant V...  named
    only this candidate
places [TRIAL...]
    trials, fleets, or files of another tool; or a folder with them (default: runs/)
--risk R  share = 0.05
    risk that any interval holds no change
--correction {holm,bh,none}
    how the number of benchmarks is allowed for: Holm (default below 20 benchmarks),
    Benjamini-Hochberg (default from 20 on), no
--independent
    take nights to be independent, also where neighbours resemble each other
--plain
    take the times themselves, not paired with the baseline: host and program cannot be separated
--since WHEN
    nights from then on are new: a date (UTC), a trial, or 'yesterday'
--gate CONDITION
    hold the newest nights against those before, by a condition such as 'slower>2%'
--horizon N  int
    nights in which a false alarm comes with the risk at most (default: 100)
-o, --output FILE
    also write a page with all nights: FILE.html

[mixture]
sources SOURCE...
    a trial (runs/NAME) with all its variants, {side}
others --and METRIC...
    fit this metric together with that of --metric, run by run, such as wall and max_rss; may be
    repeated, for up to eight metrics
--below A...  number
    also the chance that one run stays below A, in the unit of the values
--quantile Q...  number
    also the value that one run stays below with probability Q
--shift D  number = 0
    a run X beats a run Y when X < Y + D; a negative D asks for a lead of that size
--max-components K  int = 9
    the largest number of Gaussians to try
--resamples N  int
    draws of the fit test, and refits for evidence and intervals (default: 500; 200 for each of
    several benchmarks; 0: none)
--scale {linear,log}  = linear
    fit the values (default) or their logarithms
--starts N  int = 1
    number of starts of each fit
--resolution T  number
    the clock's step, in the unit of the values: no Gaussian is narrower than the rounding
--jitter
    in the fit test, spread tied values over the clock's step
--backend {threads,processes}
    what the workers are (default: threads)
--digits D  int = 4
    digits of the parameters
--clusters
    also list the values of each component of one benchmark
--plot FILE
    also draw the density and distribution function of one benchmark, or for several benchmarks the
    p-values of the fit test and the numbers of modes; the ending of FILE is the format: .svg, .png
    or .pdf

[plan]
--width W  number
    largest width of the speedup's interval, relative to it: 0.02 is about 1 % to either side
    (default: 0.02, where there is no --effect)
--effect E  number
    the speedup to be found, such as 1.02
--on {suite,benchmarks}
    what has to reach --width and --effect: the mean over the benchmarks (default), or each
    benchmark
--power P  number = 0.8
    probability of finding the effect
--max-sessions M  int
    the most sessions to consider (default: 100; for each host of a fleet: 20)
--max-hosts M  int
    for a fleet: the most hosts to consider (default: 100)
--max-runs M  int
    the most runs of a session to consider (default: 100; with --within-session: 1000)
--within-session
    plan the runs of a single session, by trials that are simulated from the pilot's runs;
    differences between sessions are not part of that. --power is then also the power of the width
--interval {t,studentized,percentile}
    with --within-session: the interval of the loop on the pilot's own runs; the 95 % interval of
    percentile covers about 87 %. t (default): Student's t on logs; studentized: by a bootstrap of
    t; percentile: the bootstrap's quantiles, as published
--simulations N  int
    with --within-session: simulated trials for each number of runs (default: 1000)

[plot]
KIND
    {kinds}
sources SOURCE...
    a trial, or two sides, the candidate first: {side}; biplot and shares take what 'fairtrial
    biplot' takes
-o, --output FILE!
    the picture: .svg, .pdf or .png
--data FILE  Path
    where its numbers go as CSV (default: next to the picture)
--scale {log,covariance,correlation}
    of biplot and shares: logarithms, so that equal ratios weigh equally (default); the values as
    they are, as published; or the values divided by their spread

[report]
[SOURCE]
    a trial (default: the newest in runs/), {side}
[BASELINE]
    compare SOURCE with this one
[MORE...]
-o, --output FILE
    the file to write, - for standard output, or a folder for one CSV file for each table; an
    existing file is replaced (default: standard output, but html needs a file)
--format {html,md,latex,json,csv,txt}
    the format (default: by the ending of FILE)
--guard
    for csv: put an apostrophe before cells that a spreadsheet would read as formulas
--plots DIR
    also write each picture as SVG, PDF and PNG into this folder, with its data as CSV
--sources
    also say where the variation of the trial comes from, as 'fairtrial sources' does

[resample]
--mean {geometric,harmonic,arithmetic,all}  = geometric
    the mean over the benchmarks, of the stored values (default: geometric); all: the three means
    side by side in one table
--compare
    print one table for the pair with HPT, the t interval, the randomization test and the bootstrap
--centre {runs,mean,median}  = runs
    what represents a benchmark: all its runs in the same kind of mean (default), their arithmetic
    mean, or their median
--alternative {candidate,baseline,two-sided}  = two-sided
    who is better if there is a difference
--unit {run,block,session}
    what is moved together: single runs, whole rounds or whole sessions (default: sessions if both
    sides have five of them in common, otherwise rounds if they are known, otherwise runs)
unit --draws {run,block,session}
--interval {percentile,corrected,bca,studentized}  = percentile
    the kind of bootstrap interval; with few runs, corrected and studentized cover better, and the
    answer says how well. percentile (default): the bootstrap's quantiles, as published; corrected:
    percentile, corrected for few runs; bca: bias-corrected and accelerated; studentized: by a
    bootstrap of t
--sides {two,lower,upper}  = two
    a two-sided interval (default), or a bound on one side only
--resamples N  int = 10000
    random draws for each of test, interval and distributions
--also SOURCE...
    another variant or file, whose distribution is shown next to the two; may be repeated

[sources]
sources SOURCE...
    a trial or a fleet (runs/NAME); with --response or --benchmarks, a table
--resamples N  int
    random orders for each factor (default: 2000); with --benchmarks, draws of the runs (default:
    500)
--response COLUMN
    of a table: the column to predict; several columns, with commas between them, are the runs of
    one measurement: then its mean and its variation are predicted
--benchmarks NAME,...
    of a table, instead of --response: predict the geometric mean of the medians of these
    benchmarks, and its variation by resampling; their runs are in columns such as 'gcc 1' and
    'gcc 2'
--flags COLUMN,...
    of a table: columns of texts such as '-O3 -ipo'; each of the 100 most common flags predicts on
    its own
--group COLUMN
    of a table: the column of families; a family is held out as a whole
--ignore COLUMN,...
    of a table: columns that must not predict
--variation COLUMN
    of a table: the column with the standard deviation of the runs behind the response
--runs N  int
    of a table: how many runs --variation was computed from
--test-share S  number
    of a table: hold out this share of the rows once, such as 0.3 as published (default: each row is
    held out once, in ten folds)
--plot FILE
    also draw the response of a table and its predictions; the ending of FILE is the format: .svg,
    .png or .pdf

[speedup-test]
CANDIDATE
    the new version (runs/NAME:VARIANT, or a matrix file), or a configuration (CONFIG)
[BASELINE]
    the old version (default: the baseline of the candidate's campaign)
--confidence R  level_or_search
    confidence between 0 and 1, or 'search' for the highest level that is significant (default:
    0.95; search, if a configuration gives no level)
confidence --conf-level R  level_or_search
confidence --search  const = search
    the same as --confidence search
--weight {custom,equal,fraction}
    weights of the benchmarks: the configuration's Coef (default with a configuration), equal
    (default otherwise), or their fraction of the baseline's time
--precision R  number = 0.05
    the half-width for which the necessary number of benchmarks is computed
--compatible
    search for levels by bisection, as the original tool does, instead of for the highest one
-o, --output PREFIX
    write PREFIX.status, .out, .warning and .report (default: CONFIG; none otherwise)
--steps, --verbose
    also print the steps of each benchmark's decision
--original
    print what the original tool prints, word for word

[study]
kind {power,type1,coverage,draw}
    what is counted
MATRIX
    {side}
[BASELINE]
    for draw: the other side (default: the baseline of the campaign of MATRIX)
--runs M[,M]  numbers
    runs of each benchmark and side; several numbers are studied one by one (default: 5 for power
    and draw, 3,5,10 for type1, 3,5,10,30 for coverage)
--shift P  number
    for power: by how many percent a shifted benchmark is faster (default: 1)
--shift-by D  number
    for power, instead of --shift: what is added to each value of a shifted benchmark, in the unit
    of the values (published: 1.0 s)
--shifted K[,K]  numbers
    for power: how many benchmarks are shifted (default: 0 to all)
--speedup G  number
    for draw: test whether the candidate is more than G times better (default: 1, in either
    direction)
--alternative {two-sided,candidate}
    the alternative of every test of power, type1 and draw (default: two-sided; with --speedup:
    candidate)
--alpha A[,A]  levels
    level of the tests (default: 0.05; for draw, which takes several, 0.01,0.05); intervals have the
    confidence 1 - A, with the largest A of several
--mean {geometric,harmonic,arithmetic}
    for coverage: the mean over the benchmarks (default: geometric)
--unit {run,block}  = run
    draw runs of each benchmark on its own (default), or whole blocks of a trial
unit --draws {run,block}
--without-replacement
    draw no run twice in one comparison, as published; if both sides come from one MATRIX, it needs
    as many runs as both sides draw
--simulations N  int
    simulated comparisons for each line (default: 200; 500 for type1, 100 for draw)
--resamples N  int = 999
    of each randomization test or bootstrap
--plot FILE
    also draw the rates of power and type1, or the intervals of draw; the ending of FILE is the
    format: .svg, .png or .pdf

[bundle]
sources SOURCE...
    a trial (runs/NAME), a folder of trials, or a file or folder of another tool
-o, --output FILE!  Path
    the archive; an existing one is replaced
--claims FILE  Path
    sentences of a paper, each bound to a command and a value (claims.yaml)
--about FILE  Path
    title, authors, licence, DOI and further files (default: bundle.yaml next to the campaign)
--campaign FILE  Path
    where the campaign file is now (default: where it was when the trial was measured)
--binaries
    also pack the measured programs
--redact KINDS
    remove names before anything is hashed: user,host,paths,env or some of them; user=NAME and
    host=NAME add a name that is not in the trial
--max-bytes N  size_in_bytes = 10G
    the largest total size of all files, such as 500M; files of the campaign that do not fit are
    listed

[merge]
trials TRIAL...  Path
    a trial directory, or a fleet
-o, --output FOLDER!  Path
    the new folder
way --as {sessions,fleet}
    what they become (default: sessions if all have the same host id, otherwise a fleet)
--accept-drift
    go on even if programs or inputs differ between the trials of a host, and record it

[import]
sources SOURCE...
    a file, a folder, or - for standard input
-o, --output FOLDER  Path
    the new trial's folder
--dry-run
    only report what the files contain; write nothing
--format F
    read the files as this format
--variant KEY
    the key of the file that is the variant
--benchmark KEY
    the key of the file that is the benchmark
--session KEY
    what makes a session: file, folder, or a key of the file
--baseline V
    the baseline (default: the first variant)
--metric M
    only this metric
--encoding E
    encoding of text files (default: UTF-8, then cp1252)

[export]
SOURCE
    a trial (runs/NAME), {side}; or a file or folder of another tool
-o, --output FILE!
    the file, or - for standard output
to --to F
    the format: {targets}
--metric M...
    only this metric; may be repeated (default: wall time and the metrics parsed from output; all
    metrics of imported files)
--strict
    write nothing, and exit with 1, if the file cannot contain everything
--json
    print the whole result as JSON (with a FILE)

[diff]
first FIRST  Path
    a trial (runs/NAME), or another tool's file
second SECOND  Path
    the same
--margin M  share = 0.01
    speedups, or ratios of two speedups, that differ from 1 by less than this count as equivalent
--exit-code
    let the exit code say whether the conclusions hold

[diagnose]
matrix SOURCE
    a trial (runs/NAME), {side}
--normality
    do the runs look normal, and how large must a sample be before its mean does?
--estimators
    which is the steadiest figure for a benchmark: minimum, median or mean?
--clt
    do means and medians of 5, 10 ... 100 runs look normal (central limit theorem)?
--confidence R  number = 0.95
    confidence of the tests
confidence --conf-level R  number
confidence --risk R  level_of_risk
--json
    print the whole result as JSON; of several studies, one object each

[compare]
commands [COMMAND...]
    a program with arguments
--style STYLE
--sort SORT

[compare: what is compared]
--baseline COMMAND
    the command that the others are compared with
-n, --name, --command-name NAME...
    display name: one for each command (default: the command itself)
-L, --parameter-list NAME VALUES...
    fill {NAME} with each of the values, such as 1,6,9; given twice: all combinations
-P, --parameter-scan NAME FIRST LAST...
    fill {NAME} with the numbers from FIRST to LAST
-D, --parameter-step-size STEP
    the step of -P (default: 1)
attempt --try COMMAND
    execute it once, and show what it prints

[compare: how much is measured]
for_s --for TIME  duration
    longest time of measuring, such as 90s or 5m (default: 20 s for two commands)
--margin PERCENT  margin
    the largest difference that counts as none (default: 1%)
--open
    continue past 108 sessions; a larger difference is then needed
--resume[=TRIAL]
    continue a comparison: --resume TRIAL, or --resume alone for the newest
-w, --warmup N  not_negative
    warm-up runs before measuring (default: only the first try)
-r, --runs N  positive
    runs of each command, rounded up to equal sessions: no early stop
-m, --min-runs N  positive
    fewest runs of each command
-M, --max-runs N  positive
    most runs of each command
--sessions N  positive
    number of sessions, exactly; -r then counts the runs of each session

[compare: how commands are executed]
shell -S SH...
    execute commands with SH -c
--shell[=SH]...
    the same; alone: /bin/sh -c (default: no shell)
no_shell -N
    no shell, which is the default
-i, --ignore-failure
    every exit code counts as success
--exit CODE...  int
    an expected exit code; may be given again (default: 0)
-p, --prepare COMMAND...
    for a shell, before each run, untimed; one for all commands, or one for each
-s, --setup COMMAND
    for a shell, before the first session
-c, --cleanup COMMAND
    for a shell, after the last session
--stdin, --input FILE...  input_file
    standard input, of all or of each (default: /dev/null)
--output WHERE
    where commands print: null, pipe, inherit or a FILE (default: null; pipe where the try shows that
    /dev/null changes the time)
--timeout SECONDS  float
    longest time of a run (default: none)
--cpus CPUS
    auto, none or a list such as 2,3 (default: auto)
--seed SEED  int = 1
    seed of the order
--counters[=EVENTS]
    count events, and show memory (default: instructions,cycles,branch-misses,page-faults)

[compare: the answer]
-u, --time-unit UNIT  unit
    unit of the table: s, ms or us
--export-json FILE
    also write hyperfine's JSON
--export-csv FILE
    also write hyperfine's CSV
--export-markdown FILE
    also write the answer as Markdown

[init]
[PATH]  Path = campaign.yaml
    the file, or a folder for it

[run]
campaign  Path
    the campaign, a YAML file
--dry-run
    show plan, CPUs, checks and time
--probe
    with --dry-run: execute the first block once, to estimate the time; keep nothing of it
--only BENCHMARK:VARIANT  named
    execute this cell alone, a warm-up and a run, and show its output; nothing is stored
--resume
    go on with the newest unfinished trial
--trial TRIAL  Path
    with --resume: go on with this trial, or start it there if no run was ever made there
--sessions N  sessions_or_more
    sessions in all (default: the campaign's); with --resume more can be appended, and +N adds N to
    those that are planned
--seed SEED  int
    in place of the campaign's (default: that)
--accept-drift
    with --resume: go on although something has changed, and record it
--built
    the programs are there already, as for the hosts of a fleet: build nothing

[bisect]
[GOOD]
    the older commit: a tag or a SHA
[BAD]
    the newer commit
--campaign FILE  Path
    how it is measured (default: campaign.yaml)
--benchmark NAME...
    only this one; may be repeated
--metric NAME
    what is compared (default: the campaign's judge, else wall)
--variant NAME
    the variant whose settings every commit has (default: the campaign's baseline)
--margin M  share
    differences smaller than this count as none (default: 0.01)
--risk P  share
    risk of naming a wrong commit, all proofs together (default: 0.05)
--looks LIST  growing_looks
    numbers of sessions at which each pair is judged (default: 6,12,24)
--sessions-max N  positive
    sessions in all (default: no limit)
--all
    also where there are more than 1,000 commits
--work-dir DIR  Path
    where commits are built and programs kept (default: in ~/.cache/fairtrial)
--resume[=FOLDER]  Path
    go on with this bisection (default: the newest that is not ended)
--dry-run
    show what is to be expected; build nothing
--why
    then ask of each culprit in which functions it differs from its parent, as 'fairtrial why'

[status]
[TRIAL]  Path
    a trial, or a fleet (default: all in --dir)
--diff
    show what changed in the environment between the sessions of TRIAL

[doctor]
[CAMPAIGN]  Path
    check the host for this campaign (default: in general)
--strict
    exit with 3 on warnings; with a campaign, on warnings of the checks that it requires
--probe TIME  short_time
    how long to watch whether other work takes the measured CPUs, such as 2s, at most 60s (default:
    200ms, as before a session)

[tune]
campaign --for CAMPAIGN  Path
    for the CPUs of this campaign (default: those that cpus: auto chooses)
--dry-run
    show the list, and change nothing
--yes
    do not ask
--offline-sibling
    also take the sibling threads of the measured cores offline
--undo
    put back what was changed before
argv -- COMMAND
    the command to execute while the settings are changed

[submit]
campaign  Path
    the campaign; with --resume, the folder of the fleet
--hosts LIST
    the nodes, in Slurm's notation
--partition NAME
    the partition (default: the cluster's)
--count N  positive
    number of hosts of the partition (default: all)
--time LIMIT
    time limit of each job, in Slurm's notation (default: twice the time of the plan, according to
    an earlier trial)
--build {node,once}  = node
    build the programs in each job, or once here before the jobs are submitted
--resume
    submit jobs for what the fleet has not measured yet
--dry-run
    show the script and the jobs; write nothing
--seed SEED  int
    seed to use instead of the campaign's (default: the campaign's)

[cancel]
fleet  Path
    the folder of the fleet

[why]
[TRIAL]
    a trial, or a variant of it: runs/NAME:VARIANT (default: the newest in runs/; without a variant
    all that the verdict calls slower)
--benchmark B...  named
    only this benchmark; may be repeated (default: those on which it is slower; of a named variant
    those that are decided, else all)
--sessions N  positive
    sessions to execute (default: 6)
--frequency HZ  positive
    samples a second (default: 4999; 999 with --chains dwarf)
--chains {fp,dwarf}
    record who called, too: by frame pointers, or by copies of the stack, which every program has
--rename OLD=NEW...  rename
    NEW is what the candidate calls the baseline's function OLD; may be repeated
--folded FILE
    also write the stacks of both variants, for speedscope and flamegraph.pl; callers need --chains
--any
    name functions although the whole difference is not there again
--require
    exit code 1 where no function can be named
--stored
    show what was recorded last; execute nothing

[reproduce]
ARTIFACT  Path
    the artifact, a file
-C, -o, --into FOLDER  Path
    unpack into this new folder, and keep it (default: keep nothing; with --rerun, a folder with the
    artifact's name and -rerun)
--md
    the result as Markdown
--max-entries N  positive = 10000
    accept at most this number of files (default: 10000)
--max-bytes N  size = 10G
    accept at most this size, such as 20G (default: 10G)
--timeout SECONDS  float
    time limit for everything that is computed again (default: 600)
--max-memory N  size
    memory limit for each command, such as 8G (default: 4 GiB)

[reproduce: measuring again]
--rerun
    execute the campaign, and compare
--yes-execute
    agree to the execution of what --rerun shows: builds, hooks and targets, with your rights
--sessions N  positive
    sessions to measure (default: as many as the authors measured)
--trial NAME...
    only this trial of the artifact; may be repeated (default: all)
--metric M
    the metric to compare (default: that of the verdict)
--confidence R  float
    confidence of the intervals (default: 0.95)

[completion]
shell SHELL{bash,zsh,fish}
    the shell: bash, zsh or fish
"""
