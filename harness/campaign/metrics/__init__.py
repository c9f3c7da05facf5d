"""What a campaign says of metrics: when they are read, their units and quantiles, and what of it cannot be."""
