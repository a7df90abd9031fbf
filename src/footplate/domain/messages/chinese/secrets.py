"""Secrets."""

TABLE = {
    "queue_has_no_secret": "队列 {queue} 没有密钥 {secret:quoted}",
    "you_have_no_secret": "您没有密钥 {secret:quoted}",
    "secret_unknown": "没有密钥 {secret}",
    "secret_not_usable_by": "没有 {owner} 的任务可在队列 {queue} 中使用的密钥 {secret}：请用 `footplate secrets set {secret}` 添加，然后重新提交任务",
    "secret_sealed": "无法打开密钥 {secret}：{why}；请用 `{command}` 重新设置",
    "secrets_for_admins": "只有队列 {queue} 的管理员可以设置或删除其密钥；您是 {user}",
    "too_many_secrets": "已有 {most} 个密钥，达到上限：请删除一些",
    "sealed_with_other_key": "它是用另一个密钥加密的，或在数据库中被更改",
    "secret_not_usable": "没有您可在队列 {queue} 中使用的密钥 {secret}：请用 `footplate secrets set {secret}` 或在“密钥”页添加",
    "secret_of_kind": "密钥 {secret} 的类型是 {given}，不是 {wanted}",
    "not_of_secret_kind": "不适用于类型 {kind}",
}
