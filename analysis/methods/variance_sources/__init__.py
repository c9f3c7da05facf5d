"""Where variation comes from: across systems, within a trial, and what separates modes."""
