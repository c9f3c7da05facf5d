"""Reads trials of many nights into series: one value a night, a benchmark and a variant."""
