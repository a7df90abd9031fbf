"""What a node enforces, and why not."""

TABLE = {
    "limits_off": "{limits:limit} not enforced: {why}",
}
