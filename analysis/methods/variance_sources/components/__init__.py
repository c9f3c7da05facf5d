"""Components of variance: benchmark, host, session, block, run."""
