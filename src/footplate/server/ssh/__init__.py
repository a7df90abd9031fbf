"""The SSH gateway: into tasks with any SSH client, also where their image has no SSH server."""
