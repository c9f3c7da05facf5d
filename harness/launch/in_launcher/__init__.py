"""What the launcher process is made of: standard library only, and as little of it as can be."""
