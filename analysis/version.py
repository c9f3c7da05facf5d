"""The version, in its one place."""

VERSION = "0.1.0"
