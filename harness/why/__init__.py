"""Why is it slower? Programs executed once more, under a profiler or a counter of instructions."""
