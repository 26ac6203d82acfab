"""The GPUs of this machine, from the driver."""

from __future__ import annotations

from functools import cache
from typing import Any

from .architectures import architectures
from .capabilities import CAPABILITIES
from .gpu import GPU
from .table import default_for, known_as

__all__ = ["present"]


@cache
def present(ordinal: int = 0) -> GPU | None:
    """The GPU with that number, or None where there is no such GPU or no driver.

    SMs, memory and caches are from the driver. Clock, bandwidth and rates are the published ones if the table has the
    GPU's name. So a model gives the same results with and without the GPU. Otherwise they are from the driver and from
    the compute capability. The architecture includes its specific features where there are any: ``sm_90a``.
    """
    try:
        from cuda.bindings import driver

        (result,) = driver.cuInit(0)
    except (ImportError, RuntimeError):
        return None
    if int(result) != 0:
        return None
    result, device = driver.cuDeviceGet(ordinal)
    if int(result) != 0:
        return None
    return _described(driver, device)


def _described(driver: Any, device: Any) -> GPU:
    def attribute(name: str) -> int:
        _, value = driver.cuDeviceGetAttribute(
            getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), device
        )
        return int(value)

    _, raw = driver.cuDeviceGetName(256, device)
    name = raw.split(b"\0")[0].decode()
    number = 10 * attribute("COMPUTE_CAPABILITY_MAJOR") + attribute("COMPUTE_CAPABILITY_MINOR")
    arch = next((one for one in (f"sm_{number}a", f"sm_{number}") if one in architectures()), f"sm_{number}")
    published = known_as(name)
    sm = CAPABILITIES.get(number, default_for(arch).sm)
    _, memory = driver.cuDeviceTotalMem(device)
    # Data moves on both edges of the memory's clock.
    bandwidth = 2.0 * attribute("MEMORY_CLOCK_RATE") * 1e3 * attribute("GLOBAL_MEMORY_BUS_WIDTH") / 8
    return GPU(
        name=name,
        arch=arch,
        sms=attribute("MULTIPROCESSOR_COUNT"),
        clock_hz=published.clock_hz if published else attribute("CLOCK_RATE") * 1e3,
        memory_bytes=int(memory),
        bandwidth=published.bandwidth if published else bandwidth,
        l2_bytes=attribute("L2_CACHE_SIZE"),
        sm=sm,
        rates=published.rates if published else sm.rates,
        source=f"driver; {published.source}" if published else "driver",
    )
