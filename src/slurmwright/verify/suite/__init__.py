"""The checks of verify as tests: `pytest --pyargs slurmwright.verify.suite --hosts=ansible://slurm`."""
