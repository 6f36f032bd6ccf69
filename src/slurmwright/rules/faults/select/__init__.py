"""SE: how cores, memory and GPUs are handed out, and how tasks are bound to them."""
