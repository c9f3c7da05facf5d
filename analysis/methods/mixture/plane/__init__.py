"""Mixtures of two metrics of the same runs."""
