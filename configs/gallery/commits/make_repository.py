"""Make a git repository of ten commits of bzip2, the sixth of them slower, and what is compressed.

    python3 make_repository.py SOURCES

Eight commits change a comment alone. The sixth sums up each block once more, for nobody. The commits have
the tags v1 to v10; the same sources give the same commits. Written are `repository`, `data` and `data.bz2`.
"""

import bz2
import os
import pathlib
import re
import shutil
import subprocess
import sys

WHO = {"GIT_AUTHOR_NAME": "Gallery", "GIT_AUTHOR_EMAIL": "gallery@example.org"}
NOT_OF_THE_PROGRAM = {"dlltest.c", "mk251.c", "spewG.c", "unzcrash.c", "bzip2recover.c"}
BLOCK = re.compile(r"(?m)^void BZ2_compressBlock[\s\S]*?^   if \(s->nblock > 0\) \{\n")
SUM = """\
      { volatile UInt32 sum = 0; Int32 i;
        for (i = 0; i < 2 * s->nblock; i++) sum += ((UChar*)s->arr2)[i / 2]; }
"""


def git(*arguments: str) -> None:
    """Execute git with a name, settings and times that are the same everywhere."""
    number = len(list(pathlib.Path(".git/refs/tags").glob("v*")))
    times = dict.fromkeys(
        ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"2026-01-{number + 1:02}T12:00:00Z"
    )
    same = {
        **WHO,
        **{key.replace("AUTHOR", "COMMITTER"): value for key, value in WHO.items()},
        **times,
    }
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], check=True, env={**os.environ, **same, **settings})


def commit(number: int, message: str) -> None:
    """Commit all files, and tag what comes of it."""
    git("add", "--all")
    git("commit", "-q", "-m", message)
    git("tag", f"v{number}")


def main(sources: pathlib.Path) -> None:
    """Make the repository anew."""
    shutil.rmtree("repository", ignore_errors=True)
    repository = pathlib.Path("repository")
    repository.mkdir()
    for path in sorted(sources.glob("*.[ch]")):
        if path.name not in NOT_OF_THE_PROGRAM:
            shutil.copyfile(path, repository / path.name)
    data = b"".join(path.read_bytes() for path in sorted(repository.iterdir())) * 3
    pathlib.Path("data").write_bytes(data)
    pathlib.Path("data.bz2").write_bytes(bz2.compress(data))
    os.chdir(repository)
    git("init", "-q")
    commit(1, "bzip2 as it came")
    for number in range(2, 11):
        if number == 6:
            file = pathlib.Path("compress.c")
            text, found = BLOCK.subn(lambda block: block[0] + SUM, file.read_text())
            if found != 1:
                sys.exit(
                    f"{sources}/compress.c has no BZ2_compressBlock that could sum up its block"
                )
            file.write_text(text)
            commit(number, "Sum up each block")
        else:
            file = pathlib.Path("huffman.c" if number < 6 else "compress.c")
            file.write_text(f"/* note {number} */\n" + file.read_text())
            commit(number, f"Note {number}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
