"""The home folder of a server: what lies where in it."""
