"""Every environment variable that a task receives: the platform's own, the frameworks', the dialects'."""
