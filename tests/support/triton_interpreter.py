"""Carries out launches of kernels in Triton by Triton's interpreter, on arrays of numpy.

The file named by the first argument has the inputs of kernels and the launches on them; the second
names a Python file with a function NAME(**arguments) for each kernel, which gives what tensors hold
after a launch. Prints one line of JSON a launch: what ended it early, a hash of all memory after it,
and the largest error in units of the tolerance.
"""
import hashlib
import importlib.util
import inspect
import json
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
from triton.runtime import interpreter

GUARD = 4096  # bytes before and behind every tensor; multiple of the alignment
POISON = 0xFF  # not a number, in all floating-point types


class Outside(Exception):
    """A load or store of memory that no tensor has."""


class Tensor:
    """What the interpreter asks of a tensor of PyTorch; its storage is itself, on the host already."""

    def __init__(self, address, dtype):
        self.address, self.dtype = address, dtype

    def data_ptr(self):
        return self.address

    def untyped_storage(self):
        return self

    cpu = untyped_storage

    def new_empty(self, *_, **__):
        return Tensor(0, self.dtype)

    def set_(self, storage, *_):
        self.address = storage.address

    def storage_offset(self):
        return 0

    size = stride = storage_offset

    def copy_(self, other):
        pass


class Memory:
    """The tensors of a launch, with guard zones around them. The one that lives last is that of all loads and stores."""

    current = None

    def __init__(self, arrays):
        self.places, end = {}, GUARD
        for name, array in arrays.items():
            self.places[name] = (end, array)
            end = (end + array.nbytes + GUARD - 1) // GUARD * GUARD + GUARD
        memory = np.full(end + GUARD, POISON, np.uint8)
        ahead = -memory.ctypes.data % GUARD
        self.bytes = memory[ahead:ahead + end]
        for name, (_, array) in self.places.items():
            self.array(name)[...] = array
        Memory.current = self

    def address(self, name):
        return self.bytes.ctypes.data + self.places[name][0]

    def array(self, name):
        begin, array = self.places[name]
        return self.bytes[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)

    def check(self, what, pointers, mask):
        addresses, active = np.broadcast_arrays(pointers.data, mask.data)
        addresses = addresses[active]
        size = interpreter._get_np_dtype(pointers.get_element_ty()).itemsize
        inside = np.zeros(addresses.shape, bool)
        for name, (_, array) in self.places.items():
            begin = self.address(name)
            inside |= (addresses >= begin) & (addresses + np.uint64(size) <= begin + array.nbytes)
        if not inside.all():
            raise Outside("a %s outside of all tensors" % what)


def check_accesses():
    builder = interpreter.InterpreterBuilder
    load, store = builder.create_masked_load, builder.create_masked_store

    def checked(what, pointers, mask):
        # a condition of one element that was brought to the shape of a block has become a number
        mask = interpreter.TensorHandle(mask.data.astype(bool), mask.dtype)
        Memory.current.check(what, pointers, mask)
        return mask

    def checked_load(self, pointers, mask, *rest, **named):
        return load(self, pointers, checked("load", pointers, mask), *rest, **named)

    def checked_store(self, pointers, value, mask, *rest):
        return store(self, pointers, value, checked("store", pointers, mask), *rest)

    builder.create_masked_load, builder.create_masked_store = checked_load, checked_store


def load_module(path):
    spec = importlib.util.spec_from_file_location("module_" + os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Inputs:
    def __init__(self, given, references):
        self.arguments = given["arguments"]
        self.arrays, values = {}, {}
        for one in self.arguments:
            if "file" in one:
                self.arrays[one["name"]] = np.fromfile(one["file"], one["dtype"]).reshape(one["shape"])
                values[one["name"]] = self.arrays[one["name"]].copy()
            else:
                values[one["name"]] = one["value"]
        reference = getattr(references, given["kernel"], None)
        self.atol, self.rtol = given["atol"], given["rtol"]
        self.expected = reference(**values) if reference else {}

    def error(self, memory):
        worst = 0.0
        for name, expected in self.expected.items():
            off = np.abs(memory.array(name).astype(np.float64) - expected) / (self.atol + self.rtol * np.abs(expected))
            worst = max(worst, float(np.max(np.where(np.isnan(off), np.inf, off))))
        return worst


def carry_out(launch, inputs):
    memory = Memory(inputs.arrays)
    kernel = getattr(load_module(launch["text"]), launch["kernel"])
    names = [one.name for one in inspect.signature(kernel.fn).parameters.values() if "constexpr" not in str(one.annotation)]
    passed = [Tensor(memory.address(one["name"]), one["dtype"]) if "file" in one else one["value"]
              for one in inputs.arguments if not one["constant"]]
    kernel[tuple(launch["grid"])](**dict(zip(names, passed, strict=True)), **launch["constants"])
    return memory


def main():
    with open(sys.argv[1]) as file:
        given = json.load(file)
    references = load_module(sys.argv[2])
    check_accesses()
    # whether sums of integers overflow takes most of the time
    interpreter.interpreter_builder.options = interpreter.InterpreterOptions(sanitize_overflow=False)
    np.seterr(all="ignore")
    inputs = [Inputs(one, references) for one in given["inputs"]]
    for launch in given["launches"]:
        end, written, error = "", "", 0.0
        try:
            memory = carry_out(launch, inputs[launch["inputs"]])
            written = hashlib.sha256(memory.bytes).hexdigest()
            error = inputs[launch["inputs"]].error(memory)
        except Exception as problem:
            while problem.__cause__ is not None:
                problem = problem.__cause__
            end = "%s: %s" % (type(problem).__name__, problem)
        print(json.dumps({"end": end, "written": written, "error": min(error, 1e30)}), flush=True)


main()
