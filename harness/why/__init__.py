"""Recording where the time of two variants goes: perf around runs, session by session."""
