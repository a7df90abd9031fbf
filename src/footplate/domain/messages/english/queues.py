"""Queues and nodes."""

TABLE = {
    "queue_not_visible": "there is no queue {queue:quoted} that you may see",
    "default_queue_stays": "the default queue cannot be deleted: jobs without a queue use it",
    "no_role_in_queue": "{user} has no role in queue {queue}",
    "members_for_admins": "only an admin of queue {queue} may see or change its members; you are {user}",
    "node_unknown": "there is no node {node:quoted}",
    "card_unknown": "node {node} has no card {card}",
    "engine_unknown": "there is no engine {engine:quoted} on this server; known: {known:comma}",
    "queue_exists": "there is already a queue {queue}",
    "queue_has_jobs": "queue {queue} still has jobs: delete them first, or close the queue instead",
    "share_above_maximum": "share {share:figure} is more than the maximum {maximum:figure}",
    "queue_nodes_unknown": "no such node now: {nodes:comma}; known: {known:comma}. Jobs of the queue can use it once it is there",
    "share_above_nodes": "its share of {share:amounts} is more than the {most:figure} that its nodes have",
    "shares_above_nodes": "the shares of all queues add up to {share:amounts}, which is more than the {most:figure} of all nodes",
    "queue_closed": "queue {queue} is closed for new jobs",
    "queue_unknown": "there is no queue {queue}",
    "queue_not_usable": "there is no queue {queue} that you may use; yours: {known:comma}",
    "no_queues": "there is no queue {queue} that you may use, and you have none: ask a platform admin",
    "viewer_no_submit": "you may look at queue {queue} but not submit to it: your role there is viewer",
}
