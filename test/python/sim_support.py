"""Modules of the gpu stage for tests of the simulator."""

from __future__ import annotations


def module(arguments: str, body: str, names: str = "") -> str:
    """A module with one kernel `k`. `names` are the arguments' names, by default their own."""
    parameters = [argument.strip() for argument in arguments.split(" %")]
    named = ", ".join(
        "%" + parameter.lstrip("%").rstrip(",") + f' {{te.name = "{parameter.lstrip("%").split(":")[0]}"}}'
        for parameter in parameters
    )
    values = ", ".join("%" + parameter.lstrip("%").rstrip(",") for parameter in parameters)
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @p_kernels {{
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {{alignment = 1024}}
    gpu.func @k({arguments}) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %shared = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
      {body}
    }}
  }}
  func.func @p({named}) {{
    %c1 = arith.constant 1 : index
    gpu.launch_func @p_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args({values})
    return
  }}
}}"""
