"""Runs the Python reference of a problem once, for `warpath init --definition`: python reference.py FOLDER

Reads FOLDER/request.json and writes .npy files and answer.json beside it: what the inputs and outputs of each workload are, or `why` there are
none. A problem file with Model, get_inputs and get_init_inputs becomes definition.json too. Needs torch, or numpy where the reference needs no more.
"""

import importlib.util
import inspect
import json
import pathlib
import random
import struct
import sys

DESCRIPTION = {"float64": "<f8", "float32": "<f4", "float16": "<f2", "bfloat16": "<u2", "int64": "<i8", "int32": "<i4", "int16": "<i2",
               "int8": "|i1", "uint8": "|u1", "bool": "|b1"}
SEED = 42


class Torch:
    """Tensors of PyTorch, on the CPU."""

    def __init__(self):
        import torch
        self.torch = torch
        self.device = torch.device("cpu")

    def seed(self, number):
        random.seed(number)
        self.torch.manual_seed(number)

    def random(self, shape, dtype):
        if dtype.startswith(("float", "bfloat")):
            return self.torch.randn(*shape).to(getattr(self.torch, dtype))
        return self.torch.randint(0, 2 if dtype == "bool" else 64, tuple(shape)).to(getattr(self.torch, dtype))

    def read(self, shape, dtype, content):
        return self.torch.frombuffer(bytearray(content), dtype=getattr(self.torch, dtype)).reshape(shape)

    def is_tensor(self, value):
        return isinstance(value, self.torch.Tensor)

    def dtype(self, tensor):
        return str(tensor.dtype).rsplit(".", 1)[-1]

    def content(self, tensor):
        tensor = tensor.detach().cpu().contiguous()
        if self.dtype(tensor) == "bfloat16":
            tensor = tensor.view(self.torch.int16)
        return tensor.numpy().tobytes()


class Numpy:
    """Arrays of NumPy."""

    device = "cpu"

    def __init__(self):
        import numpy
        self.numpy = numpy

    def seed(self, number):
        random.seed(number)
        self.numpy.random.seed(number)

    def random(self, shape, dtype):
        if dtype.startswith("float"):
            return self.numpy.random.standard_normal(shape).astype(dtype)
        return self.numpy.random.randint(0, 2 if dtype == "bool" else 64, shape).astype(dtype)

    def read(self, shape, dtype, content):
        return self.numpy.frombuffer(content, dtype=dtype).reshape(shape)

    def is_tensor(self, value):
        return isinstance(value, self.numpy.ndarray)

    def dtype(self, tensor):
        return str(tensor.dtype)

    def content(self, tensor):
        return self.numpy.ascontiguousarray(tensor).tobytes()


def library():
    try:
        return Torch()
    except ImportError as error:
        try:
            return Numpy()
        except ImportError:
            raise error from None


def safetensor(path, key):
    """Type, shape and bytes of one tensor of a .safetensors file."""
    names = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8",
             "U8": "uint8", "BOOL": "bool"}
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        entry = json.loads(file.read(size))[key]
        begin, end = entry["data_offsets"]
        file.seek(8 + size + begin)
        return names[entry["dtype"]], entry["shape"], file.read(end - begin)


class Writer:
    """.npy files of a folder, numbered."""

    def __init__(self, folder, arrays):
        self.folder = folder
        self.arrays = arrays
        self.count = 0

    def write(self, tensor, dtype, shape=None):
        found, extents = self.arrays.dtype(tensor), list(tensor.shape)
        if found != dtype or (shape is not None and extents != list(shape)):
            raise ValueError(f"{found} {extents} where the definition has {dtype} {shape}")
        self.count += 1
        name = f"{self.count}.npy"
        header = f"{{'descr': '{DESCRIPTION[dtype]}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in extents)}), }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        (self.folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + self.arrays.content(tensor))
        return name


def source_value(arrays, tensor, source, place):
    if source["type"] == "scalar":
        return source["value"]
    if source["type"] == "safetensors":
        dtype, shape, content = safetensor(pathlib.Path(place) / source["path"], source["tensor_key"])
        return arrays.read(shape, dtype, content)
    return arrays.random(tensor["shape"], tensor["dtype"])


