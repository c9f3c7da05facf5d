"""The runner: from a YAML campaign to trustworthy raw timings.

Words: a *campaign* is one YAML file; a *benchmark* a program with its input; a *variant* what is
compared. A *trial* is one execution of a campaign on one host; a *session* one pass of the plan
with a launcher and an order of its own; a *block* one shuffled round of all benchmark x variant
cells; a *run* one process execution; an *iteration* a repetition that the program times itself.
"Run" is a noun, "execute" the verb. Durations are seconds (``_s``), raw clocks ``_ns``.
"""
