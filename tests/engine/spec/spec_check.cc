#include "engine/spec/spec_check.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/spec/spec_load.h"
#include "tests/support/figure.h"
#include "tests/support/spec_fixtures.h"

using namespace warpath;
using nlohmann::json;
using test::message_of;

namespace {

/// The gather spec with the value at `pointer` replaced (or erased: "-") gives a message with both
/// texts.
struct Row {
  const char* pointer;
  const char* value;
  const char* place;
  const char* expected;
};

// Arguments: 0 o[M] output, 1 x[N, 2] randn, 2 idx[M] randint in [0, N) indexes x, 3 s, 4 N = 64, 5
// M = 16.
const std::vector<Row> kMalformed{
    // names
    {"/name", "-", "f.json", "the key \"name\""},
    {"/name", "3", "f.json:/name", "text"},
    {"/name", "\"\"", "f.json:/name", "a name of letters"},
    {"/name", "\"../up\"", "f.json:/name", "a name of letters"},
    {"/nmae", "\"x\"", "f.json:/nmae", "a known key (name description"},
    {"/kernel", "[]", "f.json:/kernel", "an object"},
    {"/kernel/kernel_type", "\"opencl\"", "f.json:/kernel/kernel_type",
     "one of cuda, triton, ptx, multi_kernel"},
    {"/kernel/source_code", "-", "f.json:/kernel", "source_code or source_file"},
    {"/kernel/metadata", "-", "f.json:/kernel", "the key \"metadata\""},
    {"/kernel/metadata/kernel_name", "\"\"", "f.json:/kernel/metadata/kernel_name",
     "the name of the kernel"},
    {"/kernel/metadata/compiler_options", "\"-O3\"", "f.json:/kernel/metadata/compiler_options",
     "a list"},
    {"/kernel/metadata/compiler_options/0", "\"a\\nb\"",
     "f.json:/kernel/metadata/compiler_options/0", "one option on one line"},
    // arguments
    {"/kernel/io", "-", "f.json:/kernel", "the key \"io\""},
    {"/kernel/io/args", "[]", "f.json:/kernel/io/args", "at least one argument"},
    {"/kernel/io/args/1/name", "\"1x\"", "f.json:/kernel/io/args/1/name", "an identifier"},
    {"/kernel/io/args/1/name", "\"o\"", "f.json:/kernel/io/args/1/name",
     "a name that no other argument has"},
    {"/kernel/io/args/1/type", "-", "f.json:/kernel/io/args/1", "the key \"type\""},
    {"/kernel/io/args/1/type", "\"pointer\"", "f.json:/kernel/io/args/1/type",
     "one of tensor, int, float, str, bool"},
    {"/kernel/io/args/1/role", "\"scalar\"", "f.json:/kernel/io/args/1/role",
     "input, output or inout"},
    {"/kernel/io/args/4/role", "\"output\"", "f.json:/kernel/io/args/4/role", "input or scalar"},
    {"/kernel/io/args/1/tensor_spec", "-", "f.json:/kernel/io/args/1", "the key \"tensor_spec\""},
    {"/kernel/io/args/1/value", "3", "f.json:/kernel/io/args/1/value", "no value"},
    {"/kernel/io/args/1/is_meta", "true", "f.json:/kernel/io/args/1/is_meta", "false for a tensor"},
    {"/kernel/io/args/4/is_size", "true", "f.json:/kernel/io/args/4/is_size",
     "it of an int that is_meta"},
    {"/guessed", R"([{"path": "/kernel/io/args/44", "why": "w"}])", "f.json:/guessed/0/path",
     "a JSON pointer to a part of this spec"},
    {"/guessed", R"([{"path": "name", "why": "w"}])", "f.json:/guessed/0/path",
     "a JSON pointer to a part of this spec"},
    {"/guessed", R"([{"path": "/name"}])", "f.json:/guessed/0", "the key \"why\""},
    {"/kernel/io/args/4/value", "1.5", "f.json:/kernel/io/args/4/value", "an integer"},
    {"/kernel/io/args/4/value", "\"64\"", "f.json:/kernel/io/args/4/value", "an integer"},
    {"/kernel/io/args/4/value", "3000000000", "f.json:/kernel/io/args/4/value",
     "a value that int32 holds"},
    {"/kernel/io/args/4/value", "18446744073709551615", "f.json:/kernel/io/args/4/value",
     "fits 64 bits"},
    {"/kernel/io/args/4/value", "-", "f.json:/kernel/io/args/4",
     "a value here or in /kernel/workloads/0/scalars"},
    {"/kernel/io/args/4/dtype", "\"float32\"", "f.json:/kernel/io/args/4/dtype",
     "an integer type for int"},
    {"/kernel/io/args/4/tensor_spec", "{\"shape\": [1], \"dtype\": \"int8\"}",
     "f.json:/kernel/io/args/4/tensor_spec", "a scalar"},
    {"/kernel/io/args/3/value", "true", "f.json:/kernel/io/args/3/value", "a finite number"},
    {"/kernel/io/args/3/value", "1e39", "f.json:/kernel/io/args/3/value",
     "a value that float32 holds"},
    {"/kernel/io/args/3", "{\"name\": \"s\", \"type\": \"str\", \"value\": \"a\"}",
     "f.json:/kernel/io/args/3/type", "a kernel receives no text"},
    {"/kernel/io/args/0/role", "\"input\"", "f.json:/kernel/io/args",
     "at least one argument of role output"},
    // tensors
    {"/kernel/io/args/1/tensor_spec/dtype", "\"float8\"",
     "f.json:/kernel/io/args/1/tensor_spec/dtype", "one of float64"},
    {"/kernel/io/args/1/tensor_spec/shape", "\"N\"", "f.json:/kernel/io/args/1/tensor_spec/shape",
     "a list"},
    {"/kernel/io/args/1/tensor_spec/shape/1", "2.0", "f.json:/kernel/io/args/1/tensor_spec/shape/1",
     "an integer or an expression"},
    {"/kernel/io/args/1/tensor_spec/shape/1", "\"N +\"",
     "f.json:/kernel/io/args/1/tensor_spec/shape/1", "at column 4"},
    {"/kernel/io/args/1/tensor_spec/shape/1", "\"Q\"",
     "f.json:/kernel/io/args/1/tensor_spec/shape/1", "'Q' is not; known: M, N"},
    {"/kernel/io/args/1/tensor_spec/shape/1", "\"BLOCK\"",
     "f.json:/kernel/io/args/1/tensor_spec/shape/1", "'BLOCK' is not"},
    {"/kernel/io/args/1/tensor_spec/shape/1", "\"s\"",
     "f.json:/kernel/io/args/1/tensor_spec/shape/1", "'s' is not"},
    {"/kernel/io/args/1/tensor_spec/shape/1", "0",
     "f.json:/kernel/io/args/1/tensor_spec (workload main)/shape", "extents of at least 1"},
    {"/kernel/io/args/1/tensor_spec/shape/1", "\"N - 65\"",
     "f.json:/kernel/io/args/1/tensor_spec (workload main)/shape: got -1", "extents of at least 1"},
    {"/kernel/io/args/1/tensor_spec/shape/1", "1099511627776", "f.json:/kernel/io/args/1",
     "at most 1099511627776 elements"},
    {"/kernel/io/args/1/tensor_spec/shape", "[1,1,1,1,1,1,1,1,1]",
     "f.json:/kernel/io/args/1/tensor_spec/shape", "at most 8 dimensions"},
    {"/kernel/io/args/1/tensor_spec/alignment_bytes", "24",
     "f.json:/kernel/io/args/1/tensor_spec/alignment_bytes", "a power of two"},
    {"/kernel/io/args/1/tensor_spec/init/kind", "\"normal\"",
     "f.json:/kernel/io/args/1/tensor_spec/init/kind", "one of randn"},
    {"/kernel/io/args/1/tensor_spec/init/seed", "-1",
     "f.json:/kernel/io/args/1/tensor_spec/init/seed", "an integer from 0"},
    {"/kernel/io/args/1/tensor_spec/init/std", "-1",
     "f.json:/kernel/io/args/1/tensor_spec (workload main)/init/std", "at least 0"},
    {"/kernel/io/args/1/tensor_spec/init/sigma", "1",
     "f.json:/kernel/io/args/1/tensor_spec/init/sigma", "a known key (kind seed"},
    {"/kernel/io/args/1/tensor_spec/data",
     "{\"data_b64\": \"AAAA\", \"dtype\": \"uint8\", \"shape\": [3]}",
     "f.json:/kernel/io/args/1/tensor_spec/data", "only one of the keys"},
    {"/kernel/io/args/2/tensor_spec/init/skew", "1.5", "f.json:/kernel/io/args/2",
     "a number from 0 to 1"},
    {"/kernel/io/args/2/tensor_spec/init/high", "-",
     "f.json:/kernel/io/args/2/tensor_spec (workload main)/init", "integers low and high"},
    {"/kernel/io/args/2/tensor_spec/init/high", "0",
     "f.json:/kernel/io/args/2/tensor_spec (workload main)/init/high", "above low = 0"},
    {"/kernel/io/args/2/tensor_spec/init/high", "2.5",
     "f.json:/kernel/io/args/2/tensor_spec/init/high", "an integer or an expression"},
    {"/kernel/io/args/2/tensor_spec/init", "{\"kind\": \"full\", \"fill_value\": 3e9}",
     "f.json:/kernel/io/args/2", "values that int32 holds"},
    {"/kernel/io/args/1/tensor_spec/init", "{\"kind\": \"full\", \"fill_value\": 1e300}",
     "f.json:/kernel/io/args/1", "values that float32 holds"},
    {"/kernel/io/args/1/tensor_spec/init", "{\"kind\": \"randn\", \"std\": 1e300}",
     "f.json:/kernel/io/args/1", "values that float32 holds"},
    // indices
    {"/kernel/io/args/2/tensor_spec/indexes", "\"y\"",
     "f.json:/kernel/io/args/2/tensor_spec (workload main)/indexes", "the name of another tensor"},
    {"/kernel/io/args/1/tensor_spec/indexes", "\"o\"", "f.json:/kernel/io/args/1",
     "an integer type for a tensor that indexes"},
    {"/kernel/io/args/2/tensor_spec/init/high", "\"N + 1\"",
     "f.json:/kernel/io/args/2/tensor_spec (workload main)/indexes", "indices from 0 to 63"},
    {"/kernel/io/args/2/tensor_spec/init", "{\"kind\": \"arange\", \"start\": 60}",
     "indexes: got index 64 at element 4", "indices from 0 to 63"},
    {"/kernel/io/args/2/tensor_spec/init", "{\"kind\": \"full\", \"fill_value\": -1}",
     "got index -1 at element 0", "indices from 0 to 63"},
    {"/kernel/io/args/2/tensor_spec/init",
     "{\"kind\": \"csr_column_indices\", \"high\": 64, \"row_pointers\": \"p\"}",
     "f.json:/kernel/io/args/2/tensor_spec (workload main)/init/row_pointers", "row pointers"},
    {"/kernel/io/args/2/tensor_spec/init", "{\"kind\": \"csr_row_pointers\", \"mean\": -1}",
     "f.json:/kernel/io/args/2", "a mean row length"},
    // embedded data
    {"/kernel/io/args/2/tensor_spec",
     "{\"shape\": [3], \"dtype\": \"uint8\", \"data\": {\"data_b64\": \"AAAA\", \"dtype\": "
     "\"uint8\", \"shape\": [4]}}",
     "f.json:/kernel/io/args/2/tensor_spec/data/data_b64: got 3 bytes", "4 bytes"},
    {"/kernel/io/args/2/tensor_spec",
     "{\"shape\": [3], \"dtype\": \"int8\", \"data\": {\"data_b64\": \"AAAA\", \"dtype\": "
     "\"uint8\", \"shape\": [3]}}",
     "f.json:/kernel/io/args/2/tensor_spec (workload main)/data/dtype",
     "int8, as the tensor_spec says"},
    {"/kernel/io/args/2/tensor_spec",
     "{\"shape\": [4], \"dtype\": \"uint8\", \"data\": {\"data_b64\": \"AAAA\", \"dtype\": "
     "\"uint8\", \"shape\": [3]}}",
     "f.json:/kernel/io/args/2/tensor_spec (workload main)/data/shape",
     "the shape of the tensor_spec"},
    {"/kernel/io/args/2/tensor_spec",
     "{\"shape\": [3], \"dtype\": \"uint8\", \"data\": {\"data_b64\": \"AA A\", \"dtype\": "
     "\"uint8\", \"shape\": [3]}}",
     "f.json:/kernel/io/args/2/tensor_spec/data/data_b64", "base64"},
    {"/kernel/io/args/2/tensor_spec",
     "{\"shape\": [3], \"dtype\": \"uint8\", \"data\": {\"data_b64\": \"AAAA\", \"dtype\": "
     "\"uint8\", \"shape\": [3], \"compress\": \"zlib\"}}",
     "f.json:/kernel/io/args/2/tensor_spec/data/data_b64", "a zlib stream of exactly 3 bytes"},
    // launch
    {"/kernel/io/launch", "-", "f.json:/kernel/io", "the key \"launch\""},
    {"/kernel/io/launch/grid/w", "1", "f.json:/kernel/io/launch/grid/w", "a known key (x y z)"},
    {"/kernel/io/launch/grid/x", "0", "f.json:/kernel/io/launch (workload main): got grid.x = 0",
     "CUDA's limits"},
    {"/kernel/io/launch/grid/y", "65536", "f.json:/kernel/io/launch", "CUDA's limits"},
    {"/kernel/io/launch/block/y", "\"N\"", "got threads per block = 4096", "CUDA's limits"},
    {"/kernel/io/launch/block/z", "65", "got block.z = 65", "CUDA's limits"},
    {"/kernel/io/launch/dynamic_smem_bytes", "-1", "got dynamic_smem_bytes = -1", "CUDA's limits"},
    {"/kernel/io/launch/grid/x", "\"M / (N - 64)\"", "f.json:/kernel/io/launch/grid/x",
     "a divisor other than 0"},
    {"/kernel/io/launch/grid/x", "\"N * 9223372036854775807\"", "f.json:/kernel/io/launch/grid/x",
     "overflows"},
    {"/kernel/io/launch/grid/x", "\"N ? 1 : Q\"", "f.json:/kernel/io/launch/grid/x", "'Q' is not"},
    {"/kernel/io/launch/num_warps", "0", "f.json:/kernel/io/launch/num_warps", "from 1 to 32"},
    {"/kernel/io/may_alias/0/1", "\"q\"", "f.json:/kernel/io/may_alias/0/1",
     "the name of a tensor argument"},
    {"/kernel/io/may_alias/0", "[\"o\"]", "f.json:/kernel/io/may_alias/0", "at least two tensors"},
    {"/kernel/io/may_alias/0", "[\"o\", \"o\"]", "f.json:/kernel/io/may_alias/0/0",
     "each tensor once"},
    // workloads
    {"/kernel/workloads", "[]", "f.json:/kernel/workloads", "at least one workload"},
    {"/kernel/workloads/1/name", "\"main\"", "f.json:/kernel/workloads/1/name",
     "a name that no other workload has"},
    {"/kernel/workloads/1/role", "\"fast\"", "f.json:/kernel/workloads/1/role",
     "one of score, regress, guard"},
    {"/kernel/workloads/1/target", "\"cpu\"", "f.json:/kernel/workloads/1/target",
     "one of any, gpu, host"},
    {"/kernel/workloads/1/weight", "0", "f.json:/kernel/workloads/1/weight", "a number above 0"},
    {"/kernel/workloads/1/min_speedup", "-1", "f.json:/kernel/workloads/1/min_speedup",
     "at least 0"},
    {"/kernel/workloads/1/l2", "\"warm\"", "f.json:/kernel/workloads/1/l2",
     "one of hot, cold, both"},
    {"/kernel/workloads/1/scalars/Q", "1", "f.json:/kernel/workloads/1/scalars/Q",
     "the name of a number or bool argument"},
    {"/kernel/workloads/1/scalars/x", "1", "f.json:/kernel/workloads/1/scalars/x",
     "the name of a number or bool argument"},
    {"/kernel/workloads/1/scalars/M", "1.5", "f.json:/kernel/workloads/1/scalars/M",
     "a value of the argument's type"},
    {"/kernel/workloads/1/scalars/M", "\"3\"", "f.json:/kernel/workloads/1/scalars/M",
     "a number, true or false"},
    {"/kernel/workloads/1/scalars/M", "-3", "(workload small)/shape: got -3",
     "extents of at least 1"},
    {"/kernel/workloads/1/init/q", "{\"kind\": \"ones\"}", "f.json:/kernel/workloads/1/init/q",
     "the name of a tensor argument"},
    {"/kernel/workloads/1/tensors", "{\"x\": {\"shape\": [64, 2], \"dtype\": \"float16\"}}",
     "f.json:/kernel/workloads/1/tensors/x/dtype", "float32"},
    {"/kernel/workloads/1/tensors", "{\"x\": {\"shape\": [64], \"dtype\": \"float32\"}}",
     "f.json:/kernel/workloads/1/tensors/x/shape", "2 dimensions"},
    {"/kernel/workloads/1/launch/block", "{\"x\": 2048}",
     "f.json:/kernel/workloads/1/launch (workload small)", "CUDA's limits"},
    {"/kernel/workloads/0/role", "\"regress\"", "f.json:/kernel/workloads",
     "at least one workload of role score"},
    {"/kernel/representative_shapes", "[]", "f.json:/kernel/representative_shapes",
     "either workloads or representative_shapes"},
    // tunables, constraints
    {"/tunables/0/name", "\"N\"", "f.json:/tunables/0/name", "a name that no argument"},
    {"/tunables/0/name", "\"a b\"", "f.json:/tunables/0/name", "an identifier"},
    {"/tunables/0/values", "[]", "f.json:/tunables/0/values", "at least one value"},
    {"/tunables/0/values", "[64, 32]", "f.json:/tunables/0/values", "ascending"},
    {"/tunables/0/default", "48", "f.json:/tunables/0/default", "one of the values"},
    {"/constraints/0", "\"BLOCK > 64\"", "f.json:/constraints/0",
     "constraints that the defaults satisfy in workload main"},
    {"/constraints/0", "\"BLOK > 64\"", "f.json:/constraints/0",
     "'BLOK' is not; known: BLOCK, M, N"},
    {"/constraints/0", "true", "f.json:/constraints/0", "an integer or an expression"},
    // judgement
    {"/reference", "{}", "f.json:/reference", "exactly one of"},
    {"/reference/python", "{}", "f.json:/reference/python",
     "a known key (kernel host_op command outputs)"},
    {"/reference/command", "{\"argv\": [\"run\"]}", "f.json:/reference/command",
     "only one of the keys"},
    {"/reference", "{\"command\": {\"argv\": []}}", "f.json:/reference/command/argv", "a program"},
    {"/reference", "{\"command\": {\"argv\": [\"run\"], \"timeout_s\": 0}}",
     "f.json:/reference/command/timeout_s", "seconds above 0"},
    {"/reference", "{\"kernel\": {\"kernel_name\": \"r\", \"launch\": {}}}",
     "f.json:/reference/kernel", "source_code or source_file"},
    {"/reference",
     "{\"kernel\": {\"source_code\": \"r\", \"kernel_name\": \"r\", \"launch\": {\"grid\": {\"x\": "
     "0}}}}",
     "f.json:/reference/kernel/launch", "CUDA's limits"},
    {"/reference/host_op/op", "\"\"", "f.json:/reference/host_op/op",
     "the name of a host operation"},
    {"/reference/host_op/operands/out", "\"x\"", "f.json:/reference/host_op/operands",
     "a parameter that names an output"},
    {"/tolerance/o/atol", "-1", "f.json:/tolerance/o/atol", "at least 0"},
    {"/tolerance/x", "{}", "f.json:/tolerance/x", "the name of an output, or default"},
    {"/tolerance/o/abs", "1", "f.json:/tolerance/o/abs", "a known key (atol rtol norm exact)"},
    {"/objective", "\"mean\"", "f.json:/objective", "one of geomean, weighted, worst"},
    {"/bound/flops/float8", "1", "f.json:/bound/flops/float8", "one of float64"},
    {"/bound/bytes", "\"M - 17\"", "f.json:/bound/bytes: got -1", "work of at least 0"},
    {"/bound/bytes", "\"BLOCK\"", "f.json:/bound/bytes", "'BLOCK' is not"},
};

struct TextRow {
  const char* name;
  std::string text;
  const char* place;
  const char* expected;
};

std::vector<TextRow> malformed_texts() {
  const std::string good = test::gather_spec_text();
  std::string duplicate = good;
  duplicate.insert(duplicate.find("\"launch\""), "\"launch\": {}, ");
  std::string latin = good;
  latin.insert(latin.find("gather"), "\xe9");
  return {
      {"empty", "", "f.json:line 1, column 1", "valid JSON"},
      {"a number", "42", "f.json: got 42", "a spec (object) or a list of specs"},
      {"text after the end", good + "}", "f.json:line", "valid JSON"},
      {"cut off", good.substr(0, good.size() / 2), "f.json:line", "valid JSON"},
      {"a comment", "// no\n{}", "f.json:line 1, column 1", "valid JSON"},
      {"not a number", "{\"name\": NaN}", "f.json:line 1, column", "valid JSON"},
      {"infinity", "{\"name\": 1e999}", "f.json:line 1", "valid JSON"},
      {"invalid UTF-8", latin, "f.json:line 2", "UTF-8"},
      {"a duplicate key", duplicate, "f.json:/kernel/io/launch", "each key once"},
      {"deep nesting", std::string(100, '[') + std::string(100, ']'),
       "f.json:", "at most 64 levels"},
      {"very deep nesting", std::string(1000000, '['), "f.json:", "at most 64 levels"},
      {"a list with a wrong spec", "[" + good + ", {}]", "f.json:/1", "the key \"name\""},
      {"two specs of one name", "[" + good + ", " + good + "]", "f.json:/1",
       "a name that no other spec has"},
  };
}

json good_spec() {
  return json::parse(test::gather_spec_text());
}
std::string problem(const std::string& text) {
  return message_of([&] { static_cast<void>(parse_specs(text, "f.json", ".")); });
}

}  // namespace

