"""Modes of the runs, and what separates them."""
