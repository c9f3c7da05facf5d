"""Host, environment, what differed between sessions, the campaign, failed runs."""
