"""Windows in a query: their arguments, OVER windows, the first rows of a window, rounding of times."""
