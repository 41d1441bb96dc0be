"""A server as a process of this machine that lives no longer than its owner: start, stop, ports, certificates."""
