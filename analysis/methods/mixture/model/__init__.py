"""The mixture itself."""
