"""Joins evidence from a living cluster into few causes. (The room is laid; nothing lives here yet.)"""
