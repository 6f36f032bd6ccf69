"""The grammar of Slurm's key=value files, ours or anyone's: read without loss, edited in place.

`parse` never fails and `Document.text` is the input; only what an edit names changes. One grammar serves
slurm.conf, gres.conf, cgroup.conf, topology.conf, slurmdbd.conf, acct_gather.conf, job_container.conf,
helpers.conf, mpi.conf and oci.conf, the same in every release from 22.05 to 26.05 (Slurm's
src/common/parse_config.c). plugstack.conf and the YAML files have their own grammars and are not read here.

Several changes at once go through `Document.apply` with the functions of `conf.changes`.
"""

from slurmwright.conf.defaults import EffectiveLine, effective_lines, with_defaults
from slurmwright.conf.document import Document, parse
from slurmwright.conf.tree import IncludeFault, Line, Record, Setting, Tree, read_tree
from slurmwright.conf.values import RECORD_KEYS, Edit, Include, Pair, Statement

__all__ = [
    "RECORD_KEYS",
    "Document",
    "Edit",
    "EffectiveLine",
    "Include",
    "IncludeFault",
    "Line",
    "Pair",
    "Record",
    "Setting",
    "Statement",
    "Tree",
    "effective_lines",
    "parse",
    "read_tree",
    "with_defaults",
]
