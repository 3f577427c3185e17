#include "runners/cuda/plan/gate_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#include "runners/cuda/code/ptx_reach.h"
#include "tests/cuda/support.h"

using warpath::ArgRole;
using warpath::ArgSpec;
using warpath::ArgType;
using warpath::DType;
using warpath::GateResult;
using warpath::KernelSpec;
using warpath::Status;
using warpath::cuda::CodeGate;
using warpath::cuda::CompileResult;
using warpath::cuda::GateInfo;
using warpath::cuda::GatePhase;
using warpath::cuda::GateSubject;
using warpath::cuda::GateTable;

namespace {

/// A kernel of tests/data/cuda: what it does, who refuses it ("accept": nobody; "compile_error":
/// the compiler) and its contract, in its first three lines.
struct Case {
  std::string name;
  std::string expect;
  std::vector<std::string> contract;
  std::string source;
  [[nodiscard]] bool honest() const { return expect == "accept"; }
};

std::string after(const std::string& line, const std::string& prefix) {
  REQUIRE_MESSAGE(line.starts_with(prefix), line);
  return line.substr(prefix.size());
}

std::vector<Case> load_cases() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(cuda_test::data_folder()))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Case> cases;
  for (const auto& path : paths) {
    Case found{.name = path.stem().string(),
               .expect = {},
               .contract = {},
               .source = cuda_test::read_file(path)};
    std::istringstream lines(found.source);
    std::string what, expect, contract, word;
    std::getline(lines, what);
    std::getline(lines, expect);
    std::getline(lines, contract);
    found.expect = after(expect, "// expect: ");
    std::istringstream words(after(contract, "// contract: "));
    while (words >> word) found.contract.push_back(word);
    cases.push_back(std::move(found));
  }
  return cases;
}

/// k(const T* x, T* y, int n); the words of the contract are the types of its work bound, the first
/// that of its tensors.
KernelSpec spec_of(const Case& found) {
  const DType dtype = warpath::parse_dtype(found.contract.front()).value_or(DType::f32);
  KernelSpec spec;
  spec.kernel_name = "k";
  for (const char* name : {"x", "y"}) {
    ArgSpec arg;
    arg.name = name;
    arg.role = *name == 'x' ? ArgRole::input : ArgRole::output;
    arg.tensor.emplace().dtype = dtype;
    spec.io.args.push_back(arg);
  }
  ArgSpec length;
  length.name = "n";
  length.type = ArgType::integer;
  length.role = ArgRole::scalar;
  spec.io.args.push_back(length);
  for (const std::string& word : found.contract) {
    if (!word.starts_with("option:")) spec.bound.flops.emplace(word, warpath::Expression(1));
  }
  return spec;
}

const GateTable& gates() {
  static const GateTable table;
  return table;
}

GateResult judge(const std::string& gate, const GateSubject& subject) {
  return gates().code_gate(gate)->judge(subject);
}

/// The first gate of a phase that does not pass, with its reason; empty where all do.
std::pair<std::string, std::string> refusal(GatePhase phase, const GateSubject& subject) {
  for (const GateInfo& row : gates().rows()) {
    const CodeGate* const gate = row.phase == phase ? gates().code_gate(row.name) : nullptr;
    if (gate == nullptr) continue;
    const GateResult result = gate->judge(subject);
    if (result.answer != GateResult::Answer::pass) return {result.gate, result.detail};
  }
  return {};
}

/// "accept", "compile_error", or the first gate that refuses, with its reason.
std::pair<std::string, std::string> verdict_of(const Case& found) {
  const KernelSpec spec = spec_of(found);
  GateSubject subject{.spec = &spec, .source = &found.source};
  if (auto by_text = refusal(GatePhase::text, subject); !by_text.first.empty()) return by_text;
  std::vector<std::string> options;
  for (const std::string& word : found.contract) {
    if (word.starts_with("option:")) options.push_back(word.substr(7));
  }
  const CompileResult code = cuda_test::compile(found.source, "k", options);
  if (code.status != Status::ok) return {"compile_error", code.log};
  std::string why;
  auto ptx = warpath::cuda::parse_ptx(code.ptx, why);
  REQUIRE_MESSAGE(ptx, found.name, ": ", why);
  warpath::cuda::keep_reached(*ptx, {code.lowered_name});
  subject.code = &code;
  subject.ptx = &*ptx;
  if (auto by_code = refusal(GatePhase::code, subject); !by_code.first.empty()) return by_code;
  return {"accept", ""};
}

}  // namespace

TEST_SUITE_BEGIN("source_gate");

TEST_CASE("every way to another file is refused by the text alone, and honest texts pass") {
  int refused = 0;
  for (const Case& found : load_cases()) {
    CAPTURE(found.name);
    const KernelSpec spec = spec_of(found);
    const GateResult result = judge("source_text", {.spec = &spec, .source = &found.source});
    CAPTURE(result.detail);
    CHECK((result.answer == GateResult::Answer::fail) == (found.expect == "source_text"));
    refused += result.answer == GateResult::Answer::fail ? 1 : 0;
  }
  CHECK(refused >= 18);
}

