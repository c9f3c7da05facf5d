"""What is read around a run beside its times: name, unit, and how; a package a kind of meter."""
