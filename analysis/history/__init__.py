"""One value a night, over months: what changed, when, and whether to raise an alarm."""
