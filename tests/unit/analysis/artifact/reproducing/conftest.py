"""Bundles of the sample trial, with the answers that they store."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from analysis.artifact.recomputing import Commands, recompute
from tests import handmade_bundle as handmade

write_bundle = handmade.write_bundle


REPORT = ("report", "trials/sample", "--format", "html", "-o", "-")


@pytest.fixture(scope="session")
def printed(tmp_path_factory, forked) -> Iterator[Callable[[Sequence[str]], bytes]]:
    """Execute commands in a folder that looks like an unpacked bundle."""
    folder = tmp_path_factory.mktemp("packing")
    shutil.copytree(handmade.SAMPLE, folder / "trials" / "sample")
    with (folder / "lock").open("wb") as lock, Commands(folder, lock.fileno()) as commands:

        def execute(words):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Commands, "run", forked)
                return recompute(words, folder, commands).stdout

        yield execute


@pytest.fixture(scope="session")
def answers(printed) -> Mapping[str, bytes]:
    """Give what the commands print."""
    return {name: printed(words) for name, words in handmade.COMMANDS.items()}


@pytest.fixture(scope="session")
def page(printed) -> bytes:
    """Give the report."""
    return printed(REPORT)


@pytest.fixture
def bundle(tmp_path, answers) -> Callable[..., Path]:
    """Make a bundle whose hashes are consistent, whatever was edited before they were made."""

    def make(
        *,
        edit: Callable[[dict[str, bytes]], object] = lambda _: None,
        name: str = "artifact.zip",
        **changes: object,
    ) -> Path:
        files = handmade.files_of(handmade.SAMPLE)
        files |= {f"analyses/{name}.json": data for name, data in answers.items()}
        edit(files)
        return handmade.write_bundle(tmp_path / name, handmade.sealed(files, **changes))

    return make
