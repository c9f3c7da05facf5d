"""Execute a command in a network namespace of its own, where one is to be had.

The lock of a measured CPU is an abstract Unix socket, one for each network namespace: the suites of
two checkouts on one host, or a suite beside a real trial, do not meet. The loopback is up. Root
becomes nobody else; an ordinary user stays that user, in a user namespace. A pytest that somebody
starts without this file does the same (conftest.py); where it cannot, tests that take what a host has
once wait for those of other suites (scheduling.py).

python tests/own_network.py COMMAND [ARGUMENT ...]
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

NEWUSER, NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 0x1
ADDRESS = "192.0.2.1"  # of the block that is kept for documentation


def leave_the_network() -> None:
    """Move this process into a new network namespace.

    Raises
    ------
    OSError
        If the kernel, or a container's rules, do not allow that.
    """
    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEWNET if user == 0 else NEWUSER | NEWNET):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if user != 0:
        proc = Path("/proc/self")
        (proc / "uid_map").write_text(f"{user} {user} 1")
        (proc / "setgroups").write_text("deny")
        (proc / "gid_map").write_text(f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP))
        # where no interface has any other address than the loopback's, the C library resolves no
        # address at all for those that ask with AI_ADDRCONFIG, such as the daemons of Slurm
        address = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(ADDRESS))
        fcntl.ioctl(any_socket, SIOCSIFADDR, struct.pack("16s16s", b"lo:1", address))


def has_left() -> bool:
    """Tell whether this process is in such a namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            any_socket.bind((ADDRESS, 0))
        except OSError:
            return False
    return True


def can_leave() -> bool:
    """Try it in a child: half a namespace, without its user, would be worse than none."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    try:
        leave_the_network()
    except OSError as error:
        print(
            f"no network namespace is to be had here ({error.strerror}): tests that lock a CPU wait "
            "for those of another suite, and fail beside a trial on this host",
            file=sys.stderr,
            flush=True,
        )
        os._exit(1)
    os._exit(0)


def only_marked_tests_lock() -> None:
    """Let a test that locks a CPU be marked `host`: two of one suite at a time would meet."""
    from harness.trial.folder import CpuLock

    lock = CpuLock.__init__

    def checked(self: CpuLock, cpus: tuple[int, ...]) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        alone = "PYTEST_XDIST_WORKER" not in os.environ or "host" in test.partition("@")[2]
        assert alone or not cpus, f"{test} locks CPUs, without the mark host"
        lock(self, cpus)

    CpuLock.__init__ = checked  # type: ignore[method-assign]


def main() -> None:
    if can_leave():
        leave_the_network()
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
