"""The interface of a format, its options, and the policy for bad records."""
