"""The command `footplate`: parse, call the SDK, render."""
