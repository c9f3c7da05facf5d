"""Make the project's virtual environment, on whatever a machine offers, and say how far it is.

python tests/contract/make_venv.py .venv KEY                      what fairtrial needs, as `make demo` wants it
python tests/contract/make_venv.py .venv KEY --extras test,dev    with what its tests need: `make setup`
python tests/contract/make_venv.py --into .venv-tools PACKAGE...  more packages into another environment

A stamp with KEY in its name, the hash of what the environment depends on, is written last: one that was
interrupted, or that something else is wanted of by now, is made again from nothing. To one that is
complete, extras are added.

Tried in this order: python3 -m venv; python3 -m venv --without-pip with the pip of the base
interpreter; uv; virtualenv. Debian's python3 without python3-venv leaves a broken folder behind, so
each attempt starts from nothing. Where pip can install uv, uv installs the rest, from the places that
pip is configured for: a sixth of the CPU time. Where it cannot, pip does.

The versions are those of tests/constraints.txt, with which the tests are known to pass; `make
constraints` resolves them anew.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ("-c", "tests/constraints.txt")
PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--no-compile")
# what pip prints of each package, what uv prints of the larger ones, and uv's sum
PACKAGE = re.compile(r"\s*(?:Collecting|Obtaining) (\S+)|Downloading (\S+) \(|Downloaded (\S+)")
SUM = re.compile(r"Resolved (\d+) packages?")
NO_WAY = """\
No virtual environment could be made. On Debian and Ubuntu: sudo apt install python3-venv;
otherwise install uv or virtualenv. If the steps above speak of the network, the package
index could not be reached."""


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line after 5, 10, 20, 40, ... seconds."""

    def __init__(self) -> None:
        self.packages: dict[str, None] = {}
        self.known = 0
        self.began = time.monotonic()
        self.next_line = 5.0
        self.shown = ""

    def heard(self, line: str) -> None:
        """Count what pip or uv says."""
        if found := PACKAGE.match(line):
            self.packages[next(filter(None, found.groups()))] = None
        if found := SUM.match(line):
            self.known = int(found[1])

    def show(self) -> None:
        """Say how far it is, where that is due."""
        seconds = time.monotonic() - self.began
        text = f"      {max(self.known, len(self.packages))} packages so far, {seconds:.0f} s"
        if sys.stdout.isatty():
            if text != self.shown:
                print(f"\r{text}", end="", flush=True)
            self.shown = text
        elif seconds >= self.next_line:
            print(text, flush=True)
            self.next_line *= 2

    def clear(self) -> None:
        """Take the rewritten line away."""
        if self.shown:
            print("\r\x1b[K", end="", flush=True)
        self.shown = ""


PROGRESS = Progress()


