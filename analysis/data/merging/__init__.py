"""Trials put together: parts of one campaign to a trial, hosts to a fleet."""
