"""One analysis subcommand, one file; each adds its parser and is lazy about numpy."""
