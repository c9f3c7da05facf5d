"""The lists of looks at a comparison's sessions: each is about 1.3 times as many as the one before.

Runner and judge take them from here: the runner has no numpy, and its first run waits for nothing.
"""

LOOKS = (3, 4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 49, 64, 83, 108)  # numbers of sessions
OPEN_LOOKS = (*LOOKS, 143, 190, 251, 332, 440, 583, 773, 1024)  # chosen before the first of them
