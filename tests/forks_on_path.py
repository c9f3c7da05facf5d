"""A `fairtrial` for the PATH of shell scripts, without its start: it has a fork of the warm process execute its words.

What a script's command writes comes at its end. A script that sets what an interpreter reads at its start
(PYTHONHASHSEED, LANG) gets a new one.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.forks import Forks

_REAL = Path(sys.executable).with_name("fairtrial")
# -S: it needs nothing that is installed, and starts in a hundredth of a second
_SCRIPT = """\
#!{python} -IS
import json, os, socket, sys
asked = dict(words=sys.argv[1:], cwd=os.getcwd(), environment=dict(os.environ))
with socket.socket(socket.AF_UNIX) as one:
    one.connect({address!r})
    one.sendall(json.dumps(asked).encode())
    one.shutdown(socket.SHUT_WR)
    told = json.loads(one.makefile("rb").read())
if told is None:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
sys.stdout.write(told["out"])
sys.stdout.flush()
sys.stderr.write(told["err"])
sys.exit(told["code"])
"""
_PATIENCE_S = 300


@contextlib.contextmanager
def forks_on_path(forks: Forks, folder: Path) -> Iterator[Path]:
    """Give a folder with the command `fairtrial`, which works as long as the block lasts."""
    address = folder / "asked"
    command = folder / "fairtrial"
    command.write_text(_SCRIPT.format(python=sys.executable, address=str(address), real=str(_REAL)))
    command.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        listening.listen()
        serving = threading.Thread(target=_serve, args=(listening, forks), daemon=True)
        serving.start()
        try:
            yield folder
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            serving.join()


def _serve(listening: socket.socket, forks: Forks) -> None:
    while True:
        try:
            one, _ = listening.accept()
        except OSError:  # the block has ended
            return
        with one, one.makefile("rwb") as stream:
            told = _told(forks, **json.loads(stream.read()))
            with contextlib.suppress(OSError):  # who asked has been ended
                stream.write(json.dumps(told).encode())
                stream.flush()


def _told(
    forks: Forks, words: list[str], cwd: str, environment: dict[str, str]
) -> dict[str, str | int] | None:
    if not forks.can(environment):
        return None
    stage = forks.stage()
    done = forks.run(words, cwd=Path(cwd), environment=environment, seconds=_PATIENCE_S, **stage)
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return {"code": code, "out": done.stdout, "err": done.stderr}
