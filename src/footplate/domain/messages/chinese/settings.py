"""What can be wrong with the server's settings."""

TABLE = {
    "price_negative": "不能小于 0",
    "storage_name_reserved": "{storage} 保留给任务自己的目录：请换一个名称",
    "storage_path_relative": "必须是绝对路径，例如 /srv/datasets",
    "no_setting": "没有设置项 {setting:quoted}",
    "setting_not_live": "服务器运行时不能修改 {setting}：请在 settings.toml 中设置并重启服务器",
    "setting_said_elsewhere": "{setting} 在 settings.toml 中设置：请在那里修改并重启服务器",
    "setting_unknown": "不是设置项；已有：{known:comma}",
    "not_expected_but": "必须是 {wanted}，不能是 {given:quoted}",
    "tls_half": "缺失：证书和密钥必须成对",
    "not_network": "{given:quoted} 不是地址（例如 127.0.0.1）或网段（例如 10.0.0.0/8）",
    "storage_in_home": "{folder} 包含服务器的主目录 {home} 或位于其中：任务会看到平台的文件",
    "not_toml": "不是有效的 TOML：{error}",
}
