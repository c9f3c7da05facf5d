"""The original Speedup-Test tool: its configurations, and the files that it writes."""
