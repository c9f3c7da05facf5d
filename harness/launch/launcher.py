"""The launcher: a tiny script that spawns, times, limits, kills and reaps targets.

It is executed as ``python -I -S launcher.py FD [LOCK ...]``, keeps the locks until it ends, and needs the standard library only: the peak
memory of the process that spawns is the floor below which a target's own peak cannot be seen, and
a small, warm process disturbs the timing least. Everything that a target inherits (CPU affinity,
nice, scheduling class, personality, namespace) is set here once, so that nothing has to happen
between the clock read and the exec: no wrapper program, no code in the forked child.
(With -I it finds no package but `in_launcher`, which lies in the same folder.)

Messages on FD, in both directions: four bytes of length, then a dict in `marshal` format (the
same interpreter is at both ends). The first is the configuration; the reply is ``{"ready": True}`` or
``{"error": ...}``. Then every request is one run: `in_launcher/serving.py` tells its keys. A message
``{"op": "kill"}`` ends the run under way. When FD hangs up, in whatever way, the orchestrator is
dead: the run and everything that it left behind is killed, and the launcher exits. Whatever else
ends it, a signal or an error, it sweeps first; only SIGKILL leaves it no time to. TERM, which is
sent to all processes of a job, does not end it: the orchestrator does (`in_launcher/system_calls.py`). Whether it
was stopped and continued while a run lasted it tells with the reply.

With ``containment`` "pid" or "user" the launcher is the second process of a PID namespace of its
own: when the first one dies the kernel kills all the others, so that no target survives even if
orchestrator and launcher are killed at the same instant. The first one dies with the orchestrator.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out

from in_launcher.serving import main  # type: ignore[import-not-found]  # found by the line above

if __name__ == "__main__":
    main()
