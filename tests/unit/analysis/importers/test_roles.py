"""What each column of a table is: by its heading, by its cells, and never pooled in silence.

Authority: the rows themselves, which a person would part so; a pooled column was a confident wrong verdict.
"""

from __future__ import annotations

import pytest


def said(found) -> str:
    return found.read_as.removeprefix("read as: ")


def cells(found) -> list[tuple]:
    """Give benchmark, variant, values in the unit of the file's heading, and failed runs."""
    return [
        (
            c.benchmark,
            c.variant,
            [round(v * 1000, 9) if c.unit == "s" else v for v in c.values],
            c.failed,
        )
        for c in found.cells
    ]


TABLES = {
    "a word of variants": (
        "benchmark,algorithm,time_ms\nsort,quick,10\nsort,quick,11\nsort,heap,30\nsort,heap,31\n",
        "benchmark=benchmark, variant=algorithm, value=time_ms [ms]",
        [("sort", "quick", [10, 11], None), ("sort", "heap", [30, 31], None)],
    ),
    "no benchmark": (
        "algorithm,time_ms\nquick,1.5\nquick,1.6\nheap,2.5\nheap,2.4\n",
        "variant=algorithm, value=time_ms [ms]",
        [("values", "quick", [1.5, 1.6], None), ("values", "heap", [2.5, 2.4], None)],
    ),
    "texts that tell rows apart": (
        "benchmark,variant,flavour,run,time_ms\ns,old,a,1,1\ns,old,a,2,2\ns,old,b,3,8\ns,new,a,4,2\ns,new,b,5,9\n",
        "benchmark=benchmark, variant=variant, value=time_ms [ms], run=run, factor=flavour",
        [
            ("s flavour=a", "old", [1, 2], None),
            ("s flavour=b", "old", [8], None),
            ("s flavour=a", "new", [2], None),
            ("s flavour=b", "new", [9], None),
        ],
    ),
    "a setting": (
        "bench,threads,time_ms\nf,1,8\nf,1,9\nf,4,2\nf,4,3\n",
        "benchmark=bench, value=time_ms [ms], factor=threads",
        [("f threads=1", None, [8, 9], None), ("f threads=4", None, [2, 3], None)],
    ),
    "hashes of one variant": (
        "path,shell_name,shell_hash,time_ms\na,osh,75aa11bb,1\na,osh,85aa11bb,2\n"
        "a,sh,95aa11bb,3\na,sh,95aa11bb,4\na,osh,75aa11bb,1\na,osh,85aa11bb,2\n",
        "benchmark=path, variant=shell_name, value=time_ms [ms], factor=shell_hash",
        [
            ("a", "osh shell_hash=75aa11bb", [1, 1], None),
            ("a", "osh shell_hash=85aa11bb", [2, 2], None),
            ("a", "sh shell_hash=95aa11bb", [3, 4], None),
        ],
    ),
    "what follows from the names": (
        "benchmark,group,language,time_ms\na,x,c,1\na,x,c,2\nb,y,go,3\nb,y,go,4\n",
        "benchmark=benchmark, value=time_ms [ms]",
        [("a", None, [1, 2], None), ("b", None, [3, 4], None)],
    ),
    "words of outcomes": (
        "benchmark,result,time_ms\nav,ok,1.5\nav,timeout,60\nav,ok,1.6\n",
        "benchmark=benchmark, value=time_ms [ms], outcome=result",
        [("av", None, [1.5, 1.6], 1)],
    ),
    "outcomes all good": (
        "name,valid,timed_out,exit_code,time_ms\na,true,false,0,1\na,false,false,0,2\na,true,true,0,3\na,true,false,9,4\n",
        "benchmark=name, value=time_ms [ms], outcome=exit_code+valid+timed_out",
        [("a", None, [1], 3)],
    ),
    "units under any heading": (
        "name,value,scale\na,1,ms\na,2,ms\n",
        "benchmark=name, value=value, unit=scale",
        [("a", None, [1, 2], None)],
    ),
    "yes and no alone are a factor": (
        "name,cached,time_ms\na,yes,1\na,no,9\na,yes,2\na,no,8\n",
        "benchmark=name, value=time_ms [ms], factor=cached",
        [("a cached=yes", None, [1, 2], None), ("a cached=no", None, [9, 8], None)],
    ),
    "remarks of failed runs": (
        "name,ok,remark,time_ms\na,1,,1\na,0,broken pipe,\na,1,,2\na,0,no such file,\n",
        "benchmark=name, value=time_ms [ms], outcome=ok",
        [("a", None, [1, 2], 2)],
    ),
    "empty rows": (
        "name,ok,time_ms\na,1,1\n,,\na,1,2\n,,\n",
        "benchmark=name, value=time_ms [ms], outcome=ok",
        [("a", None, [1, 2], 0)],
    ),
    "mixed case, decimal commas": (
        "Test Case;Compiler;Threads;Wall Time (ms)\nx;GCC;1;1,5\nx;GCC;2;1,25\nx;Clang;1;2,5\nx;Clang;2;2,25\n",
        "benchmark=Test Case, variant=Compiler, value=Wall Time (ms) [ms], factor=Threads",
        [
            ("x Threads=1", "GCC", [1.5], None),
            ("x Threads=2", "GCC", [1.25], None),
            ("x Threads=1", "Clang", [2.5], None),
            ("x Threads=2", "Clang", [2.25], None),
        ],
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
