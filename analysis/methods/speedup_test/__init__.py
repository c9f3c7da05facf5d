"""The Speedup-Test."""
