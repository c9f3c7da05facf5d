"""Execute command lines in fresh folders, by both installations, and keep what they leave."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_lines import Line
from input_folder import copied
from installations import BUILD, PROJECT, Installation
from text_comparison import Outcome
from text_filter import filtered

HERE = Path(__file__).parent
# One path for both: what a command prints of its folder is the same. Two checkouts do not meet.
ROOT = Path("/tmp") / f"unchanged-{hashlib.sha256(str(PROJECT).encode()).hexdigest()[:8]}"
INPUTS = ROOT / "inputs"
_SECONDS = 240
_STEPS = "&&"


@dataclass(frozen=True, kw_only=True)
class Execution:
    """What one execution left as it was, and when it was."""

    code: int
    out: str
    err: str
    files: dict[str, str]
    begun: float
    ended: float
    cpu: float
    paths: dict[str, str]

    def outcome(self, *, measured: bool) -> Outcome:
        """Give what is compared of it."""

        def clean(text: str) -> str:
            return filtered(
                text, begun=self.begun, ended=self.ended, paths=self.paths, measured=measured
            )

        return Outcome(
            code=self.code,
            out=clean(self.out),
            err=clean(self.err),
            files={clean(name): clean(text) for name, text in self.files.items()},
        )


class Executor:
    """One process of an installation that executes lines, one after the other."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self._process: subprocess.Popen[str] | None = None

    def execute(self, line: Line) -> Execution:
        """Execute a line in a new folder, whose path is the line's; nothing of it stays there."""
        lab, home = ROOT / "lab" / line.key, ROOT / "home" / line.key
        for folder in (lab, home):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        (home / "tmp").mkdir()
        for name in line.inputs:
            if name == line.host:
                continue
            copied(INPUTS / name, lab / name)
        before = _stamps(lab)
        out, err = home / "out", home / "err"
        out.touch()
        err.touch()
        code, begun, ended, cpu = 0, 0.0, 0.0, 0.0
        for words in _steps(line.words):
            answer = self._ask(
                words=_globbed(words, lab),
                cwd=str(lab),
                environment=self._environment(home) | dict(line.environment),
                stdin=str(lab / line.stdin) if line.stdin else None,
                out=str(out),
                err=str(err),
                seconds=_SECONDS,
                host=str(INPUTS / line.host) if line.host else None,
                ends=True,
            )
            code, ended = answer["code"], answer["ended"]
            begun = begun or answer["begun"]
            cpu += answer["cpu"]
            with out.open("a") as file:
                file.write(f"[exit code {code}]\n" if _STEPS in line.words else "")
        files, software = _written(lab, before)
        found = Execution(
            code=code,
            out=_text(out.read_bytes()),
            err=_text(err.read_bytes()),
            files=files,
            begun=begun,
            ended=ended,
            cpu=cpu,
            paths={
                str(self.installation.place): "<installation>",
                str(self.installation.kernels): "<kernels>",
                self.installation.key: "<key>",
                **software,
            },
        )
        shutil.rmtree(lab, ignore_errors=True)
        shutil.rmtree(home, ignore_errors=True)
        return found

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
            self._process = None

    def _ask(self, **asked: Any) -> dict[str, Any]:
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def _start(self) -> None:
        command = [sys.executable, PROJECT / "tests" / "own_network.py", self.installation.python]
        self._process = subprocess.Popen(
            [*map(str, command), "-P", str(HERE.parent / "fork_server.py")],
            cwd=ROOT,
            env=self._environment(ROOT),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise SystemExit(f"no command can be executed by {self.installation.python}")

    def _environment(self, home: Path) -> dict[str, str]:
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "XDG_STATE_HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "FAIRTRIAL_CACHE": str(self.installation.kernels),
            "MPLCONFIGDIR": str(BUILD / "matplotlib"),
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "80",
            "PYTHONHASHSEED": "0",
            "OPENBLAS_NUM_THREADS": "1",
        }


def _steps(words: tuple[str, ...]) -> list[list[str]]:
    steps: list[list[str]] = [[]]
    for word in words:
        if word == _STEPS:
            steps.append([])
        else:
            steps[-1].append(word)
    return steps


def _globbed(words: list[str], folder: Path) -> list[str]:
    """Put in place of runs/NAME-* what is there, as a shell does."""
    found: list[str] = []
    for word in words:
        matches = sorted(folder.glob(word)) if word.startswith("runs/") and "*" in word else []
        found += [str(path.relative_to(folder)) for path in matches] or [word]
    return found


def _stamps(folder: Path) -> Mapping[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (status.st_size, status.st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and (status := path.stat())
    }


def _written(
    folder: Path, before: Mapping[str, tuple[int, int]]
) -> tuple[dict[str, str], dict[str, str]]:
    """Read the files that are new or changed; a file that has gone is told too.

    An artifact holds the software itself, which is another one: the second answer names what follows
    from that alone, the hashes of the files that hold hashes of each other, and the software's size.
    """
    after = _stamps(folder)
    found = {name: "(removed)" for name in before if name not in after}
    software: dict[str, str] = {}
    for name in sorted(after):
        if before.get(name) != after[name]:
            found |= _texts(name, (folder / name).read_bytes(), software)
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = f"(a link to {path.readlink()})"
    return found, software


def _texts(name: str, content: bytes, software: dict[str, str]) -> dict[str, str]:
    """Give a file as text, an archive by its members."""
    if name.endswith(".whl"):
        software |= {_sha256(content): "<hash of the software>", str(len(content)): "<its size>"}
        return {name: "(the software)"}
    members: dict[str, bytes] = {}
    if content.startswith(b"PK\3\4"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {one.filename: archive.read(one) for one in archive.infolist()}
    elif content.startswith(b"\x1f\x8b"):
        members = {"unpacked": gzip.decompress(content)}
    elif content[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            read = {one.name: tar.extractfile(one) for one in tar.getmembers() if one.isfile()}
            members = {key: file.read() for key, file in read.items() if file}
    else:
        return {name: _text(content)}
    known = len(software)
    found = {f"{name}!": "\n".join(members)}
    for member, inner in members.items():
        found |= _texts(f"{name}!{member}", inner, software)
    if len(software) > known:
        own = {f"{name}": content} | {f"{name}!{key}": inner for key, inner in members.items()}
        software |= {
            _sha256(inner): f"<hash of {key}>"
            for key, inner in own.items()
            if _sha256(inner) not in software
        }
    return found


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return f"({len(content)} bytes, SHA-256 {_sha256(content)})"
