"""What runs beside a user's process, in its environment: standard library only, Python 3.8 or later."""