TEST_SUITE_BEGIN("spec_check");

TEST_CASE("a malformed spec is refused in one line with place, value and expectation") {
  CHECK(kMalformed.size() > 100);
  for (const Row& row : kMalformed) {
    json spec = good_spec();
    const json::json_pointer pointer(row.pointer);
    if (std::string_view(row.value) == "-") {
      spec[pointer.parent_pointer()].erase(pointer.back());
    } else {
      spec[pointer] = json::parse(row.value);
    }
    const std::string row_text = std::string(row.pointer) + " = " + row.value;
    CAPTURE(row_text);
    const std::string message = problem(spec.dump());
    CAPTURE(message);
    CHECK(message.find(row.place) != std::string::npos);
    CHECK(message.find(row.expected, message.find("expected ") + 9) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
  testing::report_figure("bad_inputs", kMalformed.size());
}

TEST_CASE("a text that is no spec is refused in one line") {
  for (const TextRow& row : malformed_texts()) {
    const std::string row_name = row.name;
    CAPTURE(row_name);
    const std::string message = problem(row.text);
    CAPTURE(message);
    CHECK(message.find(row.place) == 0);
    CHECK(message.find(row.expected) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
  testing::report_figure("bad_inputs", malformed_texts().size());
}

TEST_CASE("seventeen adapter ids for sixteen adapters are refused with index and value") {
  json spec = good_spec();
  json& args = spec["kernel"]["io"]["args"];
  args[1] = json::parse(
      R"({"name": "x", "type": "tensor", "tensor_spec": {"shape": [16, 64, 32], "dtype": "float16", "init": {"kind": "randn"}}})");
  args[2] = json::parse(
      R"({"name": "idx", "type": "tensor", "tensor_spec": {"shape": [17], "dtype": "int32", "indexes": "x", "init": {"kind": "arange"}}})");
  const std::string message = problem(spec.dump());
  CHECK(message.find("f.json:/kernel/io/args/2/tensor_spec (workload main)/indexes: got index 16 "
                     "at element 16, expected indices from 0 to 15") == 0);
  args[1]["tensor_spec"]["shape"][0] = 17;
  CHECK(problem(spec.dump()).empty());
}

TEST_CASE("column indices are checked against the vector and against their row pointers") {
  json spec = good_spec();
  json& args = spec["kernel"]["io"]["args"];
  spec["kernel"]["workloads"] = json::parse(R"([{"name": "main"}])");
  args[2] = json::parse(
      R"({"name": "idx", "type": "tensor", "tensor_spec": {"shape": [80], "dtype": "int32", "indexes": "x",
    "init": {"kind": "csr_column_indices", "high": "N", "row_pointers": "p"}}})");
  args.push_back(json::parse(
      R"({"name": "p", "type": "tensor", "tensor_spec": {"shape": ["M + 1"], "dtype": "int32",
    "init": {"kind": "csr_row_pointers", "mean": 5, "skew": 0.5}}})"));
  CHECK(problem(spec.dump()).empty());
  args[2]["tensor_spec"]["init"]["high"] = 65;
  CHECK(problem(spec.dump()).find("indices from 0 to 63") != std::string::npos);
  args[2]["tensor_spec"]["init"]["high"] = 64;
  args[2]["tensor_spec"]["shape"][0] = 79;
  CHECK(problem(spec.dump())
            .find("init/row_pointers: got total 80, expected ascending row pointers from 0 to at "
                  "most 79") != std::string::npos);
  args[6]["tensor_spec"]["init"] = {{"kind", "arange"}, {"step", -1}};
  CHECK(problem(spec.dump()).find("got -1 at element 1, expected ascending row pointers") !=
        std::string::npos);
  args[6]["tensor_spec"]["init"] = {
      {"kind", "csr_column_indices"}, {"high", 4}, {"row_pointers", "idx"}};
  CHECK(problem(spec.dump()).find("csr_row_pointers") != std::string::npos);
}

TEST_CASE("indices of a tensor too large to fill are judged by the bounds of its rule") {
  json spec = good_spec();
  json& args = spec["kernel"]["io"]["args"];
  args[2]["tensor_spec"]["shape"][0] = kMaxCheckedElements * 64;
  CHECK(problem(spec.dump()).empty());
  args[2]["tensor_spec"]["init"]["high"] = 65;
  CHECK(problem(spec.dump()).find("got indices of 0 to 64, expected indices from 0 to 63") !=
        std::string::npos);
  // Every byte is an index of a table of 256, whatever the seed.
  args[1]["tensor_spec"]["shape"][0] = 256;
  args[2]["tensor_spec"]["dtype"] = "uint8";
  args[2]["tensor_spec"]["init"] = {{"kind", "randn"}};
  CHECK(problem(spec.dump()).empty());
}

TEST_SUITE_END();
