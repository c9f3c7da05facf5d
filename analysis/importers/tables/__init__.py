"""Tables that no tool in particular writes, and the files of the published methods."""
