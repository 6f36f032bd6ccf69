"""NCCL's topology files and settings judged, its logs read, its speed bounded, measured and tuned."""
