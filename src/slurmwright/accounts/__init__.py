"""Accounts, users, QoS and limits as code. (The room is laid; nothing lives here yet.)"""
