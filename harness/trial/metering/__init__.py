"""What is read beside a trial's times: which counters, whose energy, what groups, and if the launcher stays."""
