"""What each column of a table is: by its heading, by its cells, and never pooled in silence.

Authority: the rows themselves, which a person would part so; a pooled column was a confident wrong verdict.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError, UsageError
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.headings import _TOO
from analysis.importers.parsing import NAMES
from analysis.importers.registry import read_foreign
from analysis.record.manifest import COLUMNS_ASKED, asking
from harness.cli import main


def said(found) -> str:
    return found.read_as.removeprefix("read as: ")


def cells(found) -> str:
    """Give benchmark@variant, values in the unit of the file's heading, and how many runs failed."""
    texts = []
    for c in found.cells:
        name = c.benchmark if c.variant is None else f"{c.benchmark}@{c.variant}"
        values = [f" {v * 1000 if c.unit == 's' else v:.9g}" for v in c.values]
        texts.append(f"{name}:{''.join(values)}" + ("" if c.failed is None else f" !{c.failed}"))
    return " | ".join(texts)


TABLES = {
    "a word of variants": (
        "benchmark,algorithm,time_ms\nsort,quick,10\nsort,quick,11\nsort,heap,30\nsort,heap,31\n",
        "benchmark=benchmark, variant=algorithm, value=time_ms [ms]", "sort@quick: 10 11 | sort@heap: 30 31",
    ),
    "no benchmark": (
        "algorithm,time_ms\nquick,1.5\nquick,1.6\nheap,2.5\nheap,2.4\n",
        "variant=algorithm, value=time_ms [ms]", "values@quick: 1.5 1.6 | values@heap: 2.5 2.4",
    ),
    "columns of two sides": (
        "benchmark,old_base_ms,new_base_ms,speedup\na,10,11,1.1\nb,20,19,0.9\n",
        "benchmark=benchmark, variant=old_base_ms [ms]+new_base_ms", "a@old: 10 | a@new: 11 | b@old: 20 | b@new: 19",
    ),
    "two metrics of two sides": (
        "case,time_before,rss_before,time_after,rss_after\na,10,4,11,5\nb,20,4,19,\n",
        "benchmark=case, variant=time_before+time_after+rss_before+rss_after",
        "a@before: 10 | a@before: 4 | a@after: 11 | a@after: 5 | b@before: 20 | b@before: 4 | b@after: 19 | b@after:",
    ),
    "outcomes of two sides": (
        "benchmark,old_ms,new_ms,old_status,new_status\na,10,99,ok,timeout\na,11,12,ok,ok\n",
        "benchmark=benchmark, variant=old_ms [ms]+new_ms, outcome=status", "a@old: 10 11 !0 | a@new: 12 !1",
    ),
    "phases are no sides": ("benchmark,parse_ms,old_ms\na,10,11\na,9,12\n", "benchmark=benchmark, value=parse_ms [ms]+old_ms [ms]", "a: 10 9 | a: 11 12"),
    "texts that tell rows apart": (
        "benchmark,variant,flavour,run,time_ms\ns,old,a,1,1\ns,old,a,2,2\ns,old,b,3,8\ns,new,a,4,2\ns,new,b,5,9\n",
        "benchmark=benchmark, variant=variant, value=time_ms [ms], run=run, factor=flavour",
        "s flavour=a@old: 1 2 | s flavour=b@old: 8 | s flavour=a@new: 2 | s flavour=b@new: 9",
    ),
    "a setting": (
        "bench,threads,time_ms\nf,1,8\nf,1,9\nf,4,2\nf,4,3\n",
        "benchmark=bench, value=time_ms [ms], factor=threads", "f threads=1: 8 9 | f threads=4: 2 3",
    ),
    "few values, each as often": (
        "bench,ratio,time_ms\nf,0.1,8\nf,0.1,9\nf,0.9,2\nf,0.9,3\n",
        "benchmark=bench, value=time_ms [ms], factor=ratio", "f ratio=0.1: 8 9 | f ratio=0.9: 2 3",
    ),
    "hashes of one variant": (
        "path,shell_name,shell_hash,time_ms\na,osh,75aa11bb,1\na,osh,85aa11bb,2\na,sh,95aa11bb,3\na,sh,95aa11bb,4\na,osh,75aa11bb,1\na,osh,85aa11bb,2\n",
        "benchmark=path, variant=shell_name, value=time_ms [ms], factor=shell_hash",
        "a@osh shell_hash=75aa11bb: 1 1 | a@osh shell_hash=85aa11bb: 2 2 | a@sh shell_hash=95aa11bb: 3 4",
    ),
    "what follows from the names": (
        "benchmark,group,language,time_ms\na,x,c,1\na,x,c,2\nb,y,go,3\nb,y,go,4\n",
        "benchmark=benchmark, value=time_ms [ms]", "a: 1 2 | b: 3 4",
    ),
    "outcomes all good": (
        "name,valid,timed_out,exit_code,time_ms\na,true,false,0,1\na,false,false,0,2\na,true,true,0,3\na,true,false,9,4\n",
        "benchmark=name, value=time_ms [ms], outcome=exit_code+valid+timed_out", "a: 1 !3",
    ),
    "units under any heading": ("name,value,scale\na,1,ms\na,2,ms\n", "benchmark=name, value=value, unit=scale", "a: 1 2"),
    "yes and no alone are a factor": (
        "name,cached,time_ms\na,yes,1\na,no,9\na,yes,2\na,no,8\n",
        "benchmark=name, value=time_ms [ms], factor=cached", "a cached=yes: 1 2 | a cached=no: 9 8",
    ),
    "remarks of failed runs": (
        "name,ok,remark,time_ms\na,1,,1\na,0,broken pipe,\na,1,,2\na,0,no such file,\n",
        "benchmark=name, value=time_ms [ms], outcome=ok", "a: 1 2 !2",
    ),
    "camel case": (
        "testName,shellName,threadCount,exitCode,elapsedMs,memKiB\na,osh,1,0,1,2\na,osh,4,0,3,2\na,osh,1,0,2,2\na,osh,4,1,9,2\n",
        "benchmark=testName, variant=shellName, value=elapsedMs [ms]+memKiB [KiB], outcome=exitCode, factor=threadCount",
        "a threadCount=1@osh: 1 2 !0 | a threadCount=1@osh: 2048 2048 !0 | a threadCount=4@osh: 3 !1 | a threadCount=4@osh: 2048 !1",
    ),
    "units in cells": ("name,run,time\na,1,1.2 s\na,2,350ms\na,3,1m2.5s\na,4,0:01:02.30\n", "benchmark=name, value=time [s], run=run", "a: 1200 350 62500 62300"),
    "units and decimal commas": ("name;size\na;1,5 kB\na;2 kB\n", "benchmark=name, value=size [B]", "a: 1500 2000"),
    "numbers that each name has, all as often": (
        "impl,ops,P,time_ms\ns,10,2,1\ns,10,4,2\ns,90,2,3\ns,90,4,4\no,10,2,5\no,10,4,6\no,90,2,7\no,90,4,8\n",
        "variant=impl, value=time_ms [ms], factor=ops+P",
        "ops=10 P=2@s: 1 | ops=10 P=4@s: 2 | ops=90 P=2@s: 3 | ops=90 P=4@s: 4 | "
        "ops=10 P=2@o: 5 | ops=10 P=4@o: 6 | ops=90 P=2@o: 7 | ops=90 P=4@o: 8",
    ),
    "sizes that were set, and one that was measured": (
        "lib,ms,payload_kB,out_kB\na,1,1,7\na,2,9,7\nb,3,1,8\nb,4,9,8\n",
        "variant=lib, value=ms [ms]+out_kB [kB], factor=payload_kB",
        "payload_kB=1@a: 1 | payload_kB=1@a: 7000 | payload_kB=9@a: 2 | payload_kB=9@a: 7000 | "
        "payload_kB=1@b: 3 | payload_kB=1@b: 8000 | payload_kB=9@b: 4 | payload_kB=9@b: 8000",
    ),
    "ratios are numbers": ("bench,ms,speedup,gain\na,1,1.5x,12%\na,2,1.4x,9 %\n", "benchmark=bench, value=ms [ms]; 2 columns ignored", "a: 1 2"),
    "a phase that warms up": ("bench,phase,ms\na,warmup,9\na,measure,1\na,measure,2\n", "benchmark=bench, value=ms [ms], warmup=phase", "a: 1 2"),
    "the only number": ("Tool,Punkte\na,3\na,4\nb,5\n", "variant=Tool, value=Punkte", "values@a: 3 4 | values@b: 5"),
    "a word of a time": ("name,total_time,mem\na,1,7\na,2,7\n", "benchmark=name, value=total_time", "a: 1 2"),
    "the file is the benchmark": ("size,time_ms\n10,1\n10,2\n99,3\n99,4\n", "value=time_ms [ms], factor=size", "size=10: 1 2 | size=99: 3 4"),
    "blanks": ("bench  time_ms\na      1\na      2\n", "benchmark=bench, value=time_ms [ms]", "a: 1 2"),
    "a separator that is said": ("sep=|\nbench|time_ms\na|1\na|2\n", "benchmark=bench, value=time_ms [ms]", "a: 1 2"),
    "empty rows": ("name,ok,time_ms\na,1,1\n,,\na,1,2\n,,\n", "benchmark=name, value=time_ms [ms], outcome=ok", "a: 1 2 !0"),
    "mixed case, decimal commas": (
        "Test Case;Compiler;Threads;Wall Time (ms)\nx;GCC;1;1,5\nx;GCC;2;1,25\nx;Clang;1;2,5\nx;Clang;2;2,25\n",
        "benchmark=Test Case, variant=Compiler, value=Wall Time (ms) [ms], factor=Threads",
        "x Threads=1@GCC: 1.5 | x Threads=2@GCC: 1.25 | x Threads=1@Clang: 2.5 | x Threads=2@Clang: 2.25",
    ),
    "runs in columns": (
        "Query;Engine;Run1 (ms);Run2 (ms);Run3 (ms);mean\nq;duckdb;2,5;3,25;2,75;2,8\nq;sqlite;8,5;;9,5;9\n",
        "benchmark=Query, variant=Engine, run=Run1 (ms) [ms]+Run2 (ms)+Run3 (ms)",
        "q@duckdb: 2.5 3.25 2.75 | q@sqlite: 8.5 9.5",
    ),
    "runs and their mean under a setting": ("Threads,Run1,Run2,Average\n1,4,5,4.5\n2,2,3,2.5\n", "run=Run1+Run2, factor=Threads", "Threads=1: 4 5 | Threads=2: 2 3"),
    "runs behind a unit": ("benchmark,time_ms_1,time_ms_2\na,1,2\nb,4,\n", "benchmark=benchmark, run=time_ms_1 [ms]+time_ms_2", "a: 1 2 | b: 4"),
    "runs of two metrics in columns": (
        "system,cold_run1,cold_run2,hot_run1,hot_run2\na,5,6,1,2\nb,9,8,3,4\n",
        "variant=system, run=cold_run1+cold_run2+hot_run1+hot_run2",
        "values@a: 5 6 | values@a: 1 2 | values@b: 9 8 | values@b: 3 4",
    ),
    "a session of two hosts, or days, is two": (
        "date,host,benchmark,session,time_ms\n2026-01-01,A,s,1,1\n2026-01-01,B,s,1,9\n2026-01-02,A,s,1,2\n",
        "benchmark=benchmark, value=time_ms [ms], session=date+host+session, time=date, host=host",
        "s: 1 | s: 9 | s: 2",
    ),
    "days and commits": (
        "date,commit,benchmark,time_ms\n2026-01-01,aaaaaaa,f,1\n2026-01-02,bbbbbbb,f,2\n2026-01-02,bbbbbbb,f,3\n",
        "benchmark=benchmark, variant=commit, value=time_ms [ms], session=date, time=date, commit=commit",
        "f@aaaaaaa: 1 | f@bbbbbbb: 2 3",
    ),
    "commits of a variant": (
        "commit,variant,benchmark,time_ms\naaaaaaa,v,f,1\nbbbbbbb,v,f,2\nbbbbbbb,v,f,3\nbbbbbbb,w,f,4\n",
        "benchmark=benchmark, variant=variant, value=time_ms [ms], commit=commit, factor=commit",
        "f commit=aaaaaaa@v: 1 | f commit=bbbbbbb@v: 2 3 | f commit=bbbbbbb@w: 4",
    ),
    "iterations in columns": (
        "benchmark,variant,invocation,iter0,iter1,status\nf,a,1,3,4,ok\nf,a,2,5,6,ok\nf,b,1,7,8,ok\nf,b,2,,,killed\n",
        "benchmark=benchmark, variant=variant, run=invocation, iteration=iter0+iter1, outcome=status",
        "f@a: 3 4 5 6 !0 | f@b: 7 8 !1",
    ),
    "hosts that are numbers": (
        "host,benchmark,variant,time_ms\n1,s,a,1\n1,s,a,2\n2,s,a,9\n2,s,b,8\n",
        "benchmark=benchmark, variant=variant, value=time_ms [ms], factor=host",
        "s host=1@a: 1 2 | s host=2@a: 9 | s host=2@b: 8",
    ),
    "settings of which each row has its own": (
        "benchmark,size,time_ms\na,10,1\na,100,2\na,1000,3\n",
        "benchmark=benchmark, value=time_ms [ms], factor=size", "a size=10: 1 | a size=100: 2 | a size=1000: 3",
    ),
    "names of which each row has its own": (
        "benchmark,dataset,time_ms\na,x,1\na,y,2\na,z,3\n",
        "benchmark=benchmark, value=time_ms [ms], factor=dataset", "a dataset=x: 1 | a dataset=y: 2 | a dataset=z: 3",
    ),
    "what went wrong": ("benchmark,error,time_ms\na,,1\na,out of disk,99\na,,2\n", "benchmark=benchmark, value=time_ms [ms], outcome=error", "a: 1 2 !1"),
    "solvers": ("instance,result,time_ms\na,sat,1\na,timeout,99\na,unsat,2\n", "benchmark=instance, value=time_ms [ms], outcome=result", "a: 1 2 !1"),
    "good words alone tell rows apart": (
        "benchmark,expected,time_ms\na,sat,1\na,unsat,2\na,sat,3\na,unsat,4\n",
        "benchmark=benchmark, value=time_ms [ms], factor=expected", "a expected=sat: 1 3 | a expected=unsat: 2 4",
    ),
    "a deviation is no outcome": ("benchmark,time_ms,error\na,1,0.5\na,2,0.5\n", "benchmark=benchmark, value=time_ms [ms]", "a: 1 2"),
    "words in the place of values": (
        "benchmark,time_ms,rss_B\na,1,5\na,DNF,\na,2,6\na,OOM,9\n",
        "benchmark=benchmark, value=time_ms [ms]+rss_B [B], outcome=time_ms", "a: 1 2 !2 | a: 5 6 !2",
    ),
    "rows of one benchmark in several units": (
        "benchmark, value, unit\na, 980, us\na, 1.5, ms\nb, 2, KiB\nb, 3, B\n",
        "benchmark=benchmark, value=value, unit=unit", "a: 0.98 1.5 | b: 2048 3",
    ),
    "numbered columns": (
        "benchmark,variant,r1,r2,t1,t2,t4\na,old,1,2,5,6,7\na,new,4,5,8,9,9\n",
        "benchmark=benchmark, variant=variant, run=r1+r2", "a@old: 1 2 | a@new: 4 5",
    ),
    "numbers alone": ("benchmark,variant,1,2\na,old,1,2\na,new,4,\n", "benchmark=benchmark, variant=variant, run=1+2", "a@old: 1 2 | a@new: 4"),
    "a clock beside a value": ("time,benchmark,value\n12:30:05,a,10\n12:30:15,a,11\n", "benchmark=benchmark, value=value, time=time", "a: 10 11"),
    "a clock beside a day": (
        "date,time,bench,ms\n2026-01-01,10:00:05,a,1\n2026-01-01,10:00:04,a,2\n2026-01-02,10:00:05,a,3\n",
        "benchmark=bench, value=ms [ms], session=date, time=date; 1 column ignored", "a: 1 2 | a: 3",
    ),
    "times that took an hour": (
        "benchmark,time,rss_B\na,01:30:15,5\na,01:30:05,6\n",
        "benchmark=benchmark, value=time [s]+rss_B [B]", "a: 5415000 5405000 | a: 5 6",
    ),
    "a series": (
        "time,commit,throughput\n2026-01-01,aaaaaaa,10\n2026-01-02,bbbbbbb,11\n",
        "variant=commit, value=throughput, session=time, time=time, commit=commit",
        "values@aaaaaaa: 10 | values@bbbbbbb: 11",
    ),
    "read and write are no directions": (
        "benchmark,direction,time_ms\na,read,1\na,write,9\na,read,2\na,write,8\n",
        "benchmark=benchmark, value=time_ms [ms], factor=direction", "a direction=read: 1 2 | a direction=write: 9 8",
    ),
    "one number a line has the unit of its heading": ("Time (s)\n0.005\n0.006\n", "value=Time (s) [s]", "values: 5 6"),
    "quotes behind blanks": ('"task", "time_ms"\n"a, b", "1"\n"c", 2\n', "benchmark=task, value=time_ms [ms]", "a, b: 1 | c: 2"),
    "a comment that names the columns": ("# by hand\n#n|time_ms\n10|1\n100|2\n", "value=time_ms [ms], factor=n", "n=10: 1 | n=100: 2"),
    "Renaissance": (
        "benchmark,duration_ns,uptime_ns,vm_start_unix_ms\nx,1000000,5,1700000000000\nx,2000000,6,1700000000009\n",
        "benchmark=benchmark, value=duration_ns [ns], run=vm_start_unix_ms; 1 column ignored", "x: 1 2",
    ),
    "BenchmarkDotNet's measurements": (
        "Target_Type;Target_Method;Job_Display;Params;Measurement_LaunchIndex;Measurement_IterationMode;Measurement_IterationStage;Measurement_IterationIndex;Measurement_Nanoseconds;Measurement_Value\n"
        "T;M;J;N=1;1;Overhead;Actual;1;8;8\nT;M;J;N=1;1;Workload;Actual;1;9;9e6\nT;M;J;N=1;1;Workload;Result;1;8;1e6\nT;M;J;N=1;2;Workload;Result;1;8;2e6\n",
        "benchmark=Target_Type+Target_Method, variant=Job_Display, value=Measurement_Value, metric='time', unit='ns', run=Measurement_LaunchIndex, "
        "iteration=Measurement_IterationIndex, warmup=Measurement_IterationStage, factor=Params",
        "T / M Params=N=1@J: 1 2",
    ),
    "GNU parallel": (
        "Seq\tHost\tStarttime\tJobRuntime\tExitval\tSignal\tCommand\n1\t:\t1.5\t   1.5\t0\t0\t./a\n2\t:\t2.5\t   9.5\t1\t0\t./a\n3\t:\t3.5\t   2.5\t0\t0\t./b\n",
        "variant=Command, value=JobRuntime, unit='s', outcome=Exitval, host=Host",
        "values@./a: 1500 !1 | values@./b: 2500 !0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_roles(foreign, name) -> None:
    text, roles, wanted = TABLES[name]
    found = foreign(text, "r.csv")
    assert said(found) == roles
    assert cells(found) == wanted


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("benchmark,run,time_ms,load\nx,1,5,0.5\nx,2,6,0.7\n", "load"),
        ("benchmark,run,time_ms,iterations\nx,1,5,7\nx,2,6,7\n", "iterations"),
        ("benchmark,run,time_ms,log\n" + "".join(f"x,{k},5,{k}.log\n" for k in range(9)), "log"),
        ("benchmark,run,time_ns,odd\n" + "".join(f"x,{k},5,{k * 7}\n" for k in range(3000)), "odd"),
        ("benchmark,position,time_ms\n" + "".join(f"x,{k % 2},5\n" for k in range(8)), "position"),
    ],
)
def test_ignored_columns_that_differ_are_named(foreign, text, named) -> None:
    found = foreign(text, "r.csv")
    assert len(found.cells) == 1
    (note,) = (one.text for one in found.notes if one.code == "columns-unread")
    assert note.endswith(f": {named}")
    assert found.read_as.endswith("; 1 column ignored")


