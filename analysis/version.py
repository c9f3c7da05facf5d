"""The version, in its one place."""

VERSION = "0.2.0"
