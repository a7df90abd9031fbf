"""What this machine has, and what its operator declares about it."""
