"""Checks a bundle and computes or measures its results again."""
