"""How clients log in to the brokers, and what these settings may do.

`java_login` and `java_stores` translate the logins, certificates and keys of Java's clients, `msk_iam` Amazon's login;
`token_provider` gets OAuth's tokens from a function of Python. `code_options` lists the settings that run code.
"""
