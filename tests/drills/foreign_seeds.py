"""Small files of other tools, in the layout of each, for the fuzzer; written by hand, values invented.

The folder in which a file lies is the format for which it is read, whatever is left of it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path

FOREIGN: dict[str, str] = {
    "hyperfine/h.json": """{
 "results": [
  {"command": "sort a", "mean": 0.2, "stddev": 0.1, "median": 0.2, "user": 0.1, "system": 0.0,
   "min": 0.1, "max": 0.3, "times": [0.1, 0.2, 0.3], "exit_codes": [0, 1, null],
   "memory_usage_byte": [1024, 2048, 0], "parameters": {"n": "10"}},
  {"command": "sort b", "mean": 0.5, "times": [0.5, 0.25], "exit_codes": [0, 0]}
 ]
}""",
    "hyperfine/h.csv": "command,mean,stddev,median,user,system,min,max\nx,1,2,3,4,5,6,7\n",
    "pyperf/p.json": """{
 "version": "1.0",
 "metadata": {"hostname": "h", "cpu_model_name": "m", "loops": 4, "unit": "second"},
 "benchmarks": [
  {"metadata": {"name": "telco", "inner_loops": 2}, "runs": [
   {"metadata": {"calibrate_loops": 4}, "warmups": [[1, 0.5]]},
   {"metadata": {"values": 2, "warmups": 1}, "values": [0.01, 0.02], "warmups": [[4, 0.03]]},
   {"values": [0.015, 0.025], "warmups": [[4, 0.02]]}]},
  {"metadata": {"name": "mem", "unit": "byte"}, "runs": [{"values": [1024, 2048]}]}
 ]
}""",
    "google-benchmark/g.json": """{
 "context": {"host_name": "h", "num_cpus": 2, "library_build_type": "debug"},
 "benchmarks": [
  {"name": "BM_A/8", "run_name": "BM_A/8", "run_type": "iteration", "repetitions": 2,
   "repetition_index": 0, "iterations": 100, "real_time": 1.5, "cpu_time": 1.25, "time_unit": "ns",
   "bytes_per_second": 1e6, "widgets": 3.0},
  {"name": "BM_A/8", "run_name": "BM_A/8", "run_type": "iteration", "repetition_index": 1,
   "iterations": 90, "real_time": 2.5, "cpu_time": 2.0, "time_unit": "us", "widgets": 4},
  {"name": "BM_A/8_mean", "run_name": "BM_A/8", "run_type": "aggregate", "aggregate_name": "mean",
   "real_time": 2.0, "cpu_time": 1.5, "time_unit": "ns"},
  {"name": "BM_E", "run_type": "iteration", "error_occurred": true, "error_message": "no",
   "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}
 ]
}""",
    "google-benchmark/g.csv": "2026-11-21T00:00:00+00:00\n"
    "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,"
    "error_occurred,error_message\n"
    '"BM_A/8",100,1.5,1.25,ns,,,,,\n"BM_A/8",100,2.5,2.25,ns,,,,,\n'
    '"BM_A/8_mean",2,2,1.75,ns,,,,,\n"BM_E",,,,,,,,true,"no"\n',
    "pytest-benchmark/b.json": """{
 "machine_info": {"node": "h", "cpu": {"brand_raw": "m"}},
 "commit_info": {"id": "abc"},
 "benchmarks": [
  {"group": null, "name": "test_a[1]", "fullname": "t.py::test_a[1]", "params": {"n": 1},
   "param": "1", "extra_info": {"k": "v"}, "options": {"warmup": false},
   "stats": {"min": 0.1, "max": 0.3, "mean": 0.2, "rounds": 3, "iterations": 5,
    "data": [0.1, 0.2, 0.3]}}
 ],
 "datetime": "2026-11-21T00:00:00+00:00", "version": "5.1.0"
}""",
    "rebench/r.data": "#!rebench -D r.conf\n# Execution Start: 2026-11-21T05:28:41+00:00\n"
    '# Environment: {"hostName":"h","memory":1}\n# Source: {"commitId":"abc"}\n'
    "invocation\titeration\tvalue\tunit\tcriterion\tbenchmark\texecutor\tsuite\textraArgs\tcores\t"
    "inputSize\tvarValue\ttag\tmachine\trunId\n"
    '# benchmark: 0={"name":"Sort","suite":{"name":"S","executor":{"name":"Shell"}}}\n'
    '# run_id: 0={"cmdline":"run.sh sort","benchmark":{"name":"Sort","suite":{"name":"S",'
    '"executor":{"name":"Shell"}}},"cores":"1","inputSize":"10"}\n'
    "1\t1\t12.5\tms\ttotal\tSort\tShell\tS\t\t1\t10\t\t\t\t0\n"
    "1\t1\t800\tkb\tMaxRSS\tSort\tShell\tS\t\t1\t10\t\t\t\t0\n"
    "1\t2\t13.5\tms\ttotal\tSort\tShell\tS\t\t1\t10\t\t\t\t0\n"
    "2\t1\t11.5\tms\ttotal\tSort\tShell\tS\t\t1\t10\t\t\t\t0\n"
    "1\t1\t14.5\tms\ttotal\tSort\tShell\tS\t\t1\t10\t\t\t\t0\n",
    "jmh/j.json": """[
 {"jmhVersion": "1.37", "benchmark": "a.B.c", "mode": "avgt", "threads": 1, "forks": 2,
  "jvm": "/java", "warmupIterations": 1, "measurementIterations": 2, "params": {"n": "10"},
  "primaryMetric": {"score": 2.0, "scoreError": "NaN", "scoreUnit": "us/op",
   "rawData": [[1.5, 2.5], [2.0, 2.0]]},
  "secondaryMetrics": {"gc.alloc": {"score": 8, "scoreUnit": "B/op", "rawData": [[8.0, 8.0], [9, 7]]}}},
 {"benchmark": "a.B.d", "mode": "sample", "forks": 0, "warmupIterations": 0,
  "primaryMetric": {"scoreUnit": "ms/op", "rawDataHistogram": [[[[0.5, 3], [0.75, 1]]]]},
  "secondaryMetrics": {}}
]""",
    "go-bench/go.txt": "goos: linux\ngoarch: amd64\npkg: example.org/p\ncpu: m\n"
    "BenchmarkA/n=1-8   \t 1000\t 1234.5 ns/op\t 16 B/op\t 2 allocs/op\n"
    "BenchmarkA/n=1-8   \t 1000\t 1200 ns/op\t 16 B/op\t 2 allocs/op\n"
    "BenchmarkB-8 said something\n 500\t 2.5 ns/op\t 7.5 widgets/op\n"
    "--- FAIL: BenchmarkC\n    x_test.go:1: no\nPASS\nok  \texample.org/p\t1.0s\n",
    "go-bench/go.jsonl": '{"Action":"start","Package":"p"}\n'
    '{"Action":"output","Package":"p","Output":"goos: linux\\n"}\n'
    '{"Action":"output","Package":"p","Test":"BenchmarkJ","Output":"BenchmarkJ-2   \\t"}\n'
    '{"Action":"output","Package":"p","Output":"     100\\t  12.5 ns/op\\t 2 B/op\\n"}\n'
    '{"Action":"output","Package":"p","Output":"PASS\\n"}\n{"Action":"pass","Package":"p"}\n',
    "criterion/fold/new/sample.json": '{"sampling_mode": "Linear", "iters": [10.0, 20.0, 30.0], '
    '"times": [1000.0, 2100.0, 2900.0]}',
    "criterion/fold/new/benchmark.json": '{"group_id": "g", "function_id": "f", "value_str": "1", '
    '"throughput": {"Elements": 10}, "full_id": "g/f/1", "directory_name": "g/f/1", "title": "t"}',
    "criterion/raw.csv": "group,function,value,throughput_num,throughput_type,"
    "sample_measured_value,unit,iteration_count\ng,f,1,10,elements,1000.0,ns,10\n"
    "g,f,1,10,elements,2100.0,ns,20\n",
    "criterion/old.csv": "group,function,value,sample_time_nanos,iteration_count\n"
    "g,f,,1000.0,10\ng,f,,2000.0,20\n",
    "criterion/messages.jsonl": '{"reason":"benchmark-complete","id":"g/f","iteration_count":[10,20],'
    '"measured_values":[1000.0,2100.0],"unit":"ns"}\n{"reason":"group-complete","group_name":"g"}\n',
    "asv/machine/abc-env.json": '{"commit_hash": "abc", "env_name": "env", "params": {"arch": "x", '
    '"ram": 1}, "result_columns": ["result", "params", "version", "started_at", "duration", '
    '"stats_ci_99_a", "stats_ci_99_b", "stats_q_25", "stats_q_75", "stats_number", "stats_repeat", '
    '"samples"], "results": {"s.time_a": [[0.1, null], [["1", "2"]], "v", 1, 2.0, [0.1, null], '
    "[0.2, null], [0.1, null], [0.1, null], [5, null], [2, null], [[0.1, 0.2], null]], "
    '"s.mem_b": [[2048.0], [], "v"], "s.track_c": [42], "s.time_d": [null, [], "v"]}, "version": 2}',
    "asv/benchmarks.json": '{"s.time_a": {"param_names": ["n"], "params": [["1", "2"]], '
    '"type": "time", "unit": "seconds"}, "s.mem_b": {"unit": "bytes"}, '
    '"s.track_c": {"unit": "unit"}, "version": 2}',
    "benchexec/be.xml": """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE result PUBLIC '+//IDN x//DTD BenchExec result 3.12//EN' 'https://www.example.org/r.dtd'>
<result benchmarkname="b" tool="T" version="1" starttime="2026-11-21T00:00:00" name="n">
  <columns><column title="status"/></columns>
  <systeminfo hostname="h"><os name="L"/><cpu model="m" cores="2"/><environment/></systeminfo>
  <run name="one"><column title="status" value="true"/><column title="walltime" value="0.5s"/>
    <column title="cputime" value="0.25s"/><column title="memory" value="1024B"/>
    <column title="category" value="correct"/></run>
  <run name="two"><column title="status" value="TIMEOUT"/><column title="walltime" value="9s"/>
    <column title="category" value="error"/></run>
</result>""",
    "benchexec/table.csv": "tool\tT\tT\tT\nrun set\tn\tn\tn\n\tstatus\tcputime (s)\twalltime (s)\n"
    "one\ttrue\t0.25\t0.5\ntwo\tTIMEOUT\t9\t9\n",
    "perf-stat/x.csv": "0.49,msec,task-clock,10.08%,491938,100.00,0.118,CPUs utilized\n"
    "49,,page-faults,0.65%,491938,99.00,88.9,K/sec\n<not supported>,,cycles,0.00%,0,100.00,,\n",
    "perf-stat/j.jsonl": '{"counter-value" : "0.5", "unit" : "msec", "event" : "task-clock", '
    '"event-runtime" : 5, "pcnt-running" : 100.00}\n{"counter-value" : "49", "unit" : "", '
    '"event" : "page-faults", "variance" : 1.5, "event-runtime" : 5, "pcnt-running" : 50.0}\n',
    "perf-stat/table.txt": " Performance counter stats for 'true' (2 runs):\n\n"
    "   0.5 msec task-clock  # 0.1 CPUs utilized  ( +- 1.0% )\n\n"
    "   # Table of individual measurements:\n   0.0012 (+0.0001) #\n   0.0010 (-0.0001) #\n\n"
    "   # Final result:\n   0.0011 +- 0.0001 seconds time elapsed  ( +-  9.09% )\n",
    "spec-cpu/s.csv": '"SPEC CPU2017 Results"\n\n"Full Results Table"\n\n'
    'Benchmark,"Base # Copies","Est. Base Run Time","Est. Base Rate","Base Selected","Base Status",'
    '"Peak # Copies","Est. Peak Run Time","Est. Peak Rate","Peak Selected","Peak Status",Description\n'
    "505.mcf_r,1,300.5,5.4,0,S,1,290,5.6,1,S,ref iteration #1\n"
    "505.mcf_r,1,301.5,5.3,1,S,1,,,0,RE,ref iteration #2\n\n"
    '"Selected Results Table"\n\nBenchmark,"Base # Copies"\n505.mcf_r,1\n',
    "spec-cpu/s.rsf": "spec.cpu2006.results.462_libquantum.base.000.reported_time: 502.75\n"
    "spec.cpu2006.results.462_libquantum.base.000.ratio: 41.2\n"
    "spec.cpu2006.results.462_libquantum.base.000.valid: S\n"
    "spec.cpu2006.results.462_libquantum.base.001.reported_time: --\n"
    "spec.cpu2006.results.462_libquantum.base.001.valid: RE\n",
    "benchmarkdotnet/b-report-full.json": """{
 "Title": "T-20260102-030405", "HostEnvironmentInfo": {"ProcessorName": "m"},
 "Benchmarks": [
  {"DisplayInfo": "T.M: A(Runtime=1) [N=1]", "Namespace": "P", "Type": "T", "Method": "M",
   "MethodTitle": "M", "Parameters": "N=1", "FullName": "P.T.M(N: 1)",
   "Statistics": {"OriginalValues": [10.5, 11.5]}, "Memory": {"Gen0Collections": 1},
   "Measurements": [
    {"IterationMode": "Overhead", "IterationStage": "Actual", "LaunchIndex": 1, "IterationIndex": 1,
     "Operations": 2, "Nanoseconds": 3},
    {"IterationMode": "Workload", "IterationStage": "Warmup", "LaunchIndex": 1, "IterationIndex": 1,
     "Operations": 2, "Nanoseconds": 30},
    {"IterationMode": "Workload", "IterationStage": "Actual", "LaunchIndex": 1, "IterationIndex": 1,
     "Operations": 2, "Nanoseconds": 24},
    {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 1, "IterationIndex": 1,
     "Operations": 2, "Nanoseconds": 21},
    {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 2, "IterationIndex": 1,
     "Operations": 2, "Nanoseconds": 23}]},
  {"DisplayInfo": "T.M: B(Runtime=2) [N=1]", "Type": "T", "Method": "M", "Parameters": "N=1",
   "FullName": "P.T.M(N: 1)", "Statistics": {"OriginalValues": [10.5, 12.5]}},
  {"DisplayInfo": "T.F: B(Runtime=2)", "Type": "T", "Method": "F", "Statistics": null, "Measurements": []}
 ]
}""",
    "js/mitata.json": '{"layout": [{"name": null}, {"name": "g"}], "benchmarks": [{"kind": "args", '
    '"args": {"n": [1, 2]}, "alias": "b $n", "group": 1, "runs": [{"stats": {"kind": "fn", "samples": '
    '[1.5, 2.5, 3.5], "ticks": 24}, "args": {"n": 1}, "name": "b 1"}, {"stats": {"samples": [4.5], '
    '"ticks": 1}, "args": {"n": 2}, "name": "b 2"}]}, {"alias": "f", "group": 0, "runs": [{"error": '
    '{"message": "no"}, "args": {}, "name": "f"}]}], "context": {"now": 1, "cpu": {"name": "m"}}}',
    "js/benchmarkjs.json": '[{"name": "a", "stats": {"moe": 1e-9, "rme": 2.5, "sample": [1.5e-8, 2e-8]}, '
    '"count": 400, "cycles": 2}, {"name": "f", "stats": {"moe": 0, "rme": 0, "sample": []}, "count": 0, '
    '"cycles": 0, "error": {}}]',
    "js/tinybench.json": '[{"name": "a", "result": {"state": "completed", "latency": {"samples": [0.25, '
    '0.5]}, "throughput": {"mean": 3}}}, {"name": "f", "result": {"state": "errored", "error": {}}}, '
    '{"name": "old", "result": {"rme": 1, "samples": [0.75]}}]',
    "js/vitest.json": '{"files": [{"filepath": "f", "groups": [{"fullName": "f > g", "benchmarks": '
    '[{"name": "a", "rme": 1, "mean": 0.5, "samples": [0.25, 0.75]}, {"name": "b", "rme": 0, "samples": '
    "[]}]}]}]}",
    "nanobench/n.json": '{"results": [{"title": "t", "name": "a", "unit": "op", "batch": 2, "epochs": 2, '
    '"median(elapsed)": 1.5e-9, "measurements": [{"iterations": 3, "elapsed": 1.5e-9, "instructions": '
    '2.5, "pagefaults": 0}, {"iterations": 4, "elapsed": 2e-9, "instructions": 3, "pagefaults": 0}]}]}',
    "julia/j.json": '[{"Julia": "1.10", "BenchmarkTools": "1.5.0"}, [["BenchmarkGroup", {"data": {"g": '
    '["BenchmarkGroup", {"data": {"a": ["Trial", {"params": ["Parameters", {"evals": 10, "seconds": 5}], '
    '"times": [5.5, 7.25], "gctimes": [0.0, 1.5], "memory": 0, "allocs": 0}], "b": ["TrialEstimate", '
    '{"time": 3.0}]}, "tags": []}]}, "tags": []}]]]',
    "long-csv/bench-of-r.csv": '"expression","n","min","median","itr/sec","mem_alloc","gc/sec","n_itr","n_gc",'
    '"total_time","time","level0","gc"\n"sort(x)",10,1µs,2µs,3.5,1KB,0,2,0,3µs,1.5µs,0,"none"\n'
    '"sort(x)",10,1µs,2µs,3.5,1KB,0,2,0,3µs, 950ns,0,"none"\n"rev",10,1µs,2µs,3.5,1KB,0,2,0,3µs,2e-06,0,'
    '"level0"\n',
    "long-csv/microbenchmark.csv": '"","expr","time"\n"1","a",1500\n"2","b",2500\n"3","a",1600.5\n',
    "jmh-log/l.log": "# JMH version: 1.37\n# Threads: 1 thread\n# Benchmark mode: Average time, time/op\n"
    "# Benchmark: p.C.m\n# Parameters: (n = 10, s = a, b)\n\n# Fork: 1 of 2\n# Warmup Iteration   1: 9.5 us/op\n"
    "Iteration   1: 1.5 ±(99.9%) 0.1 us/op\nIteration   2: n = 3, mean = 2 us/op, p{0.00} = 1 us/op\n"
    "# Fork: 2 of 2\nIteration   1: ≈ 10⁻⁴ us/op\n\n# Benchmark: p.C.k\n\n# Fork: 1 of 1\nIteration   1: 1,5 ops/s\n",
    "renaissance-log/r.log": "====== s (f) [default], iteration 0 completed (1500.5 ms) ======\n"
    "====== s (f) [default], iteration 1 completed (500.25 ms) ======\n"
    "====== s (f), iteration 0 completed (700 ms) ======\n",
    "long-csv/l.csv": "benchmark,variant,session,run,iteration,value,unit,ok,warmup\n"
    "x,a,1,1,1,0.5,ms,true,0\nx,a,1,1,2,0.75,ms,true,0\nx,b,1,1,1,0.25,ms,false,0\n"
    'x,b,2,2,1,0.25,ms,true,1\n"y, z",b,2,2,1,2,ms,true,0\n',
    "long-csv/semicolon.csv": "# of a spreadsheet\nBench;System;time_ms;memory (KiB)\nx;a;1,5;10\nx;b;2,5;20\n",
    "speedup-test/bench.cfg": "Name,Sample1,Sample2,ConfLevel,Coef\n"
    '"First","one.data","two.data",0.95,2\n"Second","two.data","one.data",NA,\n',
    "speedup-test/one.data": "1.5\n2.5\n3\n",
    "speedup-test/two.data": "1.25\n2\n# x\n",
    "matrix/m.csv": "x,1.5,2.5,3\ny,1,2,3\n",
    "matrix/m.txt": "# times\n1.5 2.5\n1 2\n",
    "numbers/n.dat": "1.5\n2 # two\n3\n",
    "wide-csv/w.csv": "benchmark,run1,run2,run3\nx,1.5,2.5,\ny,1,2,3\n",
}


def seed_foreign(folder: Path) -> None:
    """Write them all, and some packed, in UTF-16, and as Parquet where pyarrow is installed."""
    for name, text in FOREIGN.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    plain = FOREIGN["pyperf/p.json"].encode()
    (folder / "pyperf" / "packed.json.gz").write_bytes(gzip.compress(plain, mtime=0))
    (folder / "pyperf" / "packed.json.xz").write_bytes(lzma.compress(plain))
    (folder / "benchexec" / "packed.xml.bz2").write_bytes(
        bz2.compress(FOREIGN["benchexec/be.xml"].encode())
    )
    wide = FOREIGN["go-bench/go.txt"].encode("utf-16")
    (folder / "go-bench" / "wide.txt").write_bytes(wide)
    (folder / "parquet").mkdir()
    (folder / "parquet" / "t.parquet").write_bytes(_parquet())
    (folder / "pyperf" / "packed.json.zst").write_bytes(_zstd(plain))


def _parquet() -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return b"PAR1 no library here PAR1"
    table = pyarrow.table(
        {"benchmark": ["x", "x", "y"], "variant": ["a", "b", "a"], "value": [1.5, 2.5, 3.5]}
    )
    place = io.BytesIO()
    parquet.write_table(table, place)
    return place.getvalue()


def _zstd(data: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        return b"\x28\xb5\x2f\xfd no library here"
    packed: bytes = zstandard.ZstdCompressor().compress(data)
    return packed
