"""C++ and Rust names that perf left as the compiler wrote them, made readable once, before they are stored.

perf demangles itself where it was built with a demangler, and none of 6.1 knows Rust's newer names (v0, RFC 2603).
c++filt of binutils knows both; where there is none, names stay as they are, and whoever reads the profile says so.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable

_MANGLED = re.compile(r"_(?:_?Z|R)")
_SECONDS = 60.0


def demangled(symbols: Iterable[str]) -> dict[str, str]:
    """Give readable names of those that are mangled and that c++filt knows; all others are missing.

    It is one call of c++filt. None is there, or it fails: nothing is given.
    """
    wanted = sorted({one for one in symbols if _MANGLED.match(one) and "\n" not in one})
    tool = shutil.which("c++filt") if wanted else None
    if tool is None:
        return {}
    try:
        done = subprocess.run(
            [tool],
            input="".join(f"{one}\n" for one in wanted),
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    names = done.stdout.splitlines()
    if len(names) != len(wanted) or not done.stdout.endswith("\n"):  # it is cut off
        return {}
    return {old: new for old, new in zip(wanted, names, strict=True) if new and new != old}
