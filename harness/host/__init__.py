"""The one reader of /proc and /sys, checks of what it read, and what a reader needs to repeat a trial."""
