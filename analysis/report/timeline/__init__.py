"""The trial as it happened: all runs of all benchmarks against time."""
