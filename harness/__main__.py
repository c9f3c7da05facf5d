"""``python -m harness`` is the same as ``fairtrial``."""

from .cli import console

if __name__ == "__main__":
    console()
