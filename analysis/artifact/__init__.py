"""Bundles: packed with what others need to compute and measure again, and checked."""
