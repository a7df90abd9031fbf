"""What happens to a job, as its event log tells it."""

TABLE = {
    "submitted_to": "submitted to queue {queue}",
    "task_started": "task {task} is running",
    "task_retried": "task {task} is started again: retry {run} of {most}[, not before {not_before:time}]",
    "edited": "changed {fields:field}",
    "deleted_for_good_by": "deleted permanently by {by}",
    "trashed_by": "moved to the trash by {by}",
    "trash_over": "deleted permanently: its time in the trash is over",
    "restored_by": "restored from the trash by {by}",
    "released_by": "the kept environment was released by {by}",
    "keep_over": "the kept environment was released: its time is over",
    "progress_again": "making progress again",
    "job_removed": "job {name} was deleted; {freed_bytes:size} of files were removed",
    "start_delayed": "{why}; the tasks start as soon as the engine answers",
    "end_delayed": "{why}; retrying. The job keeps its resources until then",
}
