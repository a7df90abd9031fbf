"""What a node enforces, and why not."""

TABLE = {
    "limits_turned_off": "limits are turned off in the server's settings",
    "no_control_groups": "the kernel has no control groups[ for {controller}]",
    "groups_unwritable": "control groups cannot be written ({error})",
    "groups_not_delegated": "control groups cannot be written[ ({error})]: run the server as a systemd service with Delegate=yes",
    "memory_by_process": "{why}; the memory limit holds for each process of a task instead",
    "cards_only_masked": "GPUs are only hidden by CUDA_VISIBLE_DEVICES",
    "no_call_filter": "there is no system-call filter for this kind of machine",
    "no_mount_namespace": "the kernel gives this server no mount namespace ({error})",
    "no_pid_namespace": "tasks can see and signal each other and the server: the kernel gives no PID namespace ({error})",
    "no_account_namespace": "all tasks run as root: the kernel gives no user namespace with its own accounts ({error})",
    "one_account": "all tasks run as the server's own account: start the server as root to give each person their own",
    "limits_off": "{limits:limit} not enforced: {why}",
}
