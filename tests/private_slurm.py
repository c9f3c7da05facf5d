"""A private Slurm of three virtual nodes on this machine, for tests: munged, slurmctld, three slurmd.

It runs entirely as the current user, in a folder of its own and on ports that nobody uses. All
nodes are this machine: they share its CPUs, host name and machine id, and only SLURMD_NODENAME
tells them apart. When whoever started it ends, in whatever way, a pipe closes, and everything that
it started ends too, jobs included.

python tests/private_slurm.py FOLDER [COUNT]    says "ready", serves until its standard input closes

With COUNT there are so many further nodes in the partition "absent", which never answer: jobs for them
wait for ever.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

NODES = ("lab1", "lab2", "lab3")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo", "scancel")
PATIENCE_S = 120.0
_SUBREAPER = 36

_CONF = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/sock
CredType=cred/munge
SlurmctldPort={control}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
MailProg=/bin/true
MpiDefault=none
SwitchType=switch/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,batch_sched_delay=0
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
KillWait=10
SlurmdTimeout=10
MinJobAge=300
{nodes}
PartitionName=lab Nodes={all} Default=YES MaxTime=01:00:00 OverSubscribe=NO State=UP
PartitionName=brief Nodes={all} MaxTime=00:05:00 OverSubscribe=NO State=UP
PartitionName=shared Nodes={all} MaxTime=01:00:00 OverSubscribe=FORCE:2 State=UP
PartitionName=pair Nodes={pair} MaxTime=01:00:00 OverSubscribe=NO State=UP
"""
_NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 Boards=1 "
    "SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN"
)
_ABSENT = """\
NodeName=absent[1-{count}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[20001-2{count:04}] RealMemory=1
PartitionName=absent Nodes=absent[1-{count}] MaxTime=01:00:00 OverSubscribe=NO State=UP
"""


def missing() -> list[str]:
    """List the programs of Slurm that are not installed here."""
    return [name for name in PROGRAMS if _program(name) is None]


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")


class PrivateSlurm:
    """What a test sees: the variables that lead to it, and its daemons."""

    def __init__(self, folder: Path, absent: int = 0) -> None:
        self.folder = folder
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("SLURM")},
            "SLURM_CONF": str(folder / "slurm.conf"),
        }
        self._log = (folder.parent / f"{folder.name}.log").open("wb")
        self._keeper = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), str(folder), str(absent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
        )
        said = self._keeper.stdout.readline()
        if said != b"ready\n":
            self.close()
            raise AssertionError(f"no private Slurm: {Path(self._log.name).read_text()}")

    def client(self, *words: object) -> str:
        """Execute a client command of Slurm; give what it wrote."""
        done = subprocess.run(
            [_program(str(words[0])) or str(words[0]), *map(str, words[1:])],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"{words}: {done.stderr}")
        return done.stdout

    def daemon(self, node: str) -> int:
        """Give the process number of a node's slurmd."""
        return int((self.folder / f"slurmd-{node}.pid").read_text())

    def ask(self, what: str) -> None:
        """Have the keeper do something: "start NODE"."""
        self._keeper.stdin.write(f"{what}\n".encode())
        self._keeper.stdin.flush()
        assert self._keeper.stdout.readline() == b"done\n"

    def close(self) -> None:
        """End it with everything that it started."""
        with contextlib.suppress(OSError):
            self._keeper.stdin.close()
        self._keeper.wait(PATIENCE_S)
        self._log.close()


def _ports(count: int) -> list[int]:
    """Give numbers of ports that nobody has now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class _Keeper:
    """Starts the daemons, and ends them with everything that they left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: dict[str, subprocess.Popen[bytes]] = {}
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # who forks away from a daemon falls to us

    def start(self, absent: int) -> None:
        folder = self.folder
        for name in ("munge", "state", "spool", "log"):
            (folder / name).mkdir(parents=True, mode=0o755)
        key = folder / "munge" / "key"
        key.touch(0o600)
        key.write_bytes(os.urandom(1024))
        control, *ports = _ports(1 + len(NODES))
        host = socket.gethostname().partition(".")[0]
        rows = (
            _NODE.format(name=name, host=host, port=port)
            for name, port in zip(NODES, ports, strict=True)
        )
        (folder / "slurm.conf").write_text(
            _CONF.format(
                host=host,
                user=pwd.getpwuid(os.geteuid()).pw_name,
                folder=folder,
                control=control,
                nodes="\n".join(rows),
                all=",".join(NODES),
                pair=",".join(NODES[:2]),
            )
            + (_ABSENT.format(host=host, count=absent) if absent else "")
        )
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        self._execute(
            "munged",
            *("--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge/sock"),
            *(f"--pid-file={folder}/munge/pid", f"--log-file={folder}/log/munged.log"),
            f"--seed-file={folder}/munge/seed",
        )
        _wait((folder / "munge" / "sock").exists, "munged listens")
        self._execute("slurmctld", "-D", "-f", f"{folder}/slurm.conf")
        # a slurmd that meets no controller tries again much later
        _wait(lambda: self._ask("scontrol", "ping").count("UP"), "slurmctld answers")
        for name in NODES:
            self.start_node(name)
        _wait(self._all_idle, "all nodes are idle")

    def start_node(self, name: str) -> None:
        folder = self.folder
        (folder / "spool" / name).mkdir(exist_ok=True)
        self._execute("slurmd", "-D", "-f", f"{folder}/slurm.conf", "-N", name, key=name)

    def _execute(self, program: str, *words: str, key: str | None = None) -> None:
        self._started[key or program] = subprocess.Popen(
            [_program(program) or program, *words],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            start_new_session=True,
        )

    def _all_idle(self) -> bool:
        return self._ask("sinfo", "-h", "-N", "-p", "lab", "-o", "%T").split() == ["idle"] * 3

    def _ask(self, *words: str) -> str:
        done = subprocess.run(
            [_program(words[0]) or words[0], *words[1:]],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    def end(self) -> None:
        """Kill whatever is below us until nothing is left; the controller first, so that no job starts."""
        for name in ("slurmctld", *NODES, "munged"):
            if name in self._started:
                self._started[name].kill()
        while below := _below(os.getpid()):
            for pid in below:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            time.sleep(0.01)


def _below(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                above = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(above, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def _wait(condition, what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"never happened: {what}")
        if select.select([sys.stdin], [], [], 0.05)[0]:  # nobody says anything before "ready"
            raise SystemExit("whoever started this is gone")


def main() -> None:
    keeper = _Keeper(Path(sys.argv[1]))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    try:
        keeper.start(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
        print("ready", flush=True)
        for line in sys.stdin:
            what, _, name = line.strip().partition(" ")
            if what == "start":
                keeper.start_node(name)
                print("done", flush=True)
    finally:
        keeper.end()


if __name__ == "__main__":
    main()
