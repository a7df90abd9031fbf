"""Refusals that are about metrics."""

TABLE = {
    "memory_unused": "You asked for {asked_bytes:size} of memory and used {used_bytes:size} at most.",
    "cpus_unused": "You asked for {asked} CPUs and used {used} at most.",
    "gpus_idle": "The GPUs of the task were {percent} % busy on average.",
    "no_experiment": "there is no experiment {experiment:quoted}",
    "experiment_taken": "there is already an experiment {experiment:quoted}",
    "no_run": "there is no run {run:quoted} that you may see",
    "runs_in_jobs_only": "runs are begun in jobs: there MLFLOW_TRACKING_URI is set. Elsewhere you can read and search them",
    "param_set_already": "{name:quoted} has another value already, and params do not change",
    "param_too_long": "are too long together: at most {most_bytes:size}",
    "not_run_filter": "{given:quoted} is not a filter or order for runs, such as metrics.loss < 0.5",
    "too_many_points": "has {given} values; at most {most} are accepted at once: send several batches",
    "too_many_metric_names": "name more metrics than are kept for one task: at most {most}",
    "metrics_full": "the job has no room for more points: at most {most_bytes:size} are kept per job. Log less often",
    "not_metric_entry": "must have `values`, a mapping of names to numbers",
    "not_metric_time": "must be a time in seconds since 1970",
    "not_metric_name": "{given:quoted} cannot be a name here: names have 1 to {most} printable characters",
    "not_metric_source": "must be a printable text of at most {most} characters",
    "not_metric_cursor": "is not a cursor of a metrics stream",
}
