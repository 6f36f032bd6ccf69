"""SC: scripts, units and secrets around Slurm."""
