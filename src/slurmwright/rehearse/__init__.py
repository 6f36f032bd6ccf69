"""Runs a bundle in a real Slurm on this machine and turns what Slurm does into named verdicts."""
