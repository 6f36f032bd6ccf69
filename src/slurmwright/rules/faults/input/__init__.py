"""IN: what was given cannot be judged as it is."""
