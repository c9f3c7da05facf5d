"""The one place that draws: scales, ticks, marks, colours, labels; knows no method.

Chapters of the page take their marks from here; what is for papers only has its modules.
"""
