"""The chapter on why: functions with intervals, counters, and who called whom, where a profile lies beside the trial."""
