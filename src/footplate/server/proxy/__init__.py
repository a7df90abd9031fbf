"""Services of jobs in a browser: an address of their own, and no way from there to the platform."""
