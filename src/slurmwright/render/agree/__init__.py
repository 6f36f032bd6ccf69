"""A bundle to the places where its files contradict each other; rendered, edited and live ones alike."""

from slurmwright.render.agree.disagreements import disagreements
from slurmwright.render.agree.view import Disagreement

__all__ = ["Disagreement", "disagreements"]
