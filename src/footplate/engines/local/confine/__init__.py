"""What holds a task to its limits and apart from others: groups, namespaces, mounts, filters."""
