import type { Language } from '@/i18n/translated';

/** What settings mean; in English the reference has the words, and the server sends them. */
const ZH: Record<string, string> = {
  host: '监听地址（默认仅本机）。',
  port: '监听端口；0 表示任选一个空闲端口。',
  public_url: '用户和任务访问服务器所用的网址。',
  tls_cert: '证书链文件（PEM）；设置后以 HTTPS 提供服务。',
  tls_key: '证书的私钥文件（PEM，不带口令）。',
  log_cap: '每个子任务日志的最大大小。',
  trash_kept: '删除的任务可恢复多久（默认一天）。',
  idle_limit: '交互式任务空闲多久后停止（默认不限）。',
  shell_idle: '子任务终端多久无人输入后结束（默认 8h）。',
  services_port:
    '浏览器打开任务服务所用的端口；0 表示任选一个空闲端口（默认为 `port` 的下一个，或任一空闲端口）。',
  services_url:
    '用户经代理访问该端口所用的网址；主机或端口须与 `public_url` 不同。主机名中的 `*` 使每个服务有自己的主机名。',
  ssh_port:
    '进入子任务的 SSH 网关端口；0 表示任选一个空闲端口（默认为 `port` 之后第二个端口，或空闲端口；用户从其他机器访问服务器时没有网关）。',
  ssh_host: 'SSH 网关的监听地址（默认仅本机）。',
  retry_pause: '平台故障后第二次重试前的暂停；之后每次加倍。0 表示不暂停。',
  retry_pause_most: '重试前暂停的最长时间。',
  storage_timeout: '存储的超时时间；超时后需要该存储的任务重新排队（默认 30s）。',
  access_log: '是否记录每个请求。',
  limits: '是否强制执行资源限制。',
  container_socket: 'Docker 或 Podman 的套接字（默认在常见位置查找）。',
  container_network: '容器的网络：host 为本机网络，或容器引擎的某个网络，此时子任务的端口发布在节点地址上。',
  container_user: '容器内的用户和组（默认与服务器相同）。',
  task_uids: '服务器以 root 运行时：子任务使用的首个主机账户编号，每人 65,536 个；默认 2013265920。',
  host_accounts: '服务器以 root 运行时：按用户名指定其子任务使用的本机账户；* 表示所有有同名账户的用户。',
  trusted_proxies:
    '受信任代理的地址，例如 127.0.0.1 或 10.0.0.0/8，由其 X-Forwarded-For 说明来访者；默认没有。',
  disk_least: '主目录所在磁盘须为新任务和上传保留的空间（小磁盘为二十分之一）；不足时以 507 拒绝。',
  disk_reserve: '磁盘写满时为停止、删除和登录预留的空间（小磁盘为二十分之一）。',
  job_quota: '一个任务的文件最多占用的磁盘；超出时任务被停止。默认不限。',
  person_quota: '一个用户所有任务的文件最多占用的磁盘；超出后不能再提交。默认不限。',
  retention: '任务留下的内容保留多久；队列可另行规定（`footplate queues edit --keep`）。',
  prices: '任务用量的每小时价格；不设置时只显示小时数。',
  environments: '为任务构建的 Python 环境。',
  clouds: '其他云平台的客户端（如 tikit）看到的地域、价格和上限。',
  data: '任务所用的存储桶和网页服务器数据在本机的副本。',
  connections: '登录前的连接限制。',
  node: '本机作为节点。',
  storages: '任务可按名称使用的本机目录。',
  git_sources: '任务可作为代码来源的 git 仓库地址的开头；[] 表示不允许（默认 https://）。',
  storage_roots: '管理员可在其下添加存储的本机目录；[] 表示不允许（默认 /data、/media、/mnt、/nfs、/srv）。',
};

export const meaningOf = (name: string, help: string, language: Language): string =>
  (language === 'zh' ? ZH[name] : undefined) ?? help;
