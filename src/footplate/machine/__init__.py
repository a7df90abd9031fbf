"""What touches files and processes of the machine, below all other packages: standard library only."""
