"""What a node enforces, and why not."""

TABLE = {
    "limits_off": "未强制{limits:limit}：{why}",
}
