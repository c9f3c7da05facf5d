"""Empirical distributions of the suite mean."""
