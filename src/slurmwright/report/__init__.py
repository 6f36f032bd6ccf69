"""Turns values into text, JSON and tables; knows documents, not the rooms that made them."""
