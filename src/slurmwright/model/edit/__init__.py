"""cluster.yaml and a wish about its nodes to the text of the new cluster.yaml; nothing here writes a file."""

from slurmwright.model.edit.add import add
from slurmwright.model.edit.change import change
from slurmwright.model.edit.remove import remove
from slurmwright.model.edit.replace import replace
from slurmwright.model.edit.words import Edited

__all__ = ["Edited", "add", "change", "remove", "replace"]
