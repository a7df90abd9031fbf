"""Secrets."""

TABLE = {
    "queue_has_no_secret": "queue {queue} has no secret {secret:quoted}",
    "you_have_no_secret": "you have no secret {secret:quoted}",
    "secret_unknown": "there is no secret {secret}",
    "secret_not_usable_by": "there is no secret {secret} that jobs of {owner} in queue {queue} may use: add it with `footplate secrets set {secret}`, then submit the job again",
    "secret_sealed": "secret {secret} cannot be opened: {why}; set it again with `{command}`",
    "secrets_for_admins": "only an admin of queue {queue} may set or delete its secrets; you are {user}",
    "too_many_secrets": "there are already {most} secrets, the maximum: delete some",
    "sealed_with_other_key": "it was sealed with another key, or changed in the database",
    "secret_not_usable": "there is no secret {secret} that you may use in queue {queue}: add it with `footplate secrets set {secret}` or on the page Secrets",
    "secret_of_kind": "secret {secret} is of kind {given}, not {wanted}",
    "not_of_secret_kind": "does not go with kind {kind}",
}
