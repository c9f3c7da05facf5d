"""The campaigns of configs/gallery do what they say: executed in short, each where its programs are there.

Those that need servers, or programs that nobody has by chance, are executed by `make gallery` alone.
"""

from __future__ import annotations

import bz2
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

GALLERY = Path(__file__).resolve().parents[2] / "configs" / "gallery"
CAMPAIGNS = sorted(path.relative_to(GALLERY).as_posix() for path in GALLERY.glob("*/*.yaml"))
FETCHED = ("src", "data", "bm", "old", "new")  # what a README says how to get
MADE = shutil.ignore_patterns(*FETCHED, "runs", "build", "files", "out", "repository", "*.db*")
SERVING = re.compile(r"\b(kill|nohup|sleep|setsid|until|while|wait)\b|[^&]&[^&]")

# A program that prints what its last argument names, or what the benchmarks of lua and xxhsum expect.
PROGRAM = """\
#include <stdio.h>
#include <string.h>
int main(int n, char **given) {
  FILE *file = fopen(given[n - 1], "rb");
  int c;
  if (!file || strstr(given[n - 1], ".lua")) return puts("196418\\t0\\t99999\\t") < 0;
  if (n > 5) return puts("0123abcd  data/text4") < 0;
  while ((c = getc(file)) != EOF) putchar(c);
  return 0;
}
"""
SOURCES = (  # of a few programs, what the Makefile names
    *(
        f"bzip2/{name}.c"
        for name in (
            "bzip2",
            "blocksort",
            "huffman",
            "crctable",
            "randtable",
            "compress",
            "decompress",
            "bzlib",
        )
    ),
    *("zlib/zutil.c", "zlib/test/minigzip.c", "lz4/lib/lz4.c", "lz4/programs/lz4cli.c"),
    *("lua5.4/src/lua.c", "xxhash/cli/xxhsum.c", "xxhash/xxhash.c"),
)
MAINS = {
    "bzip2/bzip2.c",
    "zlib/test/minigzip.c",
    "lz4/programs/lz4cli.c",
    "lua5.4/src/lua.c",
    "xxhash/cli/xxhsum.c",
}
BZIP2 = {  # two files with what make_repository.py looks for
    "compress.c": """\
typedef int Int32; typedef unsigned UInt32; typedef unsigned char UChar;
typedef struct { Int32 nblock; void *arr2; } EState;
void BZ2_compressBlock(EState *s)
{
   if (s->nblock > 0) {
      s->nblock--;
   }
}
""",
    "huffman.c": "int huffman;\n",
    "bzip2.c": PROGRAM.replace("given[n - 1]", '(given[1][1] == \'c\' ? "data.bz2" : "data")'),
}


def copied(lab: Any, name: str, *shorter: tuple[str, str]) -> Path:
    """Copy the folder of a campaign, which then is one session of one run on no CPU in particular."""
    folder = lab.folder / "gallery"
    shutil.copytree(GALLERY / Path(name).parent, folder, ignore=MADE)
    path = folder / Path(name).name
    text = path.read_text(encoding="utf-8")
    for old, new in (
        (r"\bsessions: \d+", "sessions: 1"),
        (r"\bruns: \d+", "runs: 1"),
        (r"\bwarmup: 1(, warmup_sessions: first)?", "warmup: 0"),
        (r"\Z", "isolation: {cpus: none}\n"),  # another trial may hold the best one
        *shorter,
    ):
        text, count = re.subn(old, new, text)
        assert count == 1, f"{name} has {count} places like {old}"
    path.write_text(text, encoding="utf-8")
    return path


