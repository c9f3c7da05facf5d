"""Build the wheel, install it alone in a fresh environment, and use it from another folder.

The flat layout lets tests pass while a file is missing from the wheel; this does not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from make_venv import places_of_pip

from harness.commands.catalogue import commands
from harness.commands.completion import PLACES

PROJECT = Path(__file__).resolve().parents[2]

CAMPAIGN = """
name: wheel
variants: {a: {code: "pass"}, b: {code: "pass"}}
benchmarks: {one: {command: [python3, -c, "{code}"]}, two: {command: [python3, -c, "{code};1"]}}
protocol: {sessions: 1, runs: 5}
isolation: {cpus: none}
"""


def call(*command: str | Path, cwd: Path, ended: tuple[int, ...] = (0,)) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode not in ended:
        print(done.stdout, done.stderr, sep="\n")
        sys.exit(f"failed: {' '.join(map(str, command))}")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="wheel-") as folder:
        place = Path(folder)
        uv = Path(sys.executable).with_name("uv")
        os.environ |= places_of_pip(sys.executable)
        os.environ["PATH"] = f"{uv.parent}:{os.environ['PATH']}"
        build = (sys.executable, "-m", "build", "--wheel", "--installer", "uv")
        call(*build, "-o", place / "dist", PROJECT, cwd=place)
        (wheel,) = (place / "dist").glob("*.whl")
        call(uv, "venv", "-q", "--python", sys.executable, place / "env", cwd=place)
        python = place / "env" / "bin" / "python"
        call(uv, "pip", "install", "-q", "--python", python, wheel, cwd=place)
        (place / "campaign.yaml").write_text(CAMPAIGN)
        fairtrial = place / "env" / "bin" / "fairtrial"
        call(fairtrial, "run", "campaign.yaml", "-q", cwd=place)
        (trial,) = (place / "runs").iterdir()
        call(fairtrial, "verdict", trial, cwd=place)
        call(fairtrial, "init", "new.yaml", cwd=place)
        call(fairtrial, "run", "new.yaml", "--dry-run", cwd=place)
        # 3: this machine has something fatal for measuring, such as the load of these very tests
        call(fairtrial, "doctor", cwd=place, ended=(0, 3))
        call(python, "-P", "-m", "harness", "--version", cwd=place)
        shared = place / "env" / "share"
        for shell, name in PLACES.items():
            call(fairtrial, "completion", shell, cwd=place)
            if not (shared / name).is_file():
                sys.exit(f"failed: the wheel has no script of {shell}")
        pages = {path.name for path in (shared / "man" / "man1").glob("fairtrial*")}
        if pages != {"fairtrial.1", *(f"fairtrial-{name}.1" for name in commands())}:
            sys.exit(f"failed: the manual pages of the wheel are {sorted(pages)}")
    print("wheel: built, installed alone, used from another folder")


if __name__ == "__main__":
    main()
