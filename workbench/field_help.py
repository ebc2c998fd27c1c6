"""A sentence of help for each field of a config, shown next to it in the form and by `--help`."""

from __future__ import annotations

from collections.abc import Mapping

FIELD_HELP: Mapping[str, str] = {
    "name": "The name of the run in lists.",
    "strategy": "The tf.distribute strategy, which distributes the work.",
    "loop": "What drives training: Keras fit, or a loop written out in the script.",
    "data": "The data: a set of the catalogue, or your own as module:function or file.py:function. "
    "The function returns (train, test), each a pair (features, labels) of arrays or tables, or a "
    "tf.data.Dataset of single examples.",
    "model": "A model of the catalogue, or your own as module:function or file.py:function; the "
    "function returns a Keras model, compiled with its loss and optimizer. A train_step of its own "
    "takes the loss by compute_loss.",
    "step": "Your own train step for the custom loop, as module:function or file.py:function. "
    "It takes model, features and labels, updates the weights, and returns the examples' losses or "
    "their mean, followed by the outputs if accuracy is needed. Empty: the loop's own step.",
    "devices": "The devices to train on, such as GPU:0,GPU:1. Empty: every GPU, else the CPU.",
    "replicas": "Copies of the model that step together. Several on one device are virtual.",
    "workers": "Processes that train, each with its own replicas.",
    "parameter_servers": "Processes that hold the variables.",
    "evaluator": "Test the checkpoints in a separate process during training.",
    "tpu": "local: the TPU of this machine. Else the name of a Cloud TPU.",
    "cross_device_ops": "How gradients are summed across replicas.",
    "communication": "How workers sum gradients.",
    "bytes_per_pack": "Bytes of a pack in which gradients are sent. 0: TensorFlow decides.",
    "gpu_memory": "growth: take memory as needed; all: all at the start; a number: MiB a replica.",
    "per_replica_batch_size": "Examples that each replica takes in a step.",
    "global_batch_size": "Examples of all replicas in a step: per-replica size times replicas.",
    "last_batch": "What to do with an epoch's last examples that do not fill a global batch. Only "
    "repeat allows a batch that is larger than the data and so holds some examples twice.",
    "pipeline": "How batches reach the replicas; usual and indexed give the same batches.",
    "auto_shard": "How training data is split among workers (every pipeline except indexed).",
    "data_files": "The number of TFRecord files for the training data, in your cache folder: "
    "192 MB in total for Fashion-MNIST.",
    "epochs": "Passes through the training data; a test pass and a checkpoint follow each.",
    "steps_per_epoch": "Steps in an epoch. Empty: all data once; more steps repeat the data. "
    "No batch may be larger than the data, unless last_batch is repeat.",
    "optimizer": "How gradients become updates. Empty: adam, or the optimizer that your own model "
    "is compiled with.",
    "learning_rate": "Size of the updates, before scaling.",
    "learning_rate_scaling": "How the learning rate grows with the replicas.",
    "clip_norm": "Largest norm of the gradient summed over replicas, in the custom loop. "
    "Empty: no limit.",
    "precision": "The type of the numbers in computations.",
    "xla": "Compile each replica's step with XLA; the sum over the replicas and the update stay "
    "outside. It often helps on GPUs, less often on CPUs. The first step takes longer.",
    "steps_per_call": "Steps in one graph call. Empty: found during training; 1 helps debugging; "
    "epoch: a complete epoch in one graph, which records and stops only at its end.",
    "eager": "Run without graphs, to debug: slow, but print and breakpoints work.",
    "deterministic": "Use only operations that give the same numbers each time, so that the same "
    "seed gives the same losses on GPUs too. Slower, and some operations have no such variant.",
    "seed": "Decides data, first weights and order. On CPUs the same seed gives the same losses; "
    "on GPUs some operations round differently each time, unless deterministic is on.",
    "data_dir": "A folder with the data's files. Empty: the usual folders, then a download.",
    "synthetic_examples": "Examples to train on; a fifth as many are made to test on.",
    "synthetic_features": "Numbers in each example.",
    "synthetic_noise": "Standard deviation of the noise in the rule for the labels.",
    "rendezvous_seconds": "How long tasks may take to find each other. Empty: 180.",
    "interpreter": "The Python that trains. Empty: this one.",
    "start_now": "Start although another run holds the device, instead of waiting for it.",
    "start": "How processes start: automatic forks them from a process that has loaded TensorFlow, "
    "if that is safe and faster; with cold, each process loads TensorFlow itself.",
    "restarts": "How often all tasks start again from the checkpoint after a task was killed. "
    "Empty: never on this machine, three times elsewhere. A worker of a chief starts again alone.",
    "launcher": "Where the tasks run: on this machine, or as a job of a cluster.",
    "ray_address": "host:port of a Ray cluster of which this machine is a node, as ray start "
    "printed it. Empty: a new cluster on this machine.",
    "nodes": "Hosts of the job. Empty: Slurm decides.",
    "cpus_per_task": "Cores for each task. Empty: the cluster's default.",
    "gpus_per_task": "GPUs for each task. Empty: none, tasks compute on CPUs.",
    "time_limit_minutes": "Minutes until the job ends; one minute before, it saves and stops. "
    "Empty: the partition's limit.",
    "partition": "The partition of the cluster for the job. Empty: the default partition.",
    "account": "The account whose hours the job uses. Empty: your default account.",
    "job_setup": "Shell commands that the job runs first, such as module load cuda.",
    "container": "The image in which each task runs: Kubernetes needs one with Python and "
    "TensorFlow; with Slurm it is an Apptainer image, or none.",
    "kubernetes_kind": "The kind of the tasks; JobSet and TFJob need their controllers.",
    "namespace": "The namespace of the pods. Empty: the namespace that kubectl uses.",
    "volume_claim": "The claim of a volume that pods and this machine share; it holds the runs.",
    "volume_path": "The path of the folder of runs on that volume. Empty: the volume's root.",
    "node_selector": "Labels that a pod's node must have: key=value, key=value. Empty: any node.",
    "memory_gib_per_task": "GiB of memory for each task. Empty: the cluster's default.",
    "tpus_per_task": "TPU chips for the task (strategy TPU). Empty: none.",
    "archive": "A folder that outlives this machine, on Colab such as /content/drive/MyDrive/runs: "
    "records, checkpoints and model are copied there during the run. Empty: no copies.",
}
