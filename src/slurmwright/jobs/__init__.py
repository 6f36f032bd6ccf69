"""Job recipes for this very cluster. (The room is laid; nothing lives here yet.)"""
