"""The schemas of what ``--json`` prints, made from the types of the answers."""
