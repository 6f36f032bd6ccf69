"""Slurm's files to what they mean to the daemons, so that two folders can be held against each other.

Order of lines, DEFAULT lines, includes, ranges, upper and lower case, and defaults written out make no
difference here; everything that a daemon would see differently does.
"""

from slurmwright.conf.meaning.differences import Difference, differences, same
from slurmwright.conf.meaning.said import Meaning, Said
from slurmwright.conf.meaning.whole import meaning_of

__all__ = ["Difference", "Meaning", "Said", "differences", "meaning_of", "same"]