def test_rows_without_a_value_are_counted(foreign) -> None:
    found = foreign("name,time_ms,rss_kB\na,1,\na,NA,5\na,,\na,2,6\n", "r.csv")
    assert [(c.metric, len(c.values)) for c in found.cells] == [("time_ms", 2), ("rss_kB", 2)]
    assert [n.text for n in found.notes] == [
        "1 row without a value: left out, and not counted as failed"
    ]


STATED = [
    (
        "file_name,a_time,b_time,a_sat,b_sat\nx,1,99,SAT,TIMEOUT\ny,2,3,SAT,UNSAT\n",
        {'variant': 'a_time+b_time'},
        "benchmark=file_name, variant=a_time+b_time, outcome=sat", "x@a_time: 1 !0 | x@b_time: !1 | y@a_time: 2 !0 | y@b_time: 3 !0",
    ),
    (
        "file_name,a_time,b_time,a_sat,b_sat\nx,1,99,SAT,TIMEOUT\ny,2,3,SAT,UNSAT\n",
        {'value': 'a_time', 'outcome': 'a_sat'}, "benchmark=file_name, value=a_time, outcome=a_sat", "x: 1 !0 | y: 2 !0",
    ),
    ("bench,ms,valid,status\na,1,true,fine\na,2,false,fine\n", {'outcome': 'valid'}, "benchmark=bench, value=ms [ms], outcome=valid", "a: 1 !1"),
    (
        '{"1000": [{"name": "x", "ms": 1}], "90": [{"name": "x", "ms": 2}], "version": "3", "n": 7}',
        {'benchmark': '[*][*].name', 'value': '[*][*].ms'},
        "benchmark=name, value=ms [ms], factor=[*].@", "x [*].@=1000: 1 | x [*].@=90: 2",
    ),
    (
        "Dings,Sprache,ms,Lauf\na,c,1,1\na,c,2,2\na,go,3,3\na,go,4,4\n",
        {'benchmark': 'Dings', 'variant': 'Sprache', 'value': 'ms', 'run': 'Lauf', 'unit': "'s'"},
        "benchmark=Dings, variant=Sprache, value=ms [ms], unit='s', run=Lauf", "a@c: 1000 2000 | a@go: 3000 4000",
    ),
    (
        "name,kind,a,b\nx,k,1,5\nx,l,2,6\n",
        {'benchmark': 'name+kind', 'value': 'b+a', 'better': 'higher'},
        "benchmark=name+kind, value=b+a, better='higher'", "x / k: 5 | x / k: 1 | x / l: 6 | x / l: 2",
    ),
    (
        "impl,n,t1,t2,note\nold,10,1,2,x\nold,20,3,,x\nnew,10,4,5,x\n",
        {'benchmark': 'n', 'run': 't1+t2', 'unit': 'ms'},
        "benchmark=n, variant=impl, unit='ms', run=t1+t2", "10@old: 1 2 | 20@old: 3 | 10@new: 4 5",
    ),
    ('[{"c": "x", "t": [1, 9], "codes": [0, 1]}]', {'benchmark': '[*].c', 'value': '[*].t'}, "benchmark=c, value=t; 1 column ignored", "x: 1 9"),
    ('[{"c": "x", "t": [1, 9], "tags": ["p", "q"]}]', {'benchmark': '[*].c', 'value': '[*].t'}, "benchmark=c, value=t", "x: 1 9"),
    ("benchmark,ok,time_ms\na,,1\na,1,2\n", {'ignored': 'ok'}, "benchmark=benchmark, value=time_ms [ms]; 1 column ignored", "a: 1 2"),
    ('{"names": ["a", "b"], "times": [1, 2]}', {'benchmark': 'names', 'value': 'times'}, "benchmark=names, value=times", "a: 1 | b: 2"),
    (
        "benchmark,threads,seed,time_ms,status\nf,1,1,8,odd\nf,4,2,2,odd\nf,1,3,9,odd\n",
        {'factor': 'seed', 'ignored': 'threads + status', 'value': 'Time-ms'},
        "benchmark=benchmark, value=time_ms [ms], factor=seed", "f seed=1: 8 | f seed=2: 2 | f seed=3: 9",
    ),
    (
        '{"results": [{"name": "a", "times": [[1], [2]], "threads": 1}, {"name": "a", "times": [[3], [4, 5]], "threads": 2}]}',
        {'benchmark': 'results[*].name', 'value': 'results[*].times', 'unit': 'ms'},
        "benchmark=name, value=times, unit='ms', run=run, factor=threads", "a threads=1: 1 2 | a threads=2: 3 4 5",
    ),
    (
        '[{"bench": {"name": "a"}, "sec": [1, 2]}, {"bench": {"name": "b"}, "sec": [3]}]',
        {'benchmark': 'bench.name', 'value': 'sec', 'metric': "'wall'"},
        "benchmark=name, value=sec [sec], metric='wall'", "a: 1000 2000 | b: 3000",
    ),
    (
        '{"fib": {"c": [1, 2], "go": [3, 4]}}',
        {'benchmark': '[*][*]^@', 'variant': '[*][*]@', 'value': '[*][*]'},
        "benchmark=benchmark, variant=variant, value=value", "fib@c: 1 2 | fib@go: 3 4",
    ),
    (  # a value of each path, once
        '{"r": [{"n": "a", "t": 1, "u": 9}, {"n": "a", "t": 2, "u": 8}]}',
        {'benchmark': 'r[*].n', 'value': 'r[*].t+r[*].u', 'unit': 'ms'},
        "benchmark=n, value=t+u, unit='ms'", "a: 1 2 | a: 9 8",
    ),
    (  # what stands in another object beside a value tells rows apart
        '[{"b": "x", "c": {"lib": "p", "at": [9]}, "t": {"ms": 1, "u": 5}}, {"b": "x", "c": {"lib": "q"}, "t": {"ms": 2, "u": 6}}]',
        {'benchmark': 'b', 'value': 't.ms'},
        "benchmark=b, value=ms [ms], factor=c.lib", "x c.lib=p: 1 | x c.lib=q: 2",
    ),
    (  # and so does what stands further out, even under the same name, and each key of an object
        '{"sets": [{"name": "p", "of": [{"name": "x", "ms": [1]}]}, {"name": "q", "of": [{"name": "x", "ms": [2]}]}]}',
        {'benchmark': 'sets[*].of[*].name', 'value': 'sets[*].of[*].ms'},
        "benchmark=name, value=ms [ms], factor=sets[*].name", "x sets[*].name=p: 1 | x sets[*].name=q: 2",
    ),
    (
        '{"sets": [{"name": "p", "of": [{"name": "x", "ms": [1]}]}, {"name": "q", "of": [{"name": "x", "ms": [2]}]}]}',
        {'benchmark': 'sets[*].of[*].name', 'variant': 'sets[*].name', 'value': 'sets[*].of[*].ms'},
        "benchmark=sets.of.name, variant=sets.name, value=ms [ms]", "x@p: 1 | x@q: 2",
    ),
    (
        '{"p": {"x": {"ms": 1, "n": 7}, "y": {"ms": 2, "n": 8}}, "q": {"x": {"ms": 3, "n": 9}}}',
        {'benchmark': '[*][*].@', 'value': '[*][*].ms'},
        "benchmark=benchmark, value=ms [ms], factor=[*].@", "x [*].@=p: 1 | y [*].@=p: 2 | x [*].@=q: 3",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "columns", "roles", "wanted"), STATED)
