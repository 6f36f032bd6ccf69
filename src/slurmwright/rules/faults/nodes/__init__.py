"""ND: nodes and partitions."""
