"""Jobs that are run on this machine without a server, and what would differ on the platform."""

TABLE = {
    "more_nodes_than_tasks": "{n_tasks} 个子任务用不了 {n_nodes} 个节点：节点数不要超过子任务数，或用 --count 增加子任务",
    "no_ports_here": "本机没有足够的空闲端口供任务使用",
    "rehearse_foreign": "{file} 是其他系统的任务文件：请先用 `footplate convert {file}` 转换",
    "rehearsed_without_limits": "这里不强制 CPU、内存、共享内存和进程数的限制；子任务能看到本机的全部文件和您的主目录",
    "rehearsed_without_gpus": "任务共申请 {asked} 张 GPU，本机有 {here} 张：子任务不分配 GPU",
    "rehearsed_without_types": "机型只有服务器知道（{types:comma}）：子任务使用默认大小",
    "rehearsed_without_framework": "框架 {framework} 只有服务器知道：其镜像、软件包和启动方式都略去",
    "rehearsed_without_image": "子任务在本机上运行，而不是在 {images:comma} 中",
    "rehearsed_without_packages": "不安装软件包：子任务使用当前终端的 Python",
    "rehearsed_without_code": "不获取 {source} 的代码：子任务从空目录开始",
    "rehearsed_without_data": "不挂载数据：子任务在 {paths:comma} 看到的是本机的内容",
    "rehearsed_without_results": "结果留在本机目录中，不保存到 {storage}",
    "rehearsed_without_model": "不注册模型 {model}",
    "rehearsed_secrets_here": "不从服务器读取密钥：{variables:comma} 取自当前终端",
    "rehearsed_secrets_missing": "不从服务器读取密钥，当前终端也没有 {variables:comma}",
    "rehearsed_without_services": "不启动服务：{services:comma}",
    "rehearsed_without_hang": "不检测卡死和空闲的子任务",
    "rehearsed_without_alerts": "不发送任何通知",
    "rehearsed_without_keeping": "不保留失败的子任务",
}
