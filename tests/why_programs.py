"""C programs for the tests of `why`, each in two variants whose difference is known: who executes what, and how often.

All functions keep a call of their own unless told otherwise, and each has a loop of its own, so that a profiler meets it.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCE = """\
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PARSED
#define PARSED 3000
#endif
#ifndef WEIGHED
#define WEIGHED 1000
#endif
#ifndef GATHERED
#define GATHERED 0
#endif
#ifndef COPIED
#define COPIED 0
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

OWN void visit(void) {
  for (int i = 0; i < 1000; i++) {
    parse(PARSED);
    WEIGH(WEIGHED);
  }
}

static unsigned get(unsigned i) { return table[i]; }

OWN void gather(void) {
  for (int round = 0; round < GATHERED; round++) {
    unsigned sum = 0;
    for (unsigned i = 0; i < 1 << 12; i++) sum += get(i);
    total += sum;
  }
}

OWN void emit(void) {
  for (int i = 0; i < COPIED; i++) memcpy(to, from, size);
}

int main(int count, char **arguments) {
  (void) arguments;
  if (count > 1) {
    pid_t child = fork();
    if (child > 0) return waitpid(child, 0, 0) != child;
  }
  visit();
  gather();
  emit();
  return 0;
}
"""
PLAIN = ("-O2",)
SLOWER = (*PLAIN, "-DWEIGHED=6000")
# of each benchmark what its baseline and its candidate are compiled with
KINDS = {
    "same": (PLAIN, PLAIN),
    "planted": (PLAIN, SLOWER),
    "inlining": ((*PLAIN, "-DGATHERED=3000"), (*PLAIN, "-DGATHERED=3000", "-fno-inline")),
    "copy": (PLAIN, (*PLAIN, "-DCOPIED=1200")),
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
            words = ["cc", *KINDS[kind][place], "-o", str(folder / variant / kind), str(source)]
            subprocess.run(words, check=True, capture_output=True)


def benchmarks(kinds=tuple(KINDS), place: str = ".") -> dict[str, dict[str, list[str]]]:
    """Give the benchmarks of a campaign of these programs."""
    return {
        kind: {"command": [f"{place}/{{variant}}/{kind}", *COMMANDS.get(kind, ())]}
        for kind in kinds
    }
