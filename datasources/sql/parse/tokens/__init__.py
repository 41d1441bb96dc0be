"""Moving over the tokens of a statement: names, expressions kept as text, lists of options."""
