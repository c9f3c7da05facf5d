"""A module for each foreign format: whether it knows a file, and what the file holds."""
