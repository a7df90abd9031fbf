"""Tasks as processes: how they are started, entered, stopped and cleaned up."""
