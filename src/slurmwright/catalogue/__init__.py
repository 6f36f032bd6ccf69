"""Node types, Slurm options, effects and explanations: data rows with their sources, and typed access."""
