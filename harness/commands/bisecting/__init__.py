"""What a person watches during `fairtrial bisect`."""
