"""From one inventory to a Slurm GPU cluster whose jobs see exactly the GPUs they asked for."""

__version__ = "0.1.0"
