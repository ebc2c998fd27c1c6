"""What this machine has to train on, asked without taking a device or importing TensorFlow here.

`detect()` returns `Devices`, or raises `DeviceError` where the interpreter cannot be asked.
"""

from workbench.devices.detection import detect
from workbench.devices.records import DeviceError, Devices, Gpu
from workbench.devices.text import describe

__all__ = ["DeviceError", "Devices", "Gpu", "describe", "detect"]