TEST_CASE("a variant for nvcc may include what the spec's own kernel includes, and no more") {
  KernelSpec spec;
  spec.source = "#include <vector>\n__global__ void k(float* o) {}\n";
  const std::string same = "#include <vector>\n__global__ void k(float* o) { o[0] = 1; }\n";
  const std::string other = "#include \"/etc/passwd\"\n" + same;
  const auto answer = [&](const std::string& text) {
    return judge("source_text", {.spec = &spec, .source = &text});
  };
  CHECK(answer(same).answer == GateResult::Answer::fail);
  CHECK(answer(same).detail.find("\"backend\": \"nvcc\"") != std::string::npos);
  spec.compiler = warpath::DeviceCompiler::nvcc;
  CHECK(answer(same).answer == GateResult::Answer::pass);
  CHECK(answer(other).answer == GateResult::Answer::fail);
  CHECK(answer(other).detail.find("nvcc") == std::string::npos);
}

TEST_CASE("a gate says what it lacks instead of passing") {
  const KernelSpec spec;
  for (const GateInfo& row : gates().rows()) {
    const CodeGate* const gate = gates().code_gate(row.name);
    if (gate == nullptr) continue;
    const GateResult result = gate->judge({.spec = &spec});
    CHECK(result.gate == row.name);
    CHECK(result.answer == GateResult::Answer::not_run);
    CHECK_FALSE(result.detail.empty());
  }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("nvrtc_gates");

TEST_CASE("each cheat is refused by the gate meant for it and each honest look-alike passes") {
  std::map<std::pair<std::string, std::string>, int> matrix;
  int false_accepts = 0, false_rejects = 0, total = 0;
  for (const Case& found : load_cases()) {
    const auto [verdict, reason] = verdict_of(found);
    CAPTURE(found.name);
    CAPTURE(reason);
    CHECK(verdict == found.expect);
    ++total;
    ++matrix[{found.expect, verdict}];
    false_accepts += !found.honest() && verdict == "accept" ? 1 : 0;
    false_rejects += found.honest() && verdict != "accept" ? 1 : 0;
  }
  std::printf("%-16s %-16s %s\n", "expected", "verdict", "kernels");
  for (const auto& [cell, count] : matrix)
    std::printf("%-16s %-16s %d\n", cell.first.c_str(), cell.second.c_str(), count);
  std::printf("%d kernels, %d false accepts, %d false rejects\n", total, false_accepts,
              false_rejects);
  CHECK(false_accepts == 0);
  CHECK(false_rejects == 0);
}

TEST_CASE("what the baseline does is allowed") {
  const Case fast{
      "",
      "",
      {"float32"},
      "extern \"C\" __global__ void k(const float* x, float* y, int n) { y[n] = __expf(x[n]); }"};
  const KernelSpec spec = spec_of(fast);
  const CompileResult code = cuda_test::compile(fast.source);
  REQUIRE_MESSAGE(code.status == Status::ok, code.log);
  std::string why;
  const auto ptx = warpath::cuda::parse_ptx(code.ptx, why);
  REQUIRE(ptx);
  GateSubject subject{.spec = &spec, .source = &fast.source, .code = &code, .ptx = &*ptx};
  CHECK(judge("instruction_precision", subject).answer == GateResult::Answer::fail);
  subject.baseline_ptx = &*ptx;
  CHECK(judge("instruction_precision", subject).answer == GateResult::Answer::pass);
}

TEST_CASE(
    "tensor cores may multiply halves if every matrix is of halves, whether the spec counts them "
    "or "
    "not") {
  const Case products{"",
                      "",
                      {"float16"},
                      R"(#include <mma.h>
extern "C" __global__ void k(const __half* x, __half* y, int n) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0f);
  load_matrix_sync(a, x, 16);
  load_matrix_sync(b, x + n, 16);
  mma_sync(c, a, b, c);
  for (int i = 0; i < c.num_elements; ++i) y[32 * i + threadIdx.x] = __float2half(c.x[i]);
})"};
  KernelSpec spec = spec_of(products);
  spec.bound.flops.clear();
  const CompileResult code = cuda_test::compile(products.source);
  REQUIRE_MESSAGE(code.status == Status::ok, code.log);
  std::string why;
  const auto ptx = warpath::cuda::parse_ptx(code.ptx, why);
  REQUIRE(ptx);
  const GateSubject subject{.spec = &spec, .source = &products.source, .code = &code, .ptx = &*ptx};
  CHECK(judge("instruction_precision", subject).answer == GateResult::Answer::pass);
  ArgSpec scales = spec.io.args.front();
  scales.name = "scales";
  scales.tensor->dtype = DType::f32;
  scales.tensor->shape = {warpath::Expression(1)};
  spec.io.args.push_back(scales);
  CHECK(judge("instruction_precision", subject).answer == GateResult::Answer::pass);
  spec.io.args.back().tensor->shape.emplace_back(1);
  CHECK(judge("instruction_precision", subject).answer == GateResult::Answer::fail);
}

TEST_SUITE_END();
