"""Temporal joins: plans what the join needs of each table and the load gates, and joins the loaded tables."""
