"""What is installed beside the packages and printed: the scripts of ``completion``, and JSON Schemas."""

from __future__ import annotations

from typing import TextIO

from analysis.options import command

# where each shell looks for it, below share/
PLACES = {
    "bash": "bash-completion/completions/fairtrial",
    "zsh": "zsh/site-functions/_fairtrial",
    "fish": "fish/vendor_completions.d/fairtrial.fish",
}
SCHEMAS = "fairtrial/json"  # the folder of what `fairtrial help json` prints, likewise


@command("completion")
def completion(*, shell: str, out: TextIO) -> int:
    """Print the script with which a shell completes commands, options and the names of trials.

    It was made when fairtrial was built. Where fairtrial is installed below /usr or /usr/local, shells
    find it by themselves.

    Examples
    --------
    bash > fairtrial.bash    then: source fairtrial.bash
    zsh > _fairtrial         in a folder of fpath
    fish > ~/.config/fish/completions/fairtrial.fish
    """
    out.write(installed(PLACES[shell], f"the script of {shell}"))
    return 0


def schema(command: str) -> str:
    """Give the JSON Schema of what a command prints with ``--json``.

    Raises
    ------
    UsageError
        If the command prints no JSON, or fairtrial is not installed as a package.
    """
    from analysis.errors import UsageError
    from analysis.options import COMMANDS

    from .catalogue import parser_of

    options = parser_of([command]).commands[command].format_help() if command in COMMANDS else ""
    if "json" not in options:
        raise UsageError(f"no command {command!r} prints JSON", fix="fairtrial help json verdict")
    return installed(f"{SCHEMAS}/{command}.schema.json", f"the schema of {command}")


def installed(place: str, called: str) -> str:
    """Give the text of a file that was installed below share/; `called` is what messages call it."""
    from importlib.metadata import PackageNotFoundError, files

    from analysis.errors import UsageError

    try:
        listed = files("fairtrial") or ()
    except PackageNotFoundError:
        listed = ()
    for one in listed:
        if one.as_posix().endswith(f"share/{place}"):
            try:
                return one.read_text(encoding="utf-8")
            except OSError as error:
                raise UsageError(
                    f"cannot be read: {error.strerror}",
                    str(one.locate()),
                    "install fairtrial again",
                ) from error
    raise UsageError(
        f"{called} is not there: fairtrial is not installed as a package",
        fix="install it (docs/install.md); in a clone: pip install .",
    )
