"""The launcher script, its client, hooks and signals."""
