"""A place for services: a campaign around a Python program that listens, and what stands beside it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from harness.campaign.resolve import load_campaign
from harness.host.cgroups import RunGroups
from harness.launch.commands import SideCommands
from harness.launch.matching import Interrupts
from harness.launch.running import RunningServices

SERVER = """\
import os, signal, socket, sys, time
port, how = int(sys.argv[1]), sys.argv[2:]
if "deaf" in how:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "child" in how:  # in a session of its own, where no signal to a group reaches it
    os.posix_spawnp("sleep", ["sleep", "1000"], os.environ, setsid=True)
if "quiet" in how:
    time.sleep(1000)
if "ends" in how:
    print("no such file: data", flush=True)
    sys.exit(3)
one = socket.socket()
one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
one.bind(("127.0.0.1", port))
one.listen()
print("up at", os.environ.get("WHERE"), flush=True)
while True:
    there, _ = one.accept()
    word = there.recv(100)
    if word == b"die":
        print("told to die", flush=True)
        os._exit(7)
    there.sendall(b"%d %s" % (os.getpid(), b" ".join(map(os.fsencode, how))))
    there.close()
"""


class Place:
    """Services of a campaign whose text begins with its variants a and b."""

    def __init__(self, folder: Path, interrupts: Interrupts) -> None:
        self.folder, self.interrupts = folder, interrupts
        self.heard: list[str] = []
        self.commands = SideCommands(None, interrupts)
        (folder / "server.py").write_text(SERVER)
        (folder / "outputs").mkdir()

    def services(self, text: str, groups: RunGroups | None = None) -> RunningServices:
        path = self.folder / "c.yaml"
        path.write_text(
            "name: s\nvariants: {a: {how: a}, b: {how: b}}\n"
            "benchmarks: {x: {command: [client, '{how}']}}\n"
            f"services:\n  {text}\n".replace("[PYTHON", f"[{sys.executable}, -I, -S").replace(
                "PYTHON", sys.executable
            )
        )
        return RunningServices(
            load_campaign(path),
            environment=dict(os.environ),
            cpus={},
            pinned=False,
            commands=self.commands,
            interrupts=self.interrupts,
            groups=groups,
        )

    def standing(self, services: RunningServices):
        services.choose_ports()
        return services.standing(1, self.folder / "outputs", self.heard.append)

    def logs(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "outputs").iterdir())


@pytest.fixture
def place(tmp_path):
    with Interrupts() as interrupts:
        made = Place(tmp_path, interrupts)
        yield made
        made.commands.close()
