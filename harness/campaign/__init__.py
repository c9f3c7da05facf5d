"""From YAML text to a checked campaign."""
