#include "tests/support/spec_fixtures.h"

#include "engine/spec/spec_load.h"

namespace warpath::test {

std::string gather_spec_text() {
  return R"json({
  "name": "gather",
  "kernel": {
    "source_code": "extern \"C\" __global__ void gather(float* o, const float* x, const int* idx, float s, int N, int M) {}",
    "metadata": {"kernel_name": "gather", "compiler_options": ["-DFAST=1"]},
    "io": {
      "args": [
        {"name": "o", "type": "tensor", "role": "output", "tensor_spec": {"shape": ["M"], "dtype": "float32"}},
        {"name": "x", "type": "tensor", "role": "input",
         "tensor_spec": {"shape": ["N", 2], "dtype": "float32", "init": {"kind": "randn", "seed": 1}}},
        {"name": "idx", "type": "tensor",
         "tensor_spec": {"shape": ["M"], "dtype": "int32", "indexes": "x",
                         "init": {"kind": "randint", "low": 0, "high": "N", "seed": 2, "skew": 0.25}}},
        {"name": "s", "type": "float", "value": 0.5},
        {"name": "N", "type": "int", "value": 64},
        {"name": "M", "type": "int", "value": 16}
      ],
      "launch": {"grid": {"x": "ceil_div(M, BLOCK)"}, "block": {"x": "BLOCK"}},
      "may_alias": [["o", "x"]]
    },
    "workloads": [
      {"name": "main"},
      {"name": "small", "role": "guard", "target": "host", "weight": 2, "scalars": {"M": 3, "s": 1.5},
       "init": {"x": {"kind": "ones"}}, "launch": {"grid": {"x": 1}}, "min_speedup": 0.9, "l2": "cold"}
    ]
  },
  "tunables": [{"name": "BLOCK", "values": [32, 64, 128], "default": 64}],
  "constraints": ["BLOCK % 32 == 0"],
  "reference": {"host_op": {"op": "gather", "operands": {"x": "x", "out": "o"}}},
  "tolerance": {"default": {"atol": 1e-6}, "o": {"rtol": 1e-4}},
  "objective": "worst",
  "bound": {"bytes": "8 * M", "flops": {"float32": "M"}}
})json";
}

KernelSpec gather_spec() {
  return parse_specs(gather_spec_text(), "gather.json", ".").front();
}

std::string foreign_spec_text() {
  return R"json([{
  "name": "lora",
  "kernel": {
    "kernel_type": "triton",
    "source_code": "def kernel(): pass",
    "metadata": {"kernel_name": "kernel", "compiler_options": null, "backend": "nvrtc", "name_expressions": [], "jitify": false,
                 "reference": {"module": "ref", "function": "run", "rtol": 0.01, "atol": 0.02}},
    "io": {
      "args": [
        {"name": "x", "type": "tensor", "value": null, "role": "input", "is_meta": false,
         "tensor_spec": {"shape": [4, 8], "dtype": "float32", "data": null,
                         "init": {"kind": "randn", "seed": 42, "mean": 0.0, "std": 1.0, "low": 0.0, "high": 1.0,
                                  "fill_value": 0.0, "start": 0, "step": 1}}},
        {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [4, 8], "dtype": "bfloat16", "init": null, "data": null}},
        {"name": "ids", "type": "tensor", "role": "input",
         "tensor_spec": {"shape": [2], "dtype": "int32",
                         "data": {"data_b64": "AQAAAAIAAAA=", "dtype": "int32", "shape": [2], "compress": "none"}}},
        {"name": "M", "type": "int", "value": 4, "role": "input", "tensor_spec": null},
        {"name": "eps", "type": "float", "value": 1e-5},
        {"name": "EVEN", "type": "bool", "value": true, "is_meta": true},
        {"name": "MODE", "type": "str", "value": "fast", "is_meta": true}
      ],
      "launch": {"grid": {"x": 16, "y": 1, "z": 1}, "num_warps": 4, "num_stages": 2}
    },
    "invocation_example": "kernel[grid](x)",
    "representative_shapes": [
      {"name": "base"},
      {"name": "wide", "weight": 3.0, "launch_update": {"grid": {"x": 64}},
       "io": {
         "args": [
           {"name": "x", "type": "tensor", "role": "input",
            "tensor_spec": {"shape": [16, 8], "dtype": "float32", "init": {"kind": "randn", "seed": 42}}},
           {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [16, 8], "dtype": "bfloat16"}},
           {"name": "ids", "type": "tensor", "role": "input",
            "tensor_spec": {"shape": [2], "dtype": "int32",
                            "data": {"data_b64": "AQAAAAIAAAA=", "dtype": "int32", "shape": [2]}}},
           {"name": "M", "type": "int", "value": 16},
           {"name": "eps", "type": "float", "value": 1e-5},
           {"name": "EVEN", "type": "bool", "value": true, "is_meta": true},
           {"name": "MODE", "type": "str", "value": "fast", "is_meta": true}
         ],
         "launch": {"grid": {"x": 32, "y": 1, "z": 1}, "num_warps": 4, "num_stages": 2}
       }}
    ],
    "timing_aggregation": "weighted_mean"
  },
  "device_profile": {"gpu_name": "H200", "arch": "sm_90a", "sms": 132, "regs_per_sm": 65536, "smem_per_sm": 228000, "hbm_bw_gbps": 4800}
}])json";
}

}  // namespace warpath::test
