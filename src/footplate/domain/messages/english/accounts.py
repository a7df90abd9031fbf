"""Accounts, tokens, rights and invitations."""

TABLE = {
    "no_valid_token": "no valid token: sign in with `footplate login`, or set FOOTPLATE_TOKEN",
    "invitation_worthless": "this invitation was used, has expired or does not exist: ask an admin for a new one",
    "last_admin": "this is the last enabled admin: make another user admin first",
    "token_expired": "token {token:quoted} has expired: sign in again with `footplate login`",
    "account_disabled": "account {user} is disabled: ask a platform admin",
    "job_token_over": "the token of job {job} ended with attempt {attempt}",
    "account_gone": "account {user} is disabled or deleted",
    "wrong_password": "wrong name or password for {user:quoted}",
    "token_unknown": "you have no token {token}",
    "not_current_password": "is not your current password",
    "user_unknown": "there is no user {user}",
    "user_exists": "there is already a user {user}",
    "user_exists_invite": "there is already a user {user}; `footplate users edit {user} --password` sets a new password",
    "nobody_invited": "there is no invitation for {user}",
    "too_many_logins": "too many people are signing in just now: try again in a moment",
    "too_many_failed_logins": "too many failed logins: try again in {seconds:second|seconds}",
    "not_for_jobs": "a job may not {act:act}: do it as yourself",
    "only_for_admins": "only a platform admin may {act:act}; you are {user}",
}
