"""Spark's analysed plan and session settings.

`plan_walk` reads the plan; the checks refuse plans and settings with which Spark would lose rows. `mark_attached` and
`keep_time_attribute` change a plan's sources and columns. `catalyst` builds nodes and expressions.
"""