def living(folder: Path) -> list[str]:
    """List the processes whose working directory lies in a folder, such as services that nobody ended."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if place.readlink().is_relative_to(folder):
                found.append((place.parent / "comm").read_text().strip())
        except OSError:
            continue
    return found


def executed(lab: Any, path: Path, number: int) -> Any:
    """Execute a campaign: all runs are ok, nothing of it lives on, and its question has an answer."""
    done = lab.run_fairtrial("run", path, "--dir", lab.folder / "runs")
    assert done.returncode == 0, done.stderr
    assert lab.manifest()["status"] == "complete"
    rows = lab.read_rows()
    assert [row["outcome"] for row in rows] == ["ok"] * number, done.stderr
    assert living(lab.folder) == []
    told = lab.run_fairtrial("verdict", lab.trial(), "--json")
    assert told.returncode == 0, told.stderr
    judged = yaml.safe_load(path.read_text()).get("judge", "wall")
    text, found = told.stdout, []
    while text := text.strip():  # an object for each metric
        verdict, end = json.JSONDecoder().raw_decode(text)
        found.append(verdict["metric"])
        text = text[end:]
        for one in verdict["candidates"]:
            assert all(
                line["mean_baseline"] is not None for line in one["multilevel"]["benchmarks"]
            )
    assert found == ([judged] if isinstance(judged, str) else judged)
    return rows


def needs(*programs: str) -> None:
    """Skip a test whose programs are not there."""
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


def fetched(path: Path, *parts: str) -> None:
    """Lay beside a copy what a person fetched into the gallery, as its README.md says."""
    (folder,) = [GALLERY / name for name in CAMPAIGNS if Path(name).name == path.name]
    for part in parts:
        there = (folder.parent / part).resolve()
        if not there.exists():
            pytest.skip("what a README.md of the gallery fetches is not beside it")
        (path.parent / Path(part).name).symlink_to(there)


def make_repository(path: Path, sources: Path) -> None:
    """Make the commits of a campaign."""
    script = path.with_name("make_repository.py")
    subprocess.run([sys.executable, script, sources], cwd=path.parent, check=True)


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_no_line_of_a_campaign_starts_ends_or_waits(name: str) -> None:
    campaign = yaml.safe_load((GALLERY / name).read_text(encoding="utf-8"))
    assert not SERVING.search(json.dumps([campaign.get("build"), campaign["benchmarks"]]))
    assert "shell" not in json.dumps([campaign.get(key) for key in ("hooks", "services")])


def test_each_has_a_page_that_says_what_it_needs_answers_and_found() -> None:
    folders = {path.split("/")[0] for path in CAMPAIGNS}
    assert folders == {"commits", "compilers", "databases", "interpreters", "web"}
    for folder in folders:
        text = (GALLERY / folder / "README.md").read_text(encoding="utf-8")
        assert len([line for line in text.splitlines() if line.strip()]) <= 10, folder
        for word in ("**Needs**", "**Answers**", "**Found**"):
            assert word in text, (folder, word)
        assert all(path.split("/")[1] in text for path in CAMPAIGNS if path.startswith(folder))


# ---- with programs of two lines in place of what a person fetches


def test_commits_in_short(lab: Any) -> None:
    needs("git", "gcc")
    path = copied(lab, "commits/commits.yaml", (r"v2: .*(v6: .*), v8: .*\}", r"\1}"))
    sources = lab.folder / "sources"
    sources.mkdir()
    for name, text in BZIP2.items():
        (sources / name).write_text(text)
    make_repository(path, sources)
    plain = (path.parent / "data").read_bytes()
    assert bz2.decompress((path.parent / "data.bz2").read_bytes()) == plain
    executed(lab, path, 6)
    (environment,) = (lab.trial() / "environment.jsonl").read_text().splitlines()
    assert len(set(re.findall(r'"commit": *"([^"]+)"', environment))) == 3


def test_compilers_in_short(lab: Any) -> None:
    needs("gcc", "make")
    others = (r"(?m)^  gcc-O1: .*\n", ""), (r"(?m)^  gcc-O3: .*\n", ""), (r"clang-14", "gcc")
    path = copied(lab, "compilers/compilers.yaml", *others)
    for place in SOURCES:
        file = path.parent / "src" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PROGRAM if place in MAINS else "")
    (path.parent / "data").mkdir()
    for name in ("text", "text4", "text.bz2", "text4.gz", "text4.lz4"):
        (path.parent / "data" / name).write_text("the same everywhere\n")
    executed(lab, path, 16)


# ---- by `make gallery`


@pytest.mark.gallery
def test_sqlite(lab: Any) -> None:
    needs("sqlite3")
    rows = executed(lab, copied(lab, "databases/sqlite.yaml"), 6)
    # Authority: the statements. 50,000 rows, 200 of them more, or twice as many.
    assert all(row["metrics"]["bytes"][0] > 2_000_000 for row in rows)


@pytest.mark.gallery
def test_redis(lab: Any) -> None:
    needs("redis-server", "redis-cli", "redis-benchmark")
    shorter = (r"test: \[.*\]", "test: [set, get]"), (r'"5000"', '"500"')
    rows = executed(lab, copied(lab, "databases/redis.yaml", *shorter), 4)
    written = {(row["benchmark"], row["variant"]): row["metrics"] for row in rows}
    always = written["redis-set", "always"]["service.redis.disk_written"][0]
    assert always > written["redis-set", "everysec"]["service.redis.disk_written"][0]


@pytest.mark.gallery
def test_nginx(lab: Any) -> None:
    needs("nginx", "wrk")
    lab.folder.chmod(0o755)  # its workers are another user where root measures
    one = (r"matrix: \{.*\}", "matrix: {file: [mid], c: [4]}")
    rows = executed(lab, copied(lab, "web/nginx.yaml", one), 2)
    rates = {row["variant"]: row["metrics"]["rps"][0] for row in rows}
    assert rates["plain"] > rates["gzip"]
    assert all(row["metrics"]["service.nginx.cpu"][0] > 0 for row in rows)


@pytest.mark.gallery
def test_node(lab: Any) -> None:
    needs("node")
    rows = executed(lab, copied(lab, "interpreters/node.yaml", (r'"40"', '"8"')), 3)
    assert [len(row["metrics"]["steady"]) for row in rows] == [8] * 3


@pytest.mark.gallery
def test_python(lab: Any) -> None:
    two = (r"b: \[[^\]]*\]", "b: [nqueens, json_loads]")
    path = copied(lab, "interpreters/python.yaml", two)
    fetched(path, "old", "new", "bm")
    rows = executed(lab, path, 4)
    assert [len(row["metrics"]["value"]) for row in rows] == [3] * 4


@pytest.mark.gallery
def test_compilers(lab: Any) -> None:
    needs("gcc", "make", "clang-14")
    path = copied(
        lab, "compilers/compilers.yaml", (r"(?m)^  gcc-O1: .*\n", ""), (r"(?m)^  gcc-O3: .*\n", "")
    )
    fetched(path, "src", "data")
    executed(lab, path, 16)


@pytest.mark.gallery
def test_commits(lab: Any) -> None:
    needs("git", "gcc")
    path = copied(lab, "commits/commits.yaml")
    fetched(path, "../compilers/src")
    make_repository(path, path.parent / "src" / "bzip2")
    executed(lab, path, 20)
    programs = {(path.parent / "build" / f"v{k}" / "bzip2").read_bytes() for k in range(1, 11)}
    assert len(programs) == 2
