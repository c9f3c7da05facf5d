"""What a campaign file may hold."""
