"""Pure geometry of machines: CPU sets, NUMA nodes and Slurm's logical cores."""
