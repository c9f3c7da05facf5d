"""From two commits to the one that changed a program's time: commits, their builds, sessions and proofs."""
