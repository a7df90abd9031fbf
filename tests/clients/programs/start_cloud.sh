num_nodes=${NODE_NUM}
node_index=${INDEX}
num_gpus=${GPU_NUM_PER_NODE}
maddr=${CHIEF_IP}
python3 -m torch.distributed.launch --nnode=${num_nodes} --node_rank=${node_index} --nproc_per_node=${num_gpus} --master_addr=${maddr} --master_port=23457 main.py \
        /opt/ml/input/data/image_classify -a resnet50 --batch-size 128 --lr 0.01 --pretrained --local_world_size=${num_gpus}
