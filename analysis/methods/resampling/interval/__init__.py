"""Bootstrap intervals of the ratio of suite means."""
