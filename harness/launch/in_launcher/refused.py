"""A setting that the host does not allow."""

from __future__ import annotations


class Refused(Exception):
    """A setting could not be applied: (setting, errno)."""
