"""The text of a campaign file: marks, excerpts, templates."""
