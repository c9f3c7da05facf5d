"""What the published methods say of the same runs, how they came to it, and why they differ."""
