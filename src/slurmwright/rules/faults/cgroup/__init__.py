"""CG: what fences jobs in, in cgroup.conf and beside it."""
