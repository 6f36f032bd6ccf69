"""Two bundles to a plan: what changed by meaning, what each daemon must do for it, and in which order."""

from slurmwright.plan.compare import compare
from slurmwright.plan.document import FORMAT, digest, plan_json, read_plan
from slurmwright.plan.values import Change, Effects, Plan, Step

__all__ = ["FORMAT", "Change", "Effects", "Plan", "Step", "compare", "digest", "plan_json", "read_plan"]
