"""Accounts, tokens, rights and invitations."""

TABLE = {
    "no_valid_token": "没有有效的令牌：请用 `footplate login` 登录，或设置 FOOTPLATE_TOKEN",
    "invitation_worthless": "此邀请已使用、已过期或不存在：请向管理员索取新的邀请",
    "last_admin": "这是最后一个启用的管理员：请先让另一个用户成为管理员",
    "token_expired": "令牌 {token:quoted} 已过期：请用 `footplate login` 重新登录",
    "account_disabled": "账户 {user} 已停用：请联系平台管理员",
    "job_token_over": "任务 {job} 的令牌已随第 {attempt} 次尝试失效",
    "account_gone": "账户 {user} 已停用或已删除",
    "wrong_password": "{user:quoted} 的用户名或密码错误",
    "token_unknown": "您没有令牌 {token}",
    "not_current_password": "不是您当前的密码",
    "user_unknown": "没有用户 {user}",
    "user_exists": "已有用户 {user}",
    "user_exists_invite": "已有用户 {user}；`footplate users edit {user} --password` 可设置新密码",
    "nobody_invited": "没有给 {user} 的邀请",
    "too_many_logins": "当前登录的人过多：请稍后重试",
    "too_many_failed_logins": "登录失败次数过多：请在 {seconds} 秒后重试",
    "not_for_jobs": "任务不能{act:act}：请以您自己的身份操作",
    "only_for_admins": "只有平台管理员可以{act:act}；您是 {user}",
}
