"""Suspected factors: effects within sessions, and what they would be by chance."""
