"""A sentence of help for each field of a config, shown beside it in the form and by `--help`."""

from __future__ import annotations

from collections.abc import Mapping

FIELD_HELP: Mapping[str, str] = {
    "name": "What lists of runs call it.",
    "strategy": "Which tf.distribute strategy deals the work out.",
    "loop": "Who drives training: Keras fit, or a loop written out in the script.",
    "data": "What to train on.",
    "model": "A model of the catalogue, or your own as module:function or file.py:function; the "
    "function returns a built Keras model compiled with its loss.",
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
    "optimizer": "How gradients become updates.",
    "learning_rate": "Size of the updates, before scaling.",
    "learning_rate_scaling": "How the learning rate grows with the replicas.",
    "clip_norm": "Largest norm of the gradient summed over replicas (custom loop). Empty: any.",
    "precision": "What numbers are computed in.",
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
}
