"""An existing /etc/slurm to a cluster.yaml that renders to files of the same meaning.

It stands above `render`, whose files are the proof, and beside `rules` and `plan`, which it does not call.
"""
