"""Cells whose runs fail: when a session, or all of the trial, goes on without them."""
