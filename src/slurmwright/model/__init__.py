"""cluster.yaml and facts, checked, as frozen values."""
