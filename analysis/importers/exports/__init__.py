"""Files for other tools: what is written, and what the target cannot hold."""
