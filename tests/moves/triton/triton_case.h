#pragma once

#include <string>

#include "engine/plugin/device_facts.h"
#include "engine/plugin/move.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "moves/propose/example.h"
#include "register_moves.h"

namespace warpath::test {

/// A kernel in Triton under its spec, and moves put to it. `head`: lines of an example
/// (docs/moves.md); `body`: the kernel's parameters and its body, behind "def k".
struct TritonCase {
  TritonCase(const std::string& head, const std::string& body)
      : spec(parse_example(
                 "step: none\nlanguage: triton\n" + head + "--- before\n" + kBefore + body, "case")
                 .spec),
        variant(baseline_variant(spec)) {}

  [[nodiscard]] MoveContext context() const {
    return {.spec = spec, .variant = variant, .device = device};
  }
  /// What the move lists, without its name, with blanks between.
  [[nodiscard]] std::string offered(const std::string& move) const {
    std::string out;
    for (const MoveInstance& one : registered_moves().create("test", move)->enumerate(context()))
      out += (out.empty() ? "" : " ") + one.text().substr(move.size());
    return out;
  }
  /// The source behind "def k" after a step; the reason where the move declines.
  [[nodiscard]] std::string after(const std::string& step) const {
    const MoveInstance instance = MoveInstance::parse(step, "test");
    std::string why;
    const auto out =
        registered_moves().create("test", instance.move)->apply(context(), instance, why);
    return out ? out->source.substr(std::string(kBefore).size()) : why;
  }
  /// Goes on from the result of a step.
  TritonCase& take(const std::string& step) {
    const MoveInstance instance = MoveInstance::parse(step, "test");
    std::string why;
    auto out = registered_moves().create("test", instance.move)->apply(context(), instance, why);
    if (out)
      variant = *std::move(out);
    else
      variant.source = why;
    return *this;
  }

  static constexpr const char* kBefore =
      "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k";
  KernelSpec spec;
  Variant variant;
  DeviceFacts device = example_device();
};

}  // namespace warpath::test
