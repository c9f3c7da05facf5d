"""Benchmark libraries of programming languages: what a program writes of the functions it measured."""
