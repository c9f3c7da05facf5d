"""The sources of variation: components, factors and modes, where they were asked for."""
