"""The one registry of every file that holds values: tools, tables, lists; and the exporters."""
