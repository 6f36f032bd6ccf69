"""Proves the promise on a running cluster. (The room is laid; nothing lives here yet.)"""
