"""AC: accounting, preemption, and settings that are fatal together."""
