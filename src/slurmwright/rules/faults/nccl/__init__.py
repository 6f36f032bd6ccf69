"""NC: nccl.conf and NCCL's topology files."""
