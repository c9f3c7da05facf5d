"""For a paper: methods paragraph, citations, commands, seeds, versions, hashes, raw values."""
