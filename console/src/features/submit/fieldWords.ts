import type { Language } from '@/i18n/translated';
import type { Path } from './document';
import { SHORT_FIELDS } from './roles';

interface FieldWords {
  en: string;
  zh: string;
  /** What the schema's own sentence says in English. */
  zhHelp: string;
}

const field = (en: string, zh: string, zhHelp: string): FieldWords => ({ en, zh, zhHelp });

/** The label of each field of the schema, and its help in the languages that the schema does not speak. */
export const FIELD_WORDS: Record<string, FieldWords> = {
  name: field('Name', '名称', '任务名称，在您的任务中唯一。'),
  description: field('Description', '描述', '任务的用途。'),
  queue: field('Queue', '队列', '任务在其中等待的队列。'),
  priority: field('Priority', '优先级', '数值越大越先启动。'),
  shared: field('Shared', '共享', '队列中的所有人是否可以查看其日志、配置和文件；不填则以队列的设置为准。'),
  image: field('Image', '镜像', '容器镜像；不填则使用本机自身的环境。'),
  image_credentials: field('Registry login', '镜像仓库凭据', '类型为 registry 的密钥，用于拉取私有镜像。'),
  framework: field(
    'Framework',
    '框架',
    '平台提供的框架，可带版本，例如 pytorch:2.4；任务未填写镜像、软件包和启动方式时由它填写。',
  ),
  strategy: field(
    'Strategy',
    '启动方式',
    '分布式训练的启动方式，例如 torchrun 或 mpi；不填则按命令本身执行。',
  ),
  code: field('Code', '代码', '子任务在工作目录中看到的代码。'),
  'code.upload': field('Upload', '上传', '已上传代码的摘要；拖放文件夹后自动填写。'),
  'code.storage': field('Storage', '存储', '存放代码的存储。'),
  'code.path': field('Folder', '文件夹', '代码在该存储上的文件夹。'),
  'code.read_only': field('Read only', '只读', '子任务是否只能读取代码。'),
  'code.git': field('Git repository', 'Git 仓库', '服务器在提交时获取代码的 git 仓库地址。'),
  'code.commit': field('Commit', '提交', '该仓库的提交、分支或标签；不填则为仓库的默认分支。'),
  'code.revision': field('Revision', '版本', '代码在 git 中的版本；由 footplate submit 填写。'),
  'code.revision.commit': field('Commit', '提交', '代码所在的提交。'),
  'code.revision.branch': field('Branch', '分支', '代码所在的分支。'),
  'code.revision.dirty': field('Uncommitted changes', '未提交的更改', '是否有未提交的更改。'),
  'code.revision.diff': field('Changes', '更改', '未提交的更改，过长时截断。'),
  environment: field(
    'Python packages',
    'Python 软件包',
    '每个子任务的 Python 软件包；只构建一次，由您的任务只读共享。',
  ),
  'environment.requirements': field(
    'Requirements',
    '依赖列表',
    '每行一项依赖，例如 numpy>=2；或代码中的一个文件，例如 requirements.txt。',
  ),
  'environment.pyproject': field(
    'Project file',
    '项目文件',
    '代码中的 pyproject.toml，安装其依赖；旁边有 uv.lock 时按锁定的版本安装。',
  ),
  'environment.conda': field(
    'Conda file',
    'Conda 文件',
    '代码中的 conda 文件；节点上需要有 micromamba 或 conda。',
  ),
  'environment.path': field('Existing environment', '已有环境', '子任务可见的已有环境的目录。'),
  'environment.python': field('Python version', 'Python 版本', '例如 3.12；不填则使用节点的版本。'),
  data: field('Data', '数据', '子任务可见的已存储数据。'),
  'data.path': field('Path', '路径', '子任务看到数据的位置；不填则为 /opt/ml/input/data/ 加来源的名称。'),
  'data.storage': field('Storage', '存储', '存放数据的存储；job 为任务自己的目录。'),
  'data.source': field(
    'Folder',
    '文件夹',
    '该存储上的文件或文件夹，或模式，例如 train/*.parquet；留空为整个存储。',
  ),
  'data.read_only': field('Read only', '只读', '子任务是否只能读取。'),
  results: field('Results', '结果', '保存子任务写入输出目录的内容。'),
  'results.storage': field('Storage', '存储', '保存结果的存储；不填则为 home。'),
  'results.path': field('Folder', '文件夹', '该存储上的文件夹，任务在其中有自己的文件夹；不填则为 outputs。'),
  'results.every': field('Save every', '保存间隔', '任务运行时多久保存一次；不填则只在一次尝试结束时保存。'),
  'results.checkpoints': field('Checkpoints too', '包括检查点', '是否也保存检查点。'),
  env: field('Environment variables', '环境变量', '每个子任务的环境变量。'),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: people write it so
  parameters: field('Parameters', '参数', '在命令和环境变量中以 ${{ parameters.NAME }} 引用的值。'),
  secrets: field('Secrets', '密钥', '由已保存的密钥填充的环境变量。'),
  roles: field('Roles', '角色', '由相同子任务组成的组。'),
  'roles.name': field('Role', '角色名', '角色名称，在任务中唯一。'),
  'roles.image': field('Image of this role', '该角色的镜像', '该角色使用的镜像；不填则用任务的镜像。'),
  'roles.env': field(
    'Variables of this role',
    '该角色的环境变量',
    '该角色的环境变量，与任务的环境变量合并。',
  ),
  services: field('Services', '服务', '运行期间可以进入的服务。'),
  'services.kind': field('Kind', '种类', '提供什么。'),
  'services.role': field('Role', '角色', '由哪个角色的子任务提供；不填则为第一个。'),
  'services.path': field('Folder', '文件夹', '展示的文件夹。'),
  alerts: field('Alerts', '告警', '什么事通知谁。'),
  'alerts.on': field('When', '事件', '发生了什么。'),
  'alerts.to': field(
    'Receivers',
    '接收人',
    '任务所有者或队列的渠道，或用户，按名称填写；不填则通知任务所有者。',
  ),
  'alerts.level': field('Level', '级别', '严重程度。'),
  'alerts.after': field('After', '经过时间', '用于 overtime 和 no_progress：多久之后。'),
  'alerts.at': field('At', '时刻', '用于 deadline：何时；不写时区时同任务的截止时间。'),
  'alerts.every': field(
    'Again every',
    '重复间隔',
    '持续的情况隔多久再次通知；重复发生的情况不会更频繁地通知。',
  ),
  'alerts.metric': field('Metric', '指标', '用于 metric：指标名称。'),
  'alerts.above': field('Above', '高于', '用于 metric：高于此值时通知。'),
  'alerts.below': field('Below', '低于', '用于 metric：低于此值时通知。'),
  retry: field('Retries', '重试次数', '失败后整个任务重试的次数。'),
  time_limit: field('Time limit', '时间上限', '一次尝试的最长运行时间。'),
  deadline: field('Deadline', '截止时间', '任务必须结束的时刻；不写时区则按您的时钟，通过 REST 则为 UTC。'),
  grace: field('Grace period', '宽限时间', '从礼貌停止到强制停止之间的时间。'),
  keep_on_failure: field('Keep after failure', '失败后保留', '失败子任务的环境保留多久可供进入。'),
  on_failure: field(
    'Rules for failures',
    '失败规则',
    '决定如何处理失败的规则，先匹配者先用；没有匹配时按默认处理。',
  ),
  'on_failure.action': field('Action', '动作', '怎么做。'),
  'on_failure.exit_codes': field('Exit codes', '退出码', '失败子任务的退出码。'),
  'on_failure.signals': field('Signals', '信号', '结束它的信号。'),
  'on_failure.causes': field('Causes', '原因', '背后的原因。'),
  'on_failure.log': field(
    'Words in the log',
    '日志中的文字',
    '其日志最后 64 KiB 中的文字，或写在两条斜线之间的 /正则表达式/。',
  ),
  'on_failure.times': field('At most', '最多次数', '除任务自身的重试外，该规则可重试的次数。'),
  model: field('Model to register', '注册的模型', '任务成功后注册的模型。'),
  'model.name': field('Model name', '模型名称', '模型的名称；每次成功增加一个版本。'),
  'model.path': field('Path', '路径', '作为模型的文件或文件夹；不填则为整个文件夹。'),
  'model.from': field('Folder of the job', '任务的文件夹', '该路径所在的任务文件夹。'),
  'model.framework': field('Framework', '框架', '模型的框架；不填则为任务的框架。'),
  'model.format': field('Format', '格式', '文件的格式，例如 SavedModel 或 ONNX。'),
  'model.environment': field('Inference environment', '推理环境', '目录中的推理环境。'),
  'model.description': field('Description', '描述', '该版本是什么。'),
  'model.tags': field('Tags', '标签', '该版本的标签。'),
  'model.aliases': field('Aliases', '别名', '移到该版本的别名。'),
  'model.shared': field('Shared', '共享', '所有人是否可以查看该模型；不填则保持不变。'),
  log_metrics: field(
    'Metrics in the log',
    '日志中的指标',
    '匹配日志行的正则表达式：命名组为指标，step 和 epoch 为其位置。',
  ),
  hang: field('When it hangs', '停滞处理', '子任务没有进展时怎么做。'),
  'hang.after': field('After', '经过时间', '没有输出且 CPU 和 GPU 空闲的时间。'),
  'hang.action': field('Action', '动作', '只通知、重启整个任务，或停止它。'),
  'hang.tasks': field('Which tasks', '哪些子任务', '一个空闲子任务即可，还是须全部空闲。'),
  idle_limit: field('Idle limit', '空闲上限', '所有子任务空闲这么久后停止任务。'),
  tags: field('Tags', '标签', '用于查找任务的词。'),
  extras: field('Extras', '附加数据', '随任务保存的自由数据。'),
  command: field('Command', '命令', '每个子任务的 shell 命令；多行时在第一个失败处停止。'),
  count: field('Tasks', '子任务数', '子任务的数量。'),
  type: field('Instance type', '实例规格', '实例规格，规定每个子任务的 CPU、内存和 GPU。'),
  cpus: field('CPUs per task', '每个子任务的 CPU', '每个子任务的 CPU 数，可为小数。'),
  memory: field('Memory per task', '每个子任务的内存', '每个子任务的内存，带单位。'),
  shm: field('Shared memory', '共享内存', '每个子任务的共享内存。'),
  gpus: field('GPUs per task', '每个子任务的 GPU', '每个子任务的 GPU 数。'),
  gpu_type: field('GPU type', 'GPU 型号', 'GPU 型号；不填则任意。'),
  ports: field('Ports', '端口', '每个子任务得到的端口。'),
  'ports.label': field('Label', '标识', '子任务用来查找端口的名称。'),
  'ports.begin_at': field('First port', '起始端口', '第一个端口；0 表示由平台选择空闲端口。'),
  'ports.count': field('How many', '数量', '连续端口的数量。'),
  completion: field('Completion', '完成条件', '该角色何时决定任务的结果。'),
  'completion.min_failed': field(
    'Fails after',
    '失败条件',
    '该角色有这么多子任务失败时任务失败；null 表示失败不会结束任务。',
  ),
  'completion.min_succeeded': field(
    'Succeeds after',
    '成功条件',
    '该角色有这么多子任务成功时任务成功；null 表示全部完成时。',
  ),
  task_retry: field('Task retries', '子任务重试', '单个失败子任务自行重启的次数。'),
};

