"""The command ``why``: what is asked of which trial, what a person watches, and how the answer is written."""
