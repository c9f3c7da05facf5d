"""The answer of a gate: its sentence and screen, what comes next, and the files that builds read."""
