"""Randomization test, bootstrap intervals and empirical distributions of suite means."""
