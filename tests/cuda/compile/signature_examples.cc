#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "moves/propose/example.h"
#include "priors/evidence/signatures.h"
#include "register_moves.h"
#include "runners/cuda/compile/compile_check.h"
#include "runners/cuda/options.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

CudaOptions options() {
  CudaOptions out;
  out.compile_workers = 2;
  out.cache_mib = 0;
  out.compile_seconds = 120;  // a machine that does much else
  return out;
}

/// Where the compiler makes of the example's text by itself what the move makes of it: a loop over
/// nine constants is unrolled anyway, one without a factor by 4, an early return is a predicate,
/// and helpers and macros are written out.
constexpr std::string_view kCompilerDoesIt[] = {"constant_operand", "normalise",
                                                "pad_tail_and_mask", "unroll_loops"};

}  // namespace

TEST_SUITE_BEGIN("nvrtc_signatures");

TEST_CASE(
    "the example of every move shows its signature in the code that NVRTC makes of it, but where "
    "the compiler does the same by itself") {
  const MoveRegistry& registry = registered_moves();
  const MoveTable moves(registry);
  const Disassembler tool;  // PTX is the same wherever NVRTC is
  for (const EmbeddedExample& embedded : embedded_examples()) {
    CAPTURE(embedded.move);
    const MoveExample example = parse_example(embedded.text, std::string(embedded.move));
    if (example.spec.kernel_type != KernelType::cuda) continue;  // suite triton
    const ExampleResult done = run_example(example, moves);
    CompileCheck check(options(), "/proc/self/exe", "sm_90a");
    check.prepare(example.spec);
    std::string why;
    const auto before = check.code(done.before, tool, why);
    REQUIRE_MESSAGE(before.has_value(), why);
    const auto after = check.code(done.after, tool, why);
    REQUIRE_MESSAGE(after.has_value(), why);
    CHECK_FALSE(before->ptx.empty());
    const CodeEvidence evidence =
        SignatureTable::built_in().compare(done.instance, *before, *after);
    CAPTURE(evidence.why);
    const bool no_trace =
        std::ranges::find(kCompilerDoesIt, embedded.move) != std::end(kCompilerDoesIt);
    CHECK(evidence.realised == !no_trace);
    // And nothing shows where there was no move.
    CHECK(SignatureTable::built_in().compare(done.instance, *before, *before).realised == false);
  }
}

TEST_SUITE_END();
