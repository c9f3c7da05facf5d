"""Shells really complete: each is started, takes the script, and is asked."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from docs.distribution.completion import script

CASES = [
    ("ver", {"verdict"}),
    ("verdict --met", {"--metric"}),
    ("verdict runs/fi", {"runs/first"}),
    ("verdict runs/two", {"runs/two"}),  # a fleet
    ("hpt runs/first runs/fi", {"runs/first"}),
    ("run c.yaml --trial runs/fi", {"runs/first"}),
    ("run c.", {"c.yaml"}),
    ("completion ", {"bash", "zsh", "fish"}),
    ("help exit", {"exit-codes"}),
    ("verdict --nothing-like-it", set()),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Give a folder with a campaign, a trial, a fleet and the scripts."""
    folder = tmp_path_factory.mktemp("shell")
    (folder / "runs" / "first").mkdir(parents=True)
    (folder / "runs" / "first" / "manifest.json").touch()
    (folder / "runs" / "two").mkdir()
    (folder / "runs" / "two" / "fleet.json").touch()
    (folder / "c.yaml").touch()
    (folder / "zsh").mkdir()
    for name in ("script.bash", "script.fish", "zsh/_fairtrial"):
        shell = name.partition("/")[0].removeprefix("script.")
        (folder / name).write_text(script(shell), encoding="utf-8")
    return folder


def answer(place, *command, **more):
    environment = {**os.environ, "HOME": str(place), "TERM": "dumb", **more}
    done = subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


@pytest.mark.parametrize(("words", "given"), CASES)
def test_bash_completes(place, words, given):
    ask = r"""
source script.bash
read -ra COMP_WORDS <<< "fairtrial $1"
[[ $1 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
name=$(complete -p fairtrial | sed 's/.*-F \([^ ]*\).*/\1/')
$name
printf '%s\n' "${COMPREPLY[@]}"
"""
    said = answer(place, "bash", "--norc", "-c", ask, "ask", words)
    assert {line for line in said.splitlines() if line} == given


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("words", "given"), CASES)
def test_fish_completes(place, words, given):
    ask = 'source script.fish; complete -C "fairtrial $argv[1]"'
    said = answer(place, "fish", "--no-config", "-c", ask, words)
    assert {line.split("\t")[0].rstrip("/") for line in said.splitlines()} == given


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes(place):
    # zsh completes on a terminal only: a second one is asked on a terminal of its own
    (place / ".zshrc").write_text(
        "unset zle_bracketed_paste; PROMPT='ready>'; PS2=\n"
        "fpath=($PWD/zsh $fpath); autoload -U compinit; compinit -u -D\n"
    )
    asked = [(words, given) for words, given in CASES if len(given) == 1]
    steps = "\n".join(
        rf"zpty -w -n shell $'\x15fairtrial {words}\t'; zpty -r shell said '*fairtrial {' '.join(words.split()[:-1])}*{next(iter(given))}*'; print done"
        for words, given in asked
    )
    ask = f"zmodload zsh/zpty; zpty shell zsh -i; zpty -r shell said '*ready>*'\n{steps}\nzpty -d shell"
    said = answer(place, "zsh", "-f", "-c", ask, ZDOTDIR=str(place))
    assert said.split() == ["done"] * len(asked)
