"""Notebooks and their samples."""

TABLE = {
    "sample_unknown": "没有示例 {sample:quoted}；已有：{known:comma}",
    "sample_first_steps": "入门：从笔记本提交任务，查看日志和结果",
    "sample_distributed": "分布式训练：两个 worker 平均梯度，训练时画出曲线",
    "sample_compare": "比较设置：用三种学习率做同一训练，并按损失排序",
}
