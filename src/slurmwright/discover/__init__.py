"""Turns command output of a host into facts. (The room is laid; nothing lives here yet.)"""
