"""Where the time of two variants goes: their programs executed again under perf, session by session."""
