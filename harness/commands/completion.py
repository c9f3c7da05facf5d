"""The subcommand ``completion``: the script that lets a shell complete our command lines."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TextIO

from .arguments import add_command

if TYPE_CHECKING:
    from .arguments import Subparsers

# where each shell looks for it, below share/
PLACES = {
    "bash": "bash-completion/completions/fairtrial",
    "zsh": "zsh/site-functions/_fairtrial",
    "fish": "fish/vendor_completions.d/fairtrial.fish",
}


def add(subparsers: Subparsers) -> None:
    """Add ``completion``."""
    parser = add_command(
        subparsers,
        "completion",
        description="Print the script with which a shell completes commands, options and the "
        "names of "
        "trials. It was made when fairtrial was built. Where fairtrial is installed below /usr or "
        "/usr/local, shells find it by themselves.",
        examples="""
bash > fairtrial.bash    then: source fairtrial.bash
zsh > _fairtrial         in a folder of fpath
fish > ~/.config/fish/completions/fairtrial.fish
""",
    )
    parser.add_argument(
        "shell", choices=tuple(PLACES), metavar="SHELL", help="the shell: bash, zsh or fish"
    )
    parser.set_defaults(run=_completion)


def _completion(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from importlib.metadata import PackageNotFoundError, files

    from analysis.errors import UsageError

    place = f"share/{PLACES[args.shell]}"
    try:
        listed = files("fairtrial") or ()
    except PackageNotFoundError:
        listed = ()
    for one in listed:
        if one.as_posix().endswith(place):
            try:
                out.write(one.read_text(encoding="utf-8"))
            except OSError as error:
                raise UsageError(
                    f"cannot be read: {error.strerror}",
                    str(one.locate()),
                    "install fairtrial again",
                ) from error
            return 0
    raise UsageError(
        f"the script of {args.shell} is not there: fairtrial is not installed as a package",
        fix="install it (docs/install.md); in a clone: pip install .",
    )
