"""The report on a trial: one file that holds the answer, the evidence, the doubt and the conditions.

A chapter is a function: subject in, sections of sentences, tables and pictures out.
No chapter knows another; no renderer computes a number.
"""
