"""Compiles one Triton kernel to PTX.

`request.json`: kernel, parameters (types of what is passed, ":16" behind multiples of 16), constants
by name, options, arch. Writes kernel.ptx and result.json; an error is the last line it prints.
"""
import importlib.util
import json
import os
import sys


def refuse(line, message, text=""):
    print("\nkernel.py(%d): error: %s%s" % (line, " ".join(message.split()), ": " + text.strip() if text else ""))
    sys.exit(1)


def value_of(text):
    for kind in (int, float):
        try:
            return kind(text.rstrip("f") if kind is float else text)
        except ValueError:
            pass
    return text.strip('"')


def load(path):
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernel"] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        refuse(error.lineno or 0, error.msg, error.text or "")
    except BaseException as error:
        line, trace = 0, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == path:
                line = trace.tb_lineno
            trace = trace.tb_next
        refuse(line, "%s: %s" % (type(error).__name__, error))
    return module


def kernel_of(module, name):
    from triton.runtime.jit import JITFunction
    kernel = getattr(module, name, None)
    while kernel is not None and not isinstance(kernel, JITFunction):
        kernel = getattr(kernel, "fn", None)  # behind autotune and heuristics
    if kernel is None:
        refuse(0, "there is no @triton.jit function " + name)
    return kernel


def signature_of(kernel, request):
    signature, constants, attributes = {}, {}, {}
    passed = list(request["parameters"])
    names = [p.name for p in kernel.params if not p.is_constexpr]
    line = kernel.starting_line_number
    if len(names) != len(passed):
        refuse(line, "the kernel takes %d arguments besides constexprs (%s), the spec passes %d" %
               (len(names), ", ".join(names), len(passed)))
    for index, parameter in enumerate(kernel.params):
        if not parameter.is_constexpr:
            kind, _, multiple = passed.pop(0).partition(":")
            signature[parameter.name] = kind
            if multiple:
                attributes[(index,)] = [["tt.divisibility", int(multiple)]]
            continue
        signature[parameter.name] = "constexpr"
        if parameter.name in request["constants"]:
            constants[parameter.name] = value_of(request["constants"][parameter.name])
        elif parameter.has_default:
            constants[parameter.name] = parameter.default
        else:
            refuse(line, "constexpr %s is neither a tunable nor a meta argument" % parameter.name)
    return signature, constants, attributes


def main():
    with open("request.json") as file:
        request = json.load(file)
    from triton import compile as compile_kernel
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend, CUDAOptions
    from triton.compiler import ASTSource
    from triton.compiler.errors import CompilationError
    # The engine assembles the PTX itself, once it is without parameters that only Triton's launcher passes.
    CUDABackend.make_cubin = lambda *_, **__: b""
    kernel = kernel_of(load(os.path.abspath("kernel.py")), request["kernel"])
    signature, constants, attributes = signature_of(kernel, request)
    try:
        from triton.backends.compiler import AttrsDescriptor
    except ImportError:
        pass
    else:  # Triton 3.2
        multiples = [index for (index,) in attributes]
        attributes = AttrsDescriptor.from_dict({"arg_properties": {"tt.divisibility": multiples}, "cls": "AttrsDescriptor"})
        signature = {name: kind for name, kind in signature.items() if kind != "constexpr"}
    options = dict(request["options"])
    if "ptx_version" not in CUDAOptions.__dataclass_fields__:
        options.pop("ptx_version", None)
    try:
        code = compile_kernel(ASTSource(kernel, signature, constants, attributes),
                              target=GPUTarget("cuda", request["arch"], 32), options=options)
    except CompilationError as error:
        line = getattr(error.node, "lineno", 0)
        lines = (error.src or "").split("\n")
        deepest = error
        while deepest.__cause__ is not None:
            deepest = deepest.__cause__
        message = deepest.error_message if isinstance(deepest, CompilationError) else str(deepest)
        refuse(line + kernel.starting_line_number - 1, message or type(deepest).__name__,
               lines[line - 1] if 0 < line <= len(lines) else "")
    except Exception as error:
        refuse(kernel.starting_line_number, "%s: %s" % (type(error).__name__, error))
    facts = code.metadata._asdict()
    with open("kernel.ptx", "w") as file:
        file.write(code.asm["ptx"])
    with open("result.json", "w") as file:
        json.dump({"entry": facts["name"], "shared": facts["shared"],
                   "clusters": facts.get("num_ctas", 1),
                   "scratch": facts.get("global_scratch_size", 0) + (facts.get("profile_scratch_size") or 0)}, file)


main()