def run_definition(request, folder, arrays):
    """The inputs and outputs of each workload of a definition."""
    writer = Writer(folder, arrays)
    names = {}
    exec(compile(request["reference"], "reference", "exec"), names)
    answer = {}
    for number, workload in enumerate(request["workloads"]):
        arrays.seed(SEED + number)
        inputs = workload["inputs"]
        if any(one["source"]["type"] == "custom" for one in inputs):
            scalars = {one["name"]: one["source"].get("value") for one in inputs if one["shape"] is None}
            made = names[request["make_inputs"]]({**workload["axes"], **scalars}, arrays.device)
            values = [made[one["name"]] for one in inputs]
        else:
            values = [source_value(arrays, one, one["source"], workload["place"]) for one in inputs]
        files = {one["name"]: writer.write(value, one["dtype"], one["shape"]) for one, value in zip(inputs, values) if arrays.is_tensor(value)}
        result = names["run"](*values)
        if isinstance(result, dict):
            result = [result[one["name"]] for one in workload["outputs"]]
        elif arrays.is_tensor(result):
            result = [result]
        outputs = {one["name"]: writer.write(value, one["dtype"], one["shape"])
                   for one, value in zip(workload["outputs"], result) if one["shape"] is not None}
        answer[workload["id"]] = {"inputs": files, "outputs": outputs}
    return {"workloads": answer}


def run_problem(request, folder, arrays):
    """A problem file as a definition whose axes are all constant, with its only workload."""
    spec = importlib.util.spec_from_file_location("problem", request["problem"])
    problem = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(problem)
    arrays.seed(SEED)
    model = problem.Model(*problem.get_init_inputs())
    if hasattr(model, "eval"):
        model.eval()
    arrays.seed(SEED)
    inputs = list(problem.get_inputs())
    names = [name for name in inspect.signature(model.forward).parameters][:len(inputs)]
    state = model.state_dict() if hasattr(model, "state_dict") else {}
    result = model.forward(*inputs)
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    writer = Writer(folder, arrays)
    axes, files, sources = {}, {"inputs": {}, "outputs": {}}, {}

    def describe(kind, name, value):
        if not arrays.is_tensor(value):
            sources[name] = {"type": "scalar", "value": value}
            return {"shape": None, "dtype": "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float32"}
        sources[name] = {"type": "random"}
        axes.update({f"d{n}": {"type": "const", "value": n} for n in value.shape})
        dtype = arrays.dtype(value)
        size = 1
        for n in value.shape:
            size *= n
        if size <= request["most_elements"]:
            files[kind][name] = writer.write(value, dtype)
        return {"shape": [f"d{n}" for n in value.shape], "dtype": dtype}

    described = {name: describe("inputs", name, value) for name, value in zip(names, inputs)}
    described.update({f"model.{name}": describe("inputs", f"model.{name}", value) for name, value in state.items()})
    sources_of_inputs = dict(sources)
    written = {name: describe("outputs", name, value)
               for name, value in zip(["output"] if len(outputs) == 1 else [f"output{i}" for i in range(len(outputs))], outputs)}
    definition = {"name": pathlib.Path(request["problem"]).stem, "op_type": "kernelbench", "axes": axes, "inputs": described, "outputs": written,
                  "reference": pathlib.Path(request["problem"]).read_text(encoding="utf-8")}
    (folder / "definition.json").write_text(json.dumps(definition, indent=2), encoding="utf-8")
    workload = {"uuid": "default", "axes": {}, "inputs": sources_of_inputs}
    (folder / "workload.jsonl").write_text(json.dumps(workload) + "\n", encoding="utf-8")
    whole = len(files["inputs"]) + len(files["outputs"]) == sum(one["shape"] is not None for one in [*described.values(), *written.values()])
    return {"workloads": {"default": files}} if whole else {"workloads": {}, "why": "its tensors are too large to be kept"}


def main():
    folder = pathlib.Path(sys.argv[1])
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    try:
        answer = (run_problem if "problem" in request else run_definition)(request, folder, library())
    except Exception as error:  # whatever a reference may raise: the caller says it
        answer = {"workloads": {}, "why": f"{type(error).__name__}: {error}".splitlines()[0]}
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
