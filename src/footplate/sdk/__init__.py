"""The Python client of Footplate."""
