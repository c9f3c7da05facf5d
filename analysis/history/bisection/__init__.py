"""What a search among commits found, in their names: result, JSON, screen."""
