"""A folder for PYTHONPATH: programs that Python starts with it speak to Footplate instead of to a cloud."""
