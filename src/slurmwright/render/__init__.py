"""Cluster and facts to a Bundle: pure, byte-stable, and only with options that the release knows."""

from slurmwright.render.bundle import render, render_notes
from slurmwright.render.check import bundle_notes

__all__ = ["bundle_notes", "render", "render_notes"]
