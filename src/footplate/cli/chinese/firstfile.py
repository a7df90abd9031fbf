"""The first job file."""

from footplate.cli.firstfile import TEMPLATE

FIRST_FILE = {
    TEMPLATE: """\
# 一个 Footplate 任务。只有 name 和 command 是必填的。以 # 开头的行是示例：
# 去掉 # 即可使用。各字段的说明见 docs/reference/job-file.md。
name: {name}
command: {command}

# 每个子任务的资源。任务会等到这些资源空闲。
cpus: {cpus}
memory: {memory}
{gpus}
# gpu_type: H100           # 不写则任意型号

# 要上传的代码：本文件夹，不含 .gitignore 和 .footplateignore 列出的内容。
{code}

# Python 软件包：代码中的文件，或 [numpy, torch] 这样的列表。只安装一次。
{environment}

# 在命令中以 ${{{{ parameters.epochs }}}} 使用的值；`footplate submit -p epochs=10` 可修改其中之一。
# parameters: {{epochs: 5}}
# env: {{OMP_NUM_THREADS: "1"}}

# 分布式训练：用几个同时启动的子任务代替上面的命令。
# 每个子任务的环境变量中有 RANK、WORLD_SIZE、MASTER_ADDR 和 MASTER_PORT。
# roles:
#   - name: worker
#     count: 2
#     cpus: 1
#     memory: 1GB
#     command: python train.py --epochs ${{{{ parameters.epochs }}}}

# queue: default
# priority: 0              # 数字大的任务先启动
# image: python:3.12       # 容器镜像；不写则使用本机的程序
# retry: 1                 # 失败后重新启动的次数
# time_limit: 1h           # 超过此时间即停止
# tags: [first-steps]
""",
}
