"""One reader, or writer, for the files of each foreign tool; each says what it left out."""
