"""Cluster and facts to a Bundle: pure, byte-stable, and only with options that the release knows."""

from slurmwright.render.bundle import render, render_notes

__all__ = ["render", "render_notes"]
