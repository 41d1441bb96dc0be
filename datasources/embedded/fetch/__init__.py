"""Fetching servers once, through pip's and Ivy's ordinary clients, with pinned digests, into a cache of directories."""
