"""Schema resolution: what to do with each value of a writer's record.

`steps` is the result, `resolve` makes it from the schemas and the columns, `conversions` fits values without parts.
"""
