"""Judges the series of many nights: what changed, since when, and whether the newest pass a gate."""
