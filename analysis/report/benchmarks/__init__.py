"""A part for each benchmark: every run, and what the two sides look like."""
