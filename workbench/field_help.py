"""A sentence of help for each field of a config, shown next to it in the form and by `--help`."""

from __future__ import annotations

from collections.abc import Mapping

FIELD_HELP: Mapping[str, str] = {
    "name": "What lists of runs call it.",
    "strategy": "Which tf.distribute strategy deals the work out.",
    "loop": "Who drives training: Keras fit, or a loop written out in the script.",
    "data": "What to train on: a set of the catalogue, or your own as module:function or "
    "file.py:function. The function returns (train, test), each a pair (features, labels) of "
    "arrays or tables, or a tf.data.Dataset of single examples.",
    "model": "A model of the catalogue, or your own as module:function or file.py:function; the "
    "function returns a Keras model, compiled with its loss and optimizer.",
    "step": "Your own train step for the custom loop, as module:function or file.py:function. "
    "Given model, features and labels it updates the weights; it returns the examples' losses or "
    "their mean, and after it the outputs if accuracy is to be known. Empty: the loop's own.",
    "devices": "Which devices take part, such as GPU:0,GPU:1. Empty: every GPU, else the CPU.",
    "replicas": "Copies that train in step. More than one on a CPU, or on one GPU, are virtual.",
    "workers": "Processes that train, each with replicas of its own.",
    "parameter_servers": "Processes that hold the variables.",
    "evaluator": "Test the checkpoints in a process of its own, while training goes on.",
    "tpu": "local: the TPU of this machine. Else the name of a Cloud TPU.",
    "cross_device_ops": "How gradients are summed across replicas.",
    "communication": "How workers sum gradients.",
    "bytes_per_pack": "Gradients are sent in packs of so many bytes. 0: TensorFlow decides.",
    "gpu_memory": "growth: take memory as needed; all: all at once; a number: MiB a replica.",
    "per_replica_batch_size": "Examples that each replica takes in a step.",
    "global_batch_size": "Examples of all replicas in a step: per-replica size times replicas.",
    "last_batch": "What becomes of an epoch's last examples that do not fill a global batch.",
    "pipeline": "How batches reach the replicas; usual and indexed give the same batches.",
    "auto_shard": "How training data is split among workers (every pipeline but indexed).",
    "data_files": "TFRecord files that the training data is written to, in your cache folder: in "
    "all 192 MB for Fashion-MNIST.",
    "epochs": "Passes through the training data; a test pass and a checkpoint follow each.",
    "steps_per_epoch": "Steps in an epoch. Empty: the whole data once; more repeats the data.",
    "optimizer": "How gradients become updates. Empty: adam, or the one that your own model is "
    "compiled with.",
    "learning_rate": "Size of the updates, before scaling.",
    "learning_rate_scaling": "How the learning rate grows with the replicas.",
    "clip_norm": "Largest norm of the gradient summed over replicas (custom loop). Empty: any.",
    "precision": "What numbers are computed in.",
    "xla": "Compile each replica's step with XLA; the sum over the replicas and the update stay "
    "outside. It pays on GPUs, less often on CPUs, and the first step takes longer.",
    "steps_per_call": "Steps in one graph call. Empty: found while training; 1 helps debugging; "
    "epoch: a whole epoch in one graph, which records and stops only at its end.",
    "eager": "Run without graphs, to debug: slow, but print and breakpoints work.",
    "seed": "Decides data, first weights and order; the same seed gives the same losses.",
    "data_dir": "A folder with the data's files. Empty: the usual places, then a download.",
    "synthetic_examples": "Examples to train on; a fifth as many are made to test on.",
    "synthetic_features": "Numbers in each example.",
    "synthetic_noise": "Standard deviation of the noise on the rule that labels.",
    "rendezvous_seconds": "How long tasks may take to find each other. Empty: 180.",
    "interpreter": "The Python that trains. Empty: this one.",
    "start_now": "Start although another run holds the device, instead of waiting for it.",
    "start": "How processes begin: automatic forks them from one that has TensorFlow loaded, where "
    "that is safe and sooner; cold has each load it itself.",
    "restarts": "How often all tasks start again from the checkpoint after one was killed. Empty: "
    "never on this machine, three times elsewhere.",
    "launcher": "Where the tasks run: on this machine, or as a job of a cluster.",
    "ray_address": "host:port of a Ray cluster of which this machine is a node, as ray start "
    "printed it. Empty: a new one on this machine.",
    "nodes": "Hosts of the job. Empty: Slurm decides.",
    "cpus_per_task": "Cores for each task. Empty: the cluster's usual number.",
    "gpus_per_task": "GPUs for each task. Empty: none, tasks compute on CPUs.",
    "time_limit_minutes": "The job ends after so many minutes; a minute before it saves and stops. "
    "Empty: the partition's limit.",
    "partition": "Which hosts the job asks for. Empty: the usual ones.",
    "account": "Whose hours the job uses. Empty: your usual account.",
    "job_setup": "Shell that the job runs first, such as module load cuda.",
    "container": "The image in which each task runs: Kubernetes needs one with Python and "
    "TensorFlow; with Slurm it is an Apptainer image, or none.",
    "kubernetes_kind": "What the tasks are there; JobSet and TFJob need their controller.",
    "namespace": "Whose resources the pods use. Empty: the one that kubectl uses.",
    "volume_claim": "The claim of a volume that pods and this machine share; the runs lie on it.",
    "volume_path": "Where on that volume the folder of runs lies. Empty: it is the volume's root.",
    "node_selector": "Labels that a pod's node must have: key=value, key=value. Empty: any node.",
    "memory_gib_per_task": "GiB of memory for each task. Empty: as the cluster has it.",
    "tpus_per_task": "TPU chips for the task (strategy TPU). Empty: none.",
    "archive": "A folder that outlives this machine, on Colab such as /content/drive/MyDrive/runs: "
    "records, checkpoints and model are copied there while the run lives. Empty: none are.",
}
