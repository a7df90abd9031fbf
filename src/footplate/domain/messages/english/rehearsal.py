"""Jobs that are run on this machine without a server, and what would differ on the platform."""

TABLE = {
    "more_nodes_than_tasks": "{n_nodes:node|nodes} for {n_tasks:task|tasks}: ask for no more nodes than tasks, or for more tasks with --count",
    "no_ports_here": "this machine has too few free ports for the job",
    "rehearse_foreign": "{file} is a job file of another system: convert it first, with `footplate convert {file}`",
    "rehearsed_without_limits": "limits of CPU, memory, shared memory and processes are not enforced here; tasks see all files of this machine and your home folder",
    "rehearsed_without_gpus": "the job asks for {asked:GPU|GPUs} in all and this machine has {here}: tasks get none",
    "rehearsed_without_types": "instance types are known to the server only ({types:comma}): tasks get the default size",
    "rehearsed_without_framework": "the framework {framework} is known to the server only: its image, packages and strategy are left out",
    "rehearsed_without_image": "tasks run on this machine and not in {images:comma}",
    "rehearsed_without_packages": "no packages are installed: tasks have the Python of this shell",
    "rehearsed_without_code": "code from {source} is not fetched: tasks start in an empty folder",
    "rehearsed_without_data": "nothing is mounted: tasks find at {paths:comma} what this machine has there",
    "rehearsed_without_results": "results stay in a folder of this machine and are not saved to {storage}",
    "rehearsed_without_model": "no model {model} is registered",
    "rehearsed_secrets_here": "secrets are not read from the server: {variables:comma} comes from this shell",
    "rehearsed_secrets_missing": "secrets are not read from the server, and this shell has no {variables:comma}",
    "rehearsed_without_services": "no services are started: {services:comma}",
    "rehearsed_without_hang": "hangs and idle tasks are not detected",
    "rehearsed_without_alerts": "no alerts are sent",
    "rehearsed_without_keeping": "failed tasks are not kept",
}
