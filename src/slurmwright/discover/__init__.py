"""Turns command output of hosts into facts: read over SSH, or replayed from what somebody recorded."""
