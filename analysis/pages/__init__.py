"""The page of a result: plain values, and the renderers that write it for a screen, paper or program."""