const OF_ROLES: ReadonlySet<string> = new Set(SHORT_FIELDS);

/** The name under which a path's field has its words; a role's fields go by those of the short form. */
export function wordKey(path: Path): string {
  const names = path.filter((part): part is string => typeof part === 'string');
  const inRole = names[0] === 'roles' && OF_ROLES.has(names[1] ?? '') ? names.slice(1) : names;
  return inRole.join('.');
}

export function labelOf(path: Path, language: Language): string {
  const words = FIELD_WORDS[wordKey(path)];
  return words?.[language] ?? String(path.at(-1) ?? '');
}

export function helpOf(path: Path, ofSchema: string, language: Language): string {
  return language === 'zh' ? (FIELD_WORDS[wordKey(path)]?.zhHelp ?? ofSchema) : ofSchema;
}

const ZH_CHOICES: Record<string, string> = {
  started: '开始',
  succeeded: '成功',
  failed: '失败',
  stopped: '停止',
  finished: '结束',
  deadline: '临近截止',
  overtime: '超时',
  no_progress: '没有进展',
  info: '信息',
  warning: '警告',
  minor: '次要',
  major: '重要',
  critical: '严重',
  notify: '只通知',
  restart: '重启',
  stop: '停止',
  retry: '重试',
  retry_elsewhere: '换节点重试',
  any: '任意一个',
  all: '全部',
  oom: '内存不足',
  lost: '丢失',
  hang: '停滞',
  shell: '终端',
  desktop: '桌面',
};

/** An option of a choice as people read it; the file keeps the plain word. */
export function choiceLabel(option: string, language: Language): string {
  if (language === 'zh') return ZH_CHOICES[option] ? `${ZH_CHOICES[option]} (${option})` : option;
  return option.replaceAll('_', ' ');
}