def test_what_is_stated_is_not_guessed(tmp_path, text, columns, roles, wanted) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text)
    with asking(COLUMNS_ASKED, columns):
        found = read_foreign(open_foreign(str(path)))
    assert said(found) == roles
    assert cells(found) == wanted


def test_each_list_of_lists_is_a_process_of_its_own(tmp_path) -> None:
    (tmp_path / "r.json").write_text('{"r": [{"t": [[1, 2], [3]]}, {"t": [[4], [5]]}]}')
    with asking(COLUMNS_ASKED, {"value": "r[*].t", "better": "lower"}):
        (cell,) = read_foreign(open_foreign(str(tmp_path / "r.json"))).cells
    assert cell.processes == ((1, 2), (3,), (4,), (5,))


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"value": "tims"}, "no column 'tims'\n.*columns: name, time"),
        ({"run": "a (ms)+b (s)"}, "runs have one unit, not ms, s"),
        ({"variant": "a (ms)+time"}, "variants have one unit, not ms, none"),
        ({"values": "time"}, "no role 'values'"),
        ({"value": "time", "benchmark": "time"}, "'time' has two roles"),
        ({"session": "name+time"}, "one column can be the session"),
        ({"better": "'more or less'"}, "better is lower or higher"),
    ],
)
def test_what_is_no_column_is_refused_with_those_that_are(tmp_path, columns, told) -> None:
    path = tmp_path / "r.csv"
    path.write_text("name,time,a (ms),b (s)\na,1,2,3\n")
    with asking(COLUMNS_ASKED, columns), pytest.raises(UsageError, match="(?s)" + told):
        read_foreign(open_foreign(str(path)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Dings,a,b\nx y,1,2\nx y,1,2\n", "no heading names a value: a, b hold numbers\n.*'benchmark=Dings, variant=a.b'"),
        ("Dings,Bums,ms\nx,y,1\nx,z,2\n", "no heading names a benchmark or a variant: Dings, Bums hold text\n.*value=ms'"),
        ("name,value,range\nx,1,± 2\n", "summaries only, no runs: range\n.*column is judged: --columns 'value=value'"),
        ("benchmark,time_ms\na,1\n,2\n", ":3: the column 'benchmark' is empty\n.*write the name"),
        ("Dings,t1,t2\nx y,1,2\nx y,1,2\n", "t1, t2 hold numbers\n.*'benchmark=Dings, run=t1.t2'"),
        ('benchmark,time_ms\na,"1\u00a0234,5"\n', "no number\n.*mend it"),
        ('benchmark,ms\na,7.281\na,"1.140,051"\n', ":3: '1.140,051' .*no number\n.*mend it"),
        ("benchmark;ms\na;7.281\na;1.140,051\na;1,5\n", ":2: '7.281' .*no number\n.*mend it"),
        ("size,gcc,clang,speedup\n10,1,2,2\n100,3,4,3\n", "size, gcc.*'benchmark=size, variant=gcc.clang'$"),
        ("Algorithm,10,100\nquick,1,2\nheap,3,4\n", "10, 100 hold.*'benchmark=Algorithm, variant=10.100'$"),
        ("version,sort,find\na,1,2\na,3,2\nb,1,2\nb,2,1\n", "'variant=version, value=sort.find'$"),
        (",10,100\n1,1,2\n4,3,4\n", "head the names 'benchmark', and say which: .*=benchmark, variant=10.100'$"),
        (",gcc,clang\na,1,2\nb,3,4\n", "gcc, clang may be variants, or runs of one\n.*which: --columns 'variant=gcc.clang'"),
        ("runtime,gap,ms\na b,1,2\nc,1,3\n", "runtime holds text\n.*'benchmark=runtime, value=ms'"),
        ("bench,run,time_ms\na,warmup,9\na,1,1\n", ":2: the column 'run' holds 'warmup'"),
        ("run,time_ms\n1,10\n2,11\nAverage,10.5\n", ":4: the column 'run' holds 'Average'"),
        ("test,run,time_ms\nx,1,10\nx,2,11\nx,Total:,21\n", ":4: the column 'run' holds 'Total:'"),
        ("benchmark,#,time in s\na,1,5\na,2,6\na,3,#N/A\n", ":4: '#N/A' in the column 'time in s'"),
        ("benchmark,time_min\na,1\n", r"minutes or the minimum\n.*time \(min\)"),
        ("benchmark,value\na,1\nb,2,3\n4\nc,5\n", ":3: .*3 cells"),  # the sum of all cells fits
        ("test,variant,ms\na,x,1\na,,2\na,y,3\nAverage,,2\n", ":3: the column 'variant' is empty"),
        ("run,test,ms\n1,a,1\n2,a,2\n#3,a,9\n", ":4: the column 'run' holds '#3'"),
        ("test,ms\na,1\n#a,9\nb,2\n", ":3: the column 'test' holds '#a'"),
        (",old,old,new,new\na,1,2,3,4\nb,1,2,3,4\n", "columns old, old, new, new may be variants"),
        ("test,old,old.1,new,new.1\na,1,2,3,4\n", "columns old, old.1, new, new.1 may be variants"),
        ("test,variant,1,1,2\na,x,1,2,3\n", "'x' is not a number"),
        ("test,run1,ok1,run2,ok2\na,1,ok,2,timeout\n", "perhaps of different values: ok1, ok2"),
        ("commit,run,ms\n1a2b3c4,1,5\n1a2b3c4,2,?\n", ":3: '.' in the column 'ms' is no number"),
        ("Dings,ok,ms\na b,1,2\nc,1,3\n", "benchmark or a variant: Dings holds text\n"),
        ("Order,Dings,x,Total\n1,a b,2,3\n2,c,2,4\n", "'benchmark=Dings, variant=x.Total'|value=Total"),
        (",test,t_best,t_median\n0,a b,1,2\n1,c,3,4\n", "no heading names a value: t_best, t_median hold"),
        ("impl,threads,mean_ms,std_ms\na,1,2,1\nb,4,3,1\n", "summaries only.*'value=mean_ms'"),
        ('Dings,x,t\na b,"odd, even",1\nc,"odd, odd",2\n', "no heading names a value: t holds numbers"),
        ("file,a_time,b_time,a_ok,b_ok\nx,1,9,ok,timeout\ny,2,3,ok,ok\n", "perhaps of different values: a_ok, b_ok\n.*'value=a_time, outcome=a_ok'"),
        ("Dings,k,task,a\nx,1,y,7\nx,1,z,8\n", "no heading names a value: k, a hold numbers\n.*'benchmark=task, value=a'"),  # the column with most values, and the one that is called a benchmark
        ("name,time\na,1\na,2 s\n", "'time' have several units: none and s"),
    ],
)  # fmt: skip
def test_a_table_that_nobody_can_read_says_what_is_missing(foreign, text, told) -> None:
    with pytest.raises(AnalysisError, match="(?s)" + told):
        foreign(text, "r.csv")


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "a", "t": {"ms": 1}}\n\n{"name": "a", "t": {"ms": 2}}\n',
        '[{"name": "a", "ms": 1}, {"name": "a", "ms": 2}]',
        '{"name": ["a", "a"], "ms": [1, 2]}',
        '{"name": {"0": "a", "1": "a"}, "ms": {"0": 1, "1": 2}}',
    ],
)
def test_lines_of_json_and_columns_are_rows(foreign, text) -> None:
    found = foreign(text, "r.json")
    assert (found.format, cells(found)) == ("json", "a: 1 2")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (",run1,run2\na,1,2\nb,3,4\n", "a: 1 2 | b: 3 4"),
        ("Unnamed: 0,time_ms\na,1\na,2\n", "a: 1 2"),
        (",variant,time_ms\na,x,1\na,y,2\n", "a@x: 1 | a@y: 2"),
        (",gcc,clang\n0,1,4\n1,2,5\n2,3,6\n", "gcc: 1 2 3 | clang: 4 5 6"),
        ("run,gcc\n1,4\n2,5\n3,6\n", "gcc: 4 5 6"),
        ("Trial #,sort,find\n1,4,7\n2,5,8\n3,6,9\n", "sort: 4 5 6 | find: 7 8 9"),
        ("run,1,2\n1,4,7\n2,5,8\n3,6,9\n", "1: 4 7 | 2: 5 8 | 3: 6 9"),
    ],
)
def test_an_index_names_benchmarks_or_numbers_runs(foreign, text, found) -> None:
    """Pandas heads its index with nothing; numbers that count from 0 or 1 are no names, and no values."""
    read = foreign(text, "r.csv")
    assert cells(read) == found
    assert "run-numbers-left-out" in {one.code for one in read.notes} or "gcc" not in found


