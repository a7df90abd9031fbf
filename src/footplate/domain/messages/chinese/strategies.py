"""What can be wrong with a job that names a strategy."""

TABLE = {
    "tensorflow_without_worker": "启动方式 tensorflow 需要名为 chief 或 worker 的角色（可用：{names:comma}）",
    "tensorflow_two_chiefs": "启动方式 tensorflow 只能有角色 chief 或 master 之一",
    "tensorflow_one_task": "必须是 1，不能是 {given}：TensorFlow 只有一个 {role}",
    "one_launcher": "必须是 1，不能是 {given}：由一个子任务启动其余",
    "launcher_alone": "除 `launcher` 外请再加一个角色，由其子任务运行各个进程",
    "last_line_not_python": "最后一行必须以 python 开头，才能由 `python -m {module}` 启动；或自行调用 torchrun",
    "strategy_broken": "启动方式 {strategy} 不能使用：其插件无法加载：{error}",
    "strategy_unknown": "没有启动方式 {strategy}；已有：{known:comma}",
    "strategy_failed_to_check": "启动方式 {strategy} 检查此任务时出错：{error}",
    "strategy_failed": "启动方式 {strategy} 出错：{error}",
    "strategy_gone": "启动方式 {strategy} 已不再安装",
}
