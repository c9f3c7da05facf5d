"""Variants of one trial that are a series, such as commits: from which one on it is slower."""
