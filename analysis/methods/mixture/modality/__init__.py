"""Evidence for more than one mode."""
