"""A sentence of help for each field of a config, shown next to it in the form and by `--help`."""

from __future__ import annotations

from collections.abc import Mapping

FIELD_HELP: Mapping[str, str] = {
    "name": "The name of the run, shown in lists.",
    "strategy": "The tf.distribute strategy: how training is distributed.",
    "loop": "What drives training: Keras fit, or a loop written out in the script.",
    "data": "A built-in data set, or your own as module:function or file.py:function. "
    "The function returns (train, test), each a pair (features, labels) of arrays or tables, or an "
    "unbatched tf.data.Dataset.",
    "model": "A built-in model, or your own as module:function or file.py:function. The function "
    "returns a Keras model, compiled with its loss and optimizer, and with "
    "metrics=['accuracy'] to show the accuracy.",
    "step": "Your own train step for the custom loop, as module:function or file.py:function. "
    "It takes model, features and labels, updates the weights, and returns the loss of each "
    "example or their mean; to get the accuracy, return the outputs too. Empty: the built-in step.",
    "devices": "The devices to train on, such as GPU:0,GPU:1. Empty: every GPU, else the CPU.",
    "replicas": "Copies of the model that train in sync. Several on one device are virtual.",
    "workers": "Processes that train, each with its own replicas.",
    "parameter_servers": "Processes that hold the variables.",
    "evaluator": "Test the checkpoints in a separate process during training.",
    "tpu": "local for the TPU of this machine, or the name of a Cloud TPU.",
    "cross_device_ops": "How gradients are summed across replicas.",
    "communication": "How workers sum gradients.",
    "bytes_per_pack": "Bytes per pack in which gradients are sent. 0: TensorFlow decides.",
    "gpu_memory": "growth: take memory as needed; all: take all at the start; a number: MiB "
    "per replica.",
    "per_replica_batch_size": "Examples per replica in each step.",
    "global_batch_size": "Examples of all replicas in each step: per-replica size times replicas.",
    "last_batch": "What to do with the last examples of an epoch, if they do not fill a global "
    "batch. Only repeat allows a batch larger than the data; it then holds some examples twice.",
    "pipeline": "How batches reach the replicas; usual and indexed give the same batches.",
    "auto_shard": "How training data is split among workers (every pipeline except indexed).",
    "data_files": "The number of TFRecord files for the training data, in your cache folder: "
    "192 MB in total for Fashion-MNIST.",
    "epochs": "Passes through the training data, each followed by a test pass and a checkpoint.",
    "steps_per_epoch": "Steps per epoch. Empty: all data once. More steps repeat the data. "
    "A batch may be larger than the data only if last_batch is repeat.",
    "optimizer": "The optimizer. Empty: adam, or the one that your own model is compiled with.",
    "learning_rate": "The learning rate, before it is scaled with the replicas.",
    "learning_rate_scaling": "How the learning rate grows with the replicas.",
    "clip_norm": "Clip the gradient, summed over the replicas, to this global norm (custom loop). "
    "Empty: no clipping.",
    "precision": "The dtype of computations, or a mixed precision policy of Keras.",
    "xla": "Compile each replica's step with XLA; the sum over the replicas and the weight update "
    "stay outside. It often helps on GPUs, less often on CPUs. The first step takes longer.",
    "steps_per_call": "Steps per tf.function call. Empty: automatic. 1 helps debugging. "
    "epoch: one call for a whole epoch; the run then stops only at its end.",
    "eager": "Run eagerly, to debug: slow, but print and breakpoints work.",
    "deterministic": "Use only deterministic operations, so that the same seed gives the same "
    "losses on GPUs too. Slower. If an operation has no deterministic version, the run fails and "
    "names it.",
    "gradient_norms": "Record the norm of each replica's own gradient in each step. It is in the "
    "exported tables and TensorBoard, as gradient_norm. Very short steps take a little longer.",
    "seed": "The seed of the synthetic data, the initial weights and the shuffling. On CPUs the "
    "same seed gives the same losses; on GPUs some operations round differently each time, unless "
    "deterministic is on.",
    "data_dir": "The folder with the data's files. Empty: the usual folders, then a download.",
    "synthetic_examples": "Number of training examples; a fifth as many test examples are made.",
    "synthetic_features": "Features per example.",
    "synthetic_noise": "Standard deviation of the noise in the rule for the labels.",
    "rendezvous_seconds": "How many seconds tasks wait for each other at the start. Empty: 180.",
    "interpreter": "The Python that trains. Empty: this one.",
    "start_now": "Start even if another run is using the device, instead of waiting for it.",
    "start": "How processes start. auto: fork from a process that has imported TensorFlow, "
    "if that is safe and faster. cold: each process imports TensorFlow itself.",
    "restarts": "How often all tasks restart from the checkpoint after a task was killed. "
    "Empty: never on this machine, three times with Ray and Kubernetes. A killed worker of a chief "
    "restarts alone, without the other tasks.",
    "launcher": "Where the tasks run: on this machine, or as a job of a cluster.",
    "ray_address": "host:port of the Ray cluster that this machine belongs to, as printed by "
    "ray start. Empty: a new cluster on this machine.",
    "nodes": "Nodes of the job. Empty: Slurm decides.",
    "cpus_per_task": "CPU cores per task. Empty: the cluster's default.",
    "gpus_per_task": "GPUs per task. Empty: none; the tasks train on CPUs.",
    "time_limit_minutes": "Minutes until the job ends. One minute before, it saves a checkpoint "
    "and stops. Empty: the partition's limit.",
    "partition": "The Slurm partition. Empty: the default partition.",
    "account": "The account to which the job is charged. Empty: your default account.",
    "job_setup": "Shell commands that the job runs first, such as module load cuda.",
    "container": "The container image of the tasks. Kubernetes: an image with Python and "
    "TensorFlow. Slurm: an Apptainer image, or empty for none.",
    "kubernetes_kind": "The Kubernetes resource for the tasks; JobSet and TFJob need a controller.",
    "namespace": "The namespace of the pods. Empty: the namespace that kubectl uses.",
    "volume_claim": "The PersistentVolumeClaim of a volume that the pods and this machine share. "
    "It holds the runs.",
    "volume_path": "The path of the folder of runs on that volume. Empty: the volume's root.",
    "node_selector": "Labels that a pod's node must have: key=value, key=value. Empty: any node.",
    "memory_gib_per_task": "Memory per task in GiB. Empty: the cluster's default.",
    "tpus_per_task": "TPU chips for the task (strategy TPU). Empty: none.",
    "archive": "A folder that outlives this machine, such as /content/drive/MyDrive/runs on Colab. "
    "Records, checkpoints and the model are copied there during the run. Empty: no copies.",
}
