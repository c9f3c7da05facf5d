"""Measured values: trials read, columns, performance matrices and their files."""
