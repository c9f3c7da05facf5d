"""What the runs themselves look like, before any comparison."""
