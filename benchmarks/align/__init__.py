"""`make bench-align`: what alignment costs and what it saves."""
