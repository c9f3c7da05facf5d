"""How the values behind a judged quantile are distributed, as a chapter of the report."""
