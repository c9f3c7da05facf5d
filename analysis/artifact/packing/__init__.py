"""Packs trials, campaigns and claims into one file that others can compute and measure again."""
