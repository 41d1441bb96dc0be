"""Spark's analysed plan: `plan_walk` asks it questions; the checks refuse plans in which Spark would lose rows."""
