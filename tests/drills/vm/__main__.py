"""What only a whole machine can show: cgroups of version 2 with all controllers, as root and as a user.

A kernel is booted under qemu, without hardware help (TCG), with `inside.py` as its only program.
``make drill-vm KERNEL=/path/to/vmlinuz`` does it; it takes some minutes. Without qemu, a kernel, busybox or
cpio it says so and ends with 0: nothing was tried.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import image

QEMU = "qemu-system-x86_64"
MARK = "DRILL "
NEEDED = {QEMU: "qemu-system-x86", "busybox": "busybox-static", "cpio": "cpio", "ldd": "libc-bin"}


def missing(kernel: Path | None) -> str | None:
    """Say what is missing to do the drill; None when nothing is."""
    if os.uname().machine != "x86_64":
        return "it boots a machine of x86-64"
    for program, package in NEEDED.items():
        if shutil.which(program) is None:
            return f"there is no {program} (apt-get install {package})"
    if kernel is None or not kernel.is_file():
        return (
            "there is no kernel to boot: name one, KERNEL=/path/to/vmlinuz; that of Debian is in the "
            "package linux-image-cloud-amd64 (apt-get download, then dpkg -x)"
        )
    return None


def kernel_of(named: str | None) -> Path | None:
    """Give the kernel that was named, else the newest one of this host."""
    if named:
        return Path(named)
    found = sorted(Path("/boot").glob("vmlinuz-*"))
    return found[-1] if found else None


def boot(kernel: Path, disk: Path, seconds: float, log: Path) -> list[dict]:
    """Boot, and give what was told inside."""
    command = [
        QEMU, "-accel", "tcg", "-cpu", "max", "-smp", "3", "-m", "1024", "-nographic", "-no-reboot",
        "-nic", "none", "-kernel", str(kernel), "-initrd", str(disk),
        "-append", "console=ttyS0 quiet panic=-1 psi=1 mitigations=off",
    ]  # fmt: skip
    with log.open("wb") as out:
        try:
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"the machine did not end within {seconds:g} s", file=sys.stderr)
    told = log.read_text(errors="replace").replace("\r", "").splitlines()
    return [json.loads(line.partition(MARK)[2]) for line in told if MARK + "{" in line]


def main(arguments: Sequence[str]) -> int:
    """Do the drill; 1 when anything was not as it should be."""
    parser = argparse.ArgumentParser(prog="python tests/drills/vm", description=__doc__)
    parser.add_argument("--kernel", default=os.environ.get("KERNEL"))
    parser.add_argument("--seconds", type=float, default=1800.0, help="the longest time (1800)")
    parser.add_argument("--log", type=Path, help="keep what the machine wrote")
    args = parser.parse_args(arguments)
    kernel = kernel_of(args.kernel)
    why = missing(kernel)
    if why is not None:
        print(f"drill-vm: nothing was tried: {why}")
        return 0
    assert kernel is not None
    with tempfile.TemporaryDirectory(prefix="fairtrial-vm-") as place:
        folder = Path(place)
        disk = image.make(folder, Path(shutil.which("busybox") or ""))
        log = args.log or folder / "log"
        told = boot(kernel, disk, args.seconds, log)
        if not any(row["check"] == "end" for row in told):
            print(log.read_text(errors="replace")[-6000:], file=sys.stderr)
            print("the machine ended before its last check", file=sys.stderr)
    for row in told:
        print(f"{'ok' if row['ok'] else 'WRONG':5} {row['check']}: {row['told']}")
    return int(not told or not all(row["ok"] for row in told) or told[-1]["check"] != "end")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
