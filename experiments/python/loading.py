"""The best kernel as a function."""

import ctypes
import importlib
from typing import Any, Callable, Dict, List

from .errors import InputError, LoadError
from .result import Argument, Kernel, Launch

_SCALARS: Dict[str, Any] = {
    "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double, "bool": ctypes.c_bool,
}


class Function:
    """Calls the kernel: `function(*arguments, stream=None, **sizes)`, arguments in the order of its parameters, sizes that only the spec
    knows by name. What the source has fixed is checked; the spec's other conditions are the caller's."""

    def __init__(self, kernel: Kernel, launch: Callable[[Launch, List[Any], Any], None]):
        self._kernel, self._launch = kernel, launch
        self._arguments = kernel.arguments
        self._fixed = (kernel.contract or {}).get("sizes", {})

    def __call__(self, *arguments: Any, stream: Any = None, **sizes: int) -> None:
        if len(arguments) != len(self._arguments):
            raise InputError(f"warpath: {self._kernel.name}: got {len(arguments)} arguments, expected "
                             + ", ".join(one.name for one in self._arguments))
        numbers = dict(sizes)
        for one, value in zip(self._arguments, arguments):
            if one.type in ("int", "bool"):
                numbers[one.name] = int(value)
        for name, allowed in self._fixed.items():
            if name in numbers and numbers[name] not in [int(x) for x in allowed]:
                raise InputError(f"warpath: {name}: got {numbers[name]}, but the kernel was made for "
                                 + ", ".join(map(str, allowed)))
        self._launch(self._kernel.launch(**numbers), list(arguments), stream)


def _options(kernel: Kernel) -> List[str]:
    options = list(kernel.compiler_options)
    if not any(one.startswith(("-std", "--std")) for one in options):
        options.append("-std=c++17")
    return options + [f"-D{name}={value}" for name, value in kernel.macros.items()]


def _scalar(argument: Argument) -> Any:
    if argument.dtype not in _SCALARS:
        raise LoadError(f"warpath: {argument.name}: a scalar of {argument.dtype} cannot be passed from Python")
    return _SCALARS[argument.dtype]


def _with_cupy(kernel: Kernel, cupy: Any) -> Function:
    numpy = importlib.import_module("numpy")
    module = cupy.RawModule(code=kernel.source, options=tuple(_options(kernel)), backend="nvrtc", name_expressions=(kernel.name,))
    function = module.get_function(kernel.name)

    def launch(numbers: Launch, arguments: List[Any], stream: Any) -> None:
        if numbers.cluster != (1, 1, 1):
            raise LoadError("warpath: CuPy launches no clusters; load(\"cuda\") does")
        values = [value if one.type == "tensor" else numpy.dtype(one.dtype).type(value)
                  for one, value in zip(kernel.arguments, arguments)]
        if numbers.dynamic_smem_bytes > 48 << 10:
            function.max_dynamic_shared_size_bytes = numbers.dynamic_smem_bytes
        function(numbers.grid, numbers.block, tuple(values), shared_mem=numbers.dynamic_smem_bytes,
                 **({} if stream is None else {"stream": stream}))

    return Function(kernel, launch)


def _with_cuda(kernel: Kernel, core: Any) -> Function:
    device = core.Device()
    device.set_current()
    capability = device.compute_capability
    options = core.ProgramOptions(std="c++17", arch=f"sm_{capability.major}{capability.minor}",
                                  define_macro=[(name, str(value)) for name, value in kernel.macros.items()])
    if kernel.compiler_options:
        raise LoadError("warpath: cuda-python takes no compiler options (" + " ".join(kernel.compiler_options) + "); load(\"cupy\") does")
    code = core.Program(kernel.source, code_type="c++", options=options).compile("cubin", name_expressions=(kernel.name,))
    function = code.get_kernel(kernel.name)
    default_stream = device.default_stream

    def launch(numbers: Launch, arguments: List[Any], stream: Any) -> None:
        more = {} if numbers.cluster == (1, 1, 1) else {"cluster": numbers.cluster}
        config = core.LaunchConfig(grid=numbers.grid, block=numbers.block, shmem_size=numbers.dynamic_smem_bytes, **more)
        values = [value.__cuda_array_interface__["data"][0] if one.type == "tensor" else _scalar(one)(value)
                  for one, value in zip(kernel.arguments, arguments)]
        core.launch(stream or default_stream, config, function, *values)

    return Function(kernel, launch)


_BACKENDS = {"cupy": (_with_cupy, ("cupy",)), "cuda": (_with_cuda, ("cuda.core", "cuda.core.experimental"))}


def load(kernel: Kernel, backend: str) -> Function:
    """See Kernel.load."""
    if backend != "auto" and backend not in _BACKENDS:
        raise InputError(f"warpath: got {backend!r}, expected \"auto\", \"cupy\" or \"cuda\"")
    if kernel.steps:
        raise LoadError(f"warpath: {kernel.name}: one call takes several launches or scratch memory ({kernel.folder / 'terms'}); "
                        "no single function does that")
    if kernel.structs:
        raise LoadError(f"warpath: {kernel.name}: it takes structs by value ({', '.join(kernel.structs)}), which no function here passes")
    for name in _BACKENDS if backend == "auto" else (backend,):
        make, modules = _BACKENDS[name]
        for module in modules:
            try:
                found = importlib.import_module(module)
            except ImportError:
                continue
            if name == "cuda" and not hasattr(found, "LaunchConfig"):
                continue
            return make(kernel, found)
    wanted = "CuPy or cuda-python" if backend == "auto" else {"cupy": "CuPy", "cuda": "cuda-python"}[backend]
    raise LoadError(f"warpath: {wanted} is not installed here (PyPI: cupy-cuda13x, cuda-core); `source` and `launch` say what to run")
