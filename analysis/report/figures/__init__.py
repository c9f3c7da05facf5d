"""Figures for papers: each kind as SVG, PDF and PNG, with its data beside it.

A kind takes a `Subject` and gives a `Drawing`: the picture, its result in words, and the numbers that
it shows. They stem from the same verdict as the page's.
"""
