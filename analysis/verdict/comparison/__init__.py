"""Two trials compared: do the answers of an old trial hold in a new one."""
