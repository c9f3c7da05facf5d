"""Configurations and reports of the original Speedup-Test tool."""
