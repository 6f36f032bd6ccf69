"""Files and captured outputs of a cluster to findings: one small file for each fault, under `rules/faults`.

The text in a rule is the only copy: `explain`, the pages under docs/rules and every report come from it.
How a rule looks is told in docs/how-to/write-a-rule.md.
"""
