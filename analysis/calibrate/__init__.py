"""How often methods err: on identical variants of a trial, and in studies on drawn samples."""
