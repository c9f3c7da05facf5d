"""Long-lived processes beside the runs: started, awaited, watched and ended."""
