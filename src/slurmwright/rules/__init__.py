"""One fault per file: id, severity, why, fix, check. (The room is laid; nothing lives here yet.)"""