def call(*command: str, environment: dict[str, str] | None = None) -> bool:
    """Execute a command; what it printed is shown only where it fails."""
    known = {**os.environ, **(environment or {})}
    process = subprocess.Popen(
        command,
        cwd=PROJECT,
        env=known,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    lines: list[str] = []

    def listen() -> None:
        for line in process.stdout or ():
            lines.append(line)
            PROGRESS.heard(line)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        while process.poll() is None:
            PROGRESS.show()
            listener.join(0.2)
            if not listener.is_alive():
                process.wait()
        listener.join()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    finally:
        PROGRESS.clear()
    if process.returncode:
        print("+", " ".join(command))
        print("".join(lines), end="", flush=True)
    return process.returncode == 0


# pip's key, uv's variable, and what stands between several values; where only one may be, nothing
SETTINGS = (
    ("index-url", "UV_DEFAULT_INDEX", ""), ("extra-index-url", "UV_INDEX", " "),
    ("find-links", "UV_FIND_LINKS", ","), ("trusted-host", "UV_INSECURE_HOST", " "),
    ("constraint", "UV_CONSTRAINT", " "), ("cert", "SSL_CERT_FILE", ""),
)  # fmt: skip


def places_of_pip(python: str) -> dict[str, str]:
    """Give where pip looks for packages, as variables for uv."""
    words = [python, "-m", "pip", "config", "list"]
    listed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    known: dict[str, list[str]] = {}
    for line in listed.splitlines():  # such as global.extra-index-url='file:///one file:///two'
        name, _, value = line.partition("=")
        section, _, key = name.rpartition(".")
        if section in {":env:", "global", "install"}:
            known.setdefault(key, []).extend(value.strip("'\"").split())
    found = {
        variable: between.join(dict.fromkeys(known[key])) if between else known[key][0]
        for key, variable, between in SETTINGS
        if key in known
    }
    return found | {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # all places are equal, as for pip


def with_venv(place: Path, wanted: Sequence[str]) -> bool:
    return call(sys.executable, "-m", "venv", str(place)) and filled(place, wanted)


def filled(place: Path, wanted: Sequence[str]) -> bool:
    """Install into an environment that has its own pip."""
    python = str(place / "bin" / "python")
    has_uv = (place / "bin" / "uv").exists() or call(python, *PIP, "uv", *CONSTRAINTS)
    if has_uv and installed(place, python, wanted):
        return True
    return call(python, *PIP, *wanted)


def installed(place: Path, python: str, wanted: Sequence[str]) -> bool:
    """Install with the uv of the environment at `place`, into that of `python`."""
    uv = (str(place / "bin" / "uv"), "pip", "install", "--python", python)
    if call(*uv, *wanted, environment=places_of_pip(str(place / "bin" / "python"))):
        return True
    print("uv could not do it: pip does", flush=True)
    return False


def without_pip(place: Path, wanted: Sequence[str]) -> bool:
    python = str(place / "bin" / "python")
    return call(sys.executable, "-m", "venv", "--without-pip", str(place)) and call(
        sys.executable, "-m", "pip", "--python", python, *PIP[2:], *wanted
    )


def with_uv(place: Path, wanted: Sequence[str]) -> bool:
    python = str(place / "bin" / "python")
    return call("uv", "venv", "--python", sys.executable, str(place)) and call(
        "uv", "pip", "install", "--python", python, *wanted
    )


def with_virtualenv(place: Path, wanted: Sequence[str]) -> bool:
    python = str(place / "bin" / "python")
    return call("virtualenv", "-q", "-p", sys.executable, str(place)) and call(
        python, *PIP, *wanted
    )


WAYS: tuple[tuple[Callable[[Path, Sequence[str]], bool], str | None], ...] = (
    (with_venv, None),
    (without_pip, None),
    (with_uv, "uv"),
    (with_virtualenv, "virtualenv"),
)


def made(place: Path, wanted: Sequence[str]) -> bool:
    """Make an environment from nothing, in the first way that this machine offers."""
    for way, program in WAYS:
        if program is not None and shutil.which(program) is None:
            continue
        shutil.rmtree(place, ignore_errors=True)
        if way(place, wanted):
            return True
    shutil.rmtree(place, ignore_errors=True)
    return False


def took() -> Path:
    """Give the file that remembers how long this took here."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path.home() raises without a home
    return Path(home) / "fairtrial" / "setup-seconds.json"


def last_times() -> dict[str, float]:
    try:
        known = json.loads(took().read_text())
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in known.items() if isinstance(value, (int, float))}


def remember(what: str, seconds: float) -> None:
    known = last_times() | {what: round(seconds)}
    with suppress(OSError):  # only the next announcement is poorer
        took().parent.mkdir(parents=True, exist_ok=True)
        took().write_text(json.dumps(known) + "\n")


def heading(what: str, minutes: int, step: str) -> str:
    """Say what begins and how long it takes, here or elsewhere."""
    before = last_times().get(what)
    here = f" ({before:.0f} s last time here)" if before is not None else ""
    return f"{step}{what}, about {minutes} min{here}"


def set_up(place: Path, key: str, extras: str, step: str) -> int:
    """Bring an environment to what is wanted; the stamps say what it holds."""
    plain, full = place / f"installed-{key}", place / f"ready-{key}"
    there = full.exists() or (plain.exists() and not extras)
    if there:
        print(f"{step}Python packages: there already", flush=True)
        return 0
    what, minutes = (
        ("Python packages with those of the tests", 4) if extras else ("Python packages", 2)
    )
    print(heading(what, minutes, step), flush=True)
    add = plain.exists()
    plain.unlink(missing_ok=True)  # until all is there, nothing is known of it
    wanted = ["-e", f".[{extras}]" if extras else ".", *CONSTRAINTS]
    has_pip = (place / "bin" / "pip").exists()
    if not (add and has_pip and filled(place, wanted)) and not made(place, wanted):
        print(NO_WAY, file=sys.stderr)
        return 1
    (full if extras else plain).touch()
    seconds = time.monotonic() - PROGRESS.began
    remember(what, seconds)
    print(f"      done: {max(PROGRESS.known, len(PROGRESS.packages))} packages in {seconds:.0f} s")
    return 0


def into(other: str, wanted: Sequence[str]) -> int:
    """Install packages into another environment: by this one's uv, or by the other's own pip."""
    if installed(Path(sys.prefix), other, wanted):
        return 0
    return int(not call(other, *PIP, *wanted))


def main() -> int:
    if sys.argv[1:2] == ["--into"]:
        return into(str(Path(sys.argv[2]).absolute() / "bin" / "python"), sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("place", type=Path)
    parser.add_argument("key")
    parser.add_argument("--extras", default="", help="such as test,dev")
    parser.add_argument("--step", default="", help="what stands before the first line")
    options = parser.parse_args()
    try:
        return set_up(options.place.absolute(), options.key, options.extras, options.step)
    except KeyboardInterrupt:
        print("stopped; what is half made is made again the next time", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
