"""The devices of this machine, found without taking a device or importing TensorFlow here.

`detect()` returns `Devices`. It raises `DeviceError` if the interpreter cannot be asked.
"""

from workbench.devices.detection import detect
from workbench.devices.records import DeviceError, Devices, Gpu
from workbench.devices.text import describe

__all__ = ["DeviceError", "Devices", "Gpu", "describe", "detect"]
