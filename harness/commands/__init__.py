"""The runner's subcommands."""
