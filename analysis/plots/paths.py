"""Marks of many lines; see `marks`. Here until all chapters take them from there."""

from .marks import arrow, boxes, cross, segments

__all__ = ["arrow", "boxes", "cross", "segments"]
