"""The verdict in words, the forest of speedups, the cautions that matter."""
