"""Runs the playbooks and reports per host. (The room is laid; nothing lives here yet.)"""
