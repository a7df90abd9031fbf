"""What can be wrong with a job that names a strategy."""

TABLE = {
    "tensorflow_without_worker": "strategy tensorflow needs a role named chief or worker; it knows {names:comma}",
    "tensorflow_two_chiefs": "strategy tensorflow takes a role chief or a role master, not both",
    "tensorflow_one_task": "must be 1, not {given}: TensorFlow has one {role}",
    "one_launcher": "must be 1, not {given}: one task launches the others",
    "launcher_alone": "add a second role besides `launcher`; its tasks run the ranks",
    "last_line_not_python": "the last line must begin with python, so that `python -m {module}` can start it; or call torchrun yourself",
    "strategy_broken": "strategy {strategy} cannot be used: its plug-in does not load: {error}",
    "strategy_unknown": "there is no strategy {strategy}; known: {known:comma}",
    "strategy_failed_to_check": "strategy {strategy} failed to check this job: {error}",
    "strategy_failed": "strategy {strategy} failed: {error}",
    "strategy_gone": "strategy {strategy} is no longer installed",
}
