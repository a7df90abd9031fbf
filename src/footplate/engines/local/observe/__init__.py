"""What can be seen of a task from outside: records, ends, use, stacks."""
