"""What a trial directory holds, for those who write one and those who read it."""
