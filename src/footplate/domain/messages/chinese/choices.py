"""Instance types and frameworks."""

TABLE = {
    "beside_type": "不能与 type 同时设置：{type} 已经规定了它。请去掉其中一个",
    "no_types": "没有实例规格 {given:quoted}：此服务器没有提供任何规格。请改为设置 cpus、memory 和 gpus",
    "type_not_listed": "没有实例规格 {given:quoted}；可选的有 {known:comma}",
    "no_frameworks": "没有框架 {given:quoted}：此服务器没有提供任何框架。请改为设置 image、environment 或 strategy",
    "framework_not_listed": "没有框架 {given:quoted}；可选的有 {known:comma}",
    "strategy_not_offered": "{framework} 不提供启动方式 {given:quoted}；它提供 {known:comma}",
    "strategy_not_among": "必须是它的启动方式之一：{known:comma}",
    "framework_file": "{file} 是代码中的文件，而框架没有代码：请列出依赖包，或给出路径",
    "type_unknown": "没有实例规格 {type:quoted}",
    "framework_unknown": "没有框架 {framework:quoted}",
}
