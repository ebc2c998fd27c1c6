"""The parts between the widgets, the page and the kernel: threads, messages, outputs."""
