"""NCCL commands over topology judge and environment rules. (The room is laid; nothing lives here yet.)"""
