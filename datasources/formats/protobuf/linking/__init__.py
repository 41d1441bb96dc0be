"""From a message's descriptor and columns to what is done with each field.

`steps` is the result, `link` makes it, `conversions` fits values without parts.
"""
