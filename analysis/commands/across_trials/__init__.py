"""Subcommands that read several trials: of two, or of many nights."""
