"""What a node enforces, and why not."""

TABLE = {
    "limits_turned_off": "服务器设置关闭了资源限制",
    "no_control_groups": "内核没有[ {controller} 的]控制组",
    "groups_unwritable": "无法写入控制组（{error}）",
    "groups_not_delegated": "无法写入控制组[（{error}）]：请以带 Delegate=yes 的 systemd 服务运行服务器",
    "memory_by_process": "{why}；内存限制改为对子任务的每个进程生效",
    "cards_only_masked": "仅用 CUDA_VISIBLE_DEVICES 隐藏 GPU",
    "no_call_filter": "没有适用于此类机器的系统调用过滤器",
    "no_mount_namespace": "内核不允许此服务器使用挂载命名空间（{error}）",
    "no_pid_namespace": "子任务能看到彼此和服务器并向其发送信号：内核不允许使用 PID 命名空间（{error}）",
    "no_account_namespace": "所有子任务以 root 运行：内核不允许使用带独立账户的用户命名空间（{error}）",
    "one_account": "所有子任务以服务器自己的账户运行：以 root 启动服务器可让每人使用各自的账户",
    "limits_off": "未强制{limits:limit}：{why}",
}
