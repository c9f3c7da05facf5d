"""The execution of a campaign: sessions, resume, stopping; and the only writer of a trial directory."""
