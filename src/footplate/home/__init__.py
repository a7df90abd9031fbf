"""The layout of a server's home folder."""
