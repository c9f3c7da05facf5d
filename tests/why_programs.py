"""C programs for the tests of `why`, each in two variants whose difference is known: who executes what.

All functions keep a call of their own unless told otherwise, and each has a loop of its own, so that a profiler meets it.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCE = """\
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PARSED_MS
#define PARSED_MS 0
#endif
#ifndef WEIGHED_MS
#define WEIGHED_MS 0
#endif
#ifndef GATHERED_MS
#define GATHERED_MS 0
#endif
#ifndef COPIED_MS
#define COPIED_MS 0
#endif
#ifndef WEIGH
#define WEIGH weigh
#endif
#define OWN __attribute__((noinline))

static volatile unsigned long total;
static volatile unsigned long size = 1 << 18;
unsigned table[1 << 12];
static char from[1 << 18], to[1 << 18];

OWN void parse(unsigned long rounds) {
  for (unsigned long i = 0; i < rounds; i++) total += i;
}

OWN void WEIGH(unsigned long rounds) {
  for (unsigned long i = 0; i < rounds; i++) total ^= i;
}

static double spent_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * now.tv_sec + 1e-6 * now.tv_nsec;
}

#define TAKE(ms, call) for (double end = spent_ms() + (ms); spent_ms() < end;) call

OWN void visit(void) {
  if (PARSED_MS) TAKE(PARSED_MS, parse(50000));
  if (WEIGHED_MS) TAKE(WEIGHED_MS, WEIGH(50000));
}

static unsigned get(unsigned i) { return table[i]; }

OWN void gather(void) {
  for (int round = 0; round < 16; round++) {
    unsigned sum = 0;
    for (unsigned i = 0; i < 1 << 12; i++) sum += get(i);
    total += sum;
  }
}

OWN void emit(void) { memcpy(to, from, size); }

int main(int count, char **arguments) {
  (void) arguments;
  if (count > 1) {
    pid_t child = fork();
    if (child > 0) return waitpid(child, 0, 0) != child;
  }
  visit();
  if (GATHERED_MS) TAKE(GATHERED_MS, gather());
  if (COPIED_MS) TAKE(COPIED_MS, emit());
  return 0;
}
"""
PLAIN = ("-O2", "-DPARSED_MS=9", "-DWEIGHED_MS=3")
PLANTED_MS = 10  # of CPU time, on every processor: what the candidate takes longer
SLOWER = ("-O2", "-DPARSED_MS=9", "-DWEIGHED_MS=13")
# of each benchmark what its baseline and its candidate are compiled with
KINDS = {
    "same": (PLAIN, PLAIN),
    "planted": (PLAIN, SLOWER),
    "inlining": (
        (*PLAIN, "-DGATHERED_MS=3"),
        (*PLAIN, "-DGATHERED_MS=13", "-fno-inline"),
    ),
    "copy": (PLAIN, (*PLAIN, "-DCOPIED_MS=10")),
    "renamed": (PLAIN, (*SLOWER, "-DWEIGH=weigh_keys")),
    "stripped": ((*PLAIN, "-s"), (*SLOWER, "-s")),
    "forks": (PLAIN, SLOWER),
}
COMMANDS = {"forks": ("fork",)}  # further arguments


def has_compiler() -> bool:
    """Tell whether C programs can be compiled here."""
    return shutil.which("cc") is not None


def build(folder: Path, kinds=tuple(KINDS)) -> None:
    """Compile the programs ``folder/{base,cand}/KIND``."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "program.c"
    source.write_text(SOURCE)
    for variant, place in (("base", 0), ("cand", 1)):
        (folder / variant).mkdir(exist_ok=True)
        for kind in kinds:
            flags = (*KINDS[kind][place], "-o", str(folder / variant / kind))
            subprocess.run(["cc", *flags, str(source)], check=True, capture_output=True)


def benchmarks(kinds=tuple(KINDS), place: str = ".") -> dict[str, dict[str, list[str]]]:
    """Give the benchmarks of a campaign of these programs."""
    return {
        kind: {"command": [f"{place}/{{variant}}/{kind}", *COMMANDS.get(kind, ())]}
        for kind in kinds
    }
