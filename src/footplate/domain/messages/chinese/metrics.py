"""与指标有关的拒绝。"""

TABLE = {
    "memory_unused": "申请了 {asked_bytes:size} 内存，最多只用了 {used_bytes:size}。",
    "cpus_unused": "申请了 {asked} 个 CPU，最多只用了 {used} 个。",
    "gpus_idle": "该子任务的 GPU 平均使用率为 {percent} %。",
    "no_experiment": "没有实验{experiment:quoted}",
    "experiment_taken": "已有实验{experiment:quoted}",
    "no_run": "没有您可以查看的运行{run:quoted}",
    "runs_in_jobs_only": "运行只能在任务中开始：任务内已设置 MLFLOW_TRACKING_URI。在其他地方可以读取和搜索",
    "param_set_already": "{name:quoted} 已有不同的值，参数不能更改",
    "param_too_long": "总长度过长：最多 {most_bytes:size}",
    "not_run_filter": "{given:quoted} 不是有效的运行筛选或排序条件，例如 metrics.loss < 0.5",
    "too_many_points": "包含 {given} 个值；一次最多接受 {most} 个：请分批发送",
    "too_many_metric_names": "指标名称过多：每个子任务最多保留 {most} 个",
    "metrics_full": "该任务已没有空间存放更多数据点：每个任务最多保留 {most_bytes:size}。请降低记录频率",
    "not_metric_entry": "必须包含 `values`，即名称到数值的映射",
    "not_metric_time": "必须是 1970 年以来的秒数",
    "not_metric_name": "{given:quoted} 不能用作这里的名称：名称为 1 到 {most} 个可打印字符",
    "not_metric_source": "必须是最多 {most} 个可打印字符的文本",
    "not_metric_cursor": "不是指标流的游标",
}