def test_a_stored_matrix_is_read_with_what_it_knows(foreign) -> None:
    """Authority: what the other commands take of the same file."""
    ids: dict[str, Any] = {
        "sessions": {"a": [1, 1, 2], "b": [1, 2, 2]},
        "blocks": {"a": [7, 8, 7], "b": [7, 7, 8]},
    }
    known = PerformanceMatrix.from_samples(
        "new", {"a": [1, 2, 4], "b": [3, 5, 6]}, better="lower", unit="ms", failed={"a": {2: 1}, "c": {1: 2}}, **ids
    )  # fmt: skip
    found = foreign(json.dumps(known.to_dict()), "r.json")
    told = [
        (one.benchmark, one.variant, one.session, one.values, one.blocks, one.failed)
        for one in found.cells
    ]
    assert told == [
        ("a", "new", "1", (0.001, 0.002), (7, 8), 0),
        ("a", "new", "2", (0.004,), (7,), 1),
        ("b", "new", "1", (0.003,), (7,), 0),
        ("b", "new", "2", (0.005, 0.006), (7, 8), 0),
        ("c", "new", "1", (), (), 2),
    ]  # fmt: skip
    assert {(one.unit, one.better) for one in found.cells} == {("s", "lower")}
    processes = PerformanceMatrix.from_samples(
        "v", {"a": [1, 3, 5]}, better="higher", unit="op/s", processes={"a": [1, 1, 2]}
    )
    (one,) = foreign(json.dumps(processes.to_dict()), "r.json").cells
    assert (one.processes, one.known, one.better) == (((1.0, 3.0), (5.0,)), True, "higher")


