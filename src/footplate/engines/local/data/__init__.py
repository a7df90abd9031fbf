"""Data of buckets and web servers: brought to this machine for tasks, and kept for the next job."""
