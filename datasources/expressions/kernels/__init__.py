"""The functions that compiled expressions name: one table from name to code.

Each entry reproduces one function of Spark for arguments of fixed types; the choice of the entry and of its
constants is the compiler's. None of them reads a clock, a zone database or the session.
"""

from __future__ import annotations

from typing import Final

from datasources.expressions.kernels import arithmetic, casting, json_path, text, time
from datasources.expressions.vectors.kernel_call import Kernel

__all__ = ["KERNELS"]

KERNELS: Final[dict[str, Kernel]] = {
    **arithmetic.KERNELS,
    **casting.KERNELS,
    **time.KERNELS,
    **text.KERNELS,
    **json_path.KERNELS,
}