def test_the_words_of_headings_are_frozen() -> None:
    """Every new word changes somebody's reading: look at tests/golden/readings.jsonl before this line changes."""
    assert hashlib.sha256(repr((NAMES, _TOO)).encode()).hexdigest()[:12] == "8971f1e29af9"


GEOMEAN = "benchmark,gcc,clang\na,10,11\nb,20,19\nGeoMean,14,14.5\n"


def test_names_above_columns_of_numbers_are_no_runs(foreign, tmp_path) -> None:
    with pytest.raises(AnalysisError, match="columns gcc, clang may be variants, or runs") as told:
        foreign(GEOMEAN, "r.csv")
    assert "--columns 'benchmark=benchmark, variant=gcc+clang', or --layout rows" in str(told.value)
    with asking(COLUMNS_ASKED, {"benchmark": "benchmark", "variant": "gcc+clang"}):
        found = foreign(GEOMEAN, "r.csv")
        gathered = gather([found], ReadingChoices())
    assert cells(found).startswith("a@gcc: 10 | a@clang: 11 | b@gcc: 20 | b@clang: 19 | GeoMean")
    assert gathered.benchmarks == ("a", "b")  # a mean of the others is none
    assert "left out: GeoMean" in {one.code: one.text for one in gathered.cautions}["left-out"]
    (tmp_path / "r.csv").write_text(GEOMEAN)
    matrix = PerformanceMatrix.read(tmp_path / "r.csv", better="lower", layout="rows")
    assert matrix.benchmarks == ("a", "b")
    assert [one.code for one in matrix.cautions] == ["columns-as-runs", "left-out"]


