"""What happens to a job, as its event log tells it."""

TABLE = {
    "submitted_to": "已提交到队列 {queue}",
    "task_started": "子任务 {task} 开始运行",
    "task_retried": "子任务 {task} 重新启动：第 {run} 次重试，最多 {most} 次[，不早于 {not_before:time}]",
    "edited": "修改了{fields:field}",
    "deleted_for_good_by": "由 {by} 彻底删除",
    "trashed_by": "由 {by} 移到回收站",
    "trash_over": "彻底删除：在回收站中的保留期已过",
    "restored_by": "由 {by} 从回收站恢复",
    "released_by": "保留的环境由 {by} 释放",
    "keep_over": "保留的环境已释放：保留期已过",
    "progress_again": "恢复进展",
    "job_removed": "任务 {name} 已删除，释放 {freed_bytes:size} 文件",
    "start_delayed": "{why}；引擎响应后立即启动子任务",
    "end_delayed": "{why}；正在重试。在此之前任务仍占用资源",
}
