"""How a command is started as if outside of the job in which we may run ourselves."""

from __future__ import annotations

#: Neither that job nor its GPUs may leak into what is submitted.
OUTSIDE_JOB = (
    "env",
    *("-u", "SLURM_JOB_ID"),
    *("-u", "SLURM_JOBID"),
    *("-u", "CUDA_VISIBLE_DEVICES"),
    *("-u", "SLURM_JOB_GPUS"),
)
