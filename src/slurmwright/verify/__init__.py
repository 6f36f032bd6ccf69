"""Probes of what jobs see and use, checks against the hardware, and the likely cause of what is wrong."""
