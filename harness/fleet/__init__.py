"""A campaign on many hosts through Slurm: submitted, looked after, cancelled."""
