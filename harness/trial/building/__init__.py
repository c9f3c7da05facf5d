"""The programs of a trial: built for all sessions or for each, recorded, and held against those of before."""
