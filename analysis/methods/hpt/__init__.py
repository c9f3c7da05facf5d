"""HPT: hierarchical performance testing."""
