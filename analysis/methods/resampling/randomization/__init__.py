"""The randomization test."""
