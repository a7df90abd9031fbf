"""Queues and nodes."""

TABLE = {
    "queue_not_visible": "没有您可查看的队列 {queue:quoted}",
    "default_queue_stays": "默认队列不能删除：未指明队列的任务使用它",
    "no_role_in_queue": "{user} 在队列 {queue} 中没有角色",
    "members_for_admins": "只有队列 {queue} 的管理员可以查看或修改其成员；您是 {user}",
    "node_unknown": "没有节点 {node:quoted}",
    "card_unknown": "节点 {node} 没有卡 {card}",
    "engine_unknown": "此服务器没有引擎 {engine:quoted}；已有：{known:comma}",
    "queue_exists": "已有队列 {queue}",
    "queue_has_jobs": "队列 {queue} 中还有任务：请先删除它们，或改为关闭队列",
    "share_above_maximum": "份额 {share:figure}，但上限为 {maximum:figure}",
    "queue_nodes_unknown": "目前没有这样的节点：{nodes:comma}；已知节点：{known:comma}。节点出现之后，队列的任务才能使用它",
    "share_above_nodes": "份额 {share:amounts} 超过了它的节点所拥有的 {most:figure}",
    "shares_above_nodes": "所有队列的份额合计 {share:amounts}，超过了全部节点所拥有的 {most:figure}",
    "queue_closed": "队列 {queue} 已关闭，不接受新任务",
    "queue_unknown": "没有队列 {queue}",
    "queue_not_usable": "没有您可用的队列 {queue}；您的队列：{known:comma}",
    "no_queues": "没有您可用的队列 {queue}，您也还没有任何队列：请联系平台管理员",
    "viewer_no_submit": "您在队列 {queue} 中是查看者，不能提交任务",
}