def test_hosts_head_the_answer_and_are_named_where_the_sides_differ_in_them(
    tmp_path, monkeypatch
) -> None:
    """The last file's host stood above the runs of both; two hosts made a direction without a word."""
    monkeypatch.chdir(tmp_path)
    for name, host, level in (("old", "h1", 100), ("new", "h2", 80)):
        rows = (f"x,{host},{s},{level + (7 * s) % 5}\n" for s in range(6))
        (tmp_path / f"{name}.csv").write_text("benchmark,host,session,time_ms\n" + "".join(rows))

    def answer(*words: str) -> str:
        out = io.StringIO()
        assert main([*words], out, io.StringIO()) == 0
        return " ".join(out.getvalue().split())

    assert "host is h2 in new.csv, h1 in old.csv" in answer("verdict", "new.csv", "old.csv")
    assert " on h1 · " in answer("verdict", "old.csv")
    answer("import", "old.csv", "new.csv", "-o", "both")
    assert "both on 2 hosts · " in answer("verdict", "both")


def test_a_caption_has_the_metric_on_a_line_of_its_own(tmp_path) -> None:
    rows = (f"x,{v},{k + 10}\n" for v in ("a", "b") for k in range(5))
    (tmp_path / "t.csv").write_text("benchmark,variant,time_ms\n" + "".join(rows))
    out = io.StringIO()
    figure = str(tmp_path / "f.svg")
    assert main(["plot", "box", str(tmp_path / "t.csv"), "-o", figure], out, io.StringIO()) == 0
    assert out.getvalue().splitlines()[0] == "metric: time_ms"  # it ran into the sentence
