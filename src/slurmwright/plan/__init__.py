"""Compares two bundles and says what a change costs. (The room is laid; nothing lives here yet.)"""
