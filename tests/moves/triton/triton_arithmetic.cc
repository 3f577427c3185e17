#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/rng.h"
#include "engine/plugin/move.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/variant.h"
#include "moves/propose/example.h"
#include "register_moves.h"
#include "tests/support/figure.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/triton_interpreter.h"

using namespace warpath;
using test::InterpretedLaunch;
using test::TritonInterpreter;
namespace fs = std::filesystem;

namespace {

/// A kernel, and small sizes that its tiles divide, divide in part, and do not.
struct Kernel {
  std::string name;
  std::vector<Bindings> sizes;
};

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> kAll{
      {"softmax",
       {{{"N", 8}, {"C", 64}, {"COLUMNS", 64}},
        {{"N", 5}, {"C", 64}, {"COLUMNS", 64}},
        {{"N", 5}, {"C", 50}, {"COLUMNS", 64}}}},
      {"matmul",
       {{{"M", 384}, {"N", 128}, {"K", 64}},
        {{"M", 192}, {"N", 128}, {"K", 40}},
        {{"M", 130}, {"N", 72}, {"K", 40}}}},
      {"lora_expand", {{{"T", 4}, {"N", 256}, {"L", 3}}, {{"T", 4}, {"N", 200}, {"L", 3}}}},
      {"layer_norm", {{{"m", 3}, {"n", 128}}, {{"m", 3}, {"n", 96}}, {{"m", 3}, {"n", 100}}}},
      {"transpose", {{{"m", 64}, {"n", 96}}, {{"m", 48}, {"n", 64}}, {{"m", 50}, {"n", 70}}}},
      {"grouped_matmul",
       {{{"m", 64}, {"n", 64}, {"d", 64}},
        {{"m", 48}, {"n", 32}, {"d", 40}},
        {{"m", 25}, {"n", 35}, {"d", 50}}}},
      {"dropout", {{{"n", 512}}, {{"n", 384}}, {{"n", 500}}}},
      {"outer", {{{"m", 80}, {"n", 96}}, {{"m", 48}, {"n", 80}}, {{"m", 50}, {"n", 70}}}},
      {"blur", {{{"n", 256}}, {{"n", 192}}, {{"n", 200}}}},
      {"column_sums", {{{"m", 64}, {"n", 128}}, {{"m", 48}, {"n", 96}}, {{"m", 50}, {"n", 70}}}},
      {"repeated", {{{"n", 128}}}},
      {"wrapped", {{{"n", 512}}}},
      {"countdown", {{{"n", 256}}}},
      {"row_softmax", {{{"m", 8}, {"n", 192}}, {{"m", 6}, {"n", 96}}, {{"m", 5}, {"n", 100}}}},
      {"taps",
       {{{"m", 32}, {"n", 32}, {"d", 64}},
        {{"m", 48}, {"n", 16}, {"d", 48}},
        {{"m", 25}, {"n", 35}, {"d", 50}}}},
  };
  return kAll;
}

KernelSpec spec_of(const std::string& name, const std::vector<Bindings>& sizes) {
  const fs::path root = WARPATH_SOURCE_ROOT, own = root / "specs/triton" / (name + ".json"),
                 text = root / "tests/data/triton" / (name + ".txt");
  KernelSpec spec =
      fs::exists(own)
          ? load_specs(own.string()).front()
          : parse_example("step: none\nlanguage: triton\n" + test::text_of(text), text.string())
                .spec;
  spec.workloads.resize(1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) spec.workloads.push_back(spec.workloads.front());
    spec.workloads.back().name = "sizes" + std::to_string(i);
    for (const auto& [argument, value] : sizes[i]) spec.workloads.back().scalars[argument] = value;
  }
  return spec;
}

/// The spec's kernel with every tunable at the next of its values, or the one before the last.
Variant other_tunables(const KernelSpec& spec) {
  Variant out = baseline_variant(spec);
  for (const Tunable& one : spec.tunables) {
    const auto at = std::ranges::find(one.values, one.default_value);
    out.tunables[one.name] = at + 1 == one.values.end() ? *(at - 1) : *(at + 1);
  }
  std::string why;
  REQUIRE_MESSAGE(satisfies_constraints(spec, out, why), why);
  return out;
}

/// The spec's own text under the tunables of a variant.
Variant own_text(const KernelSpec& spec, const Variant& variant) {
  Variant out = baseline_variant(spec);
  out.tunables = variant.tunables;
  return out;
}

std::vector<MoveInstance> instances(const KernelSpec& spec,
                                    const Variant& variant,
                                    const std::string& move) {
  const DeviceFacts device = example_device();
  return registered_moves().create("test", move)->enumerate({spec, variant, device});
}

Variant applied(const KernelSpec& spec, const Variant& variant, const MoveInstance& instance) {
  const DeviceFacts device = example_device();
  std::string why;
  const auto out = registered_moves()
                       .create("test", instance.move)
                       ->apply({spec, variant, device}, instance, why);
  REQUIRE_MESSAGE(out.has_value(), instance.text(), ": ", why);
  return *out;
}

std::vector<std::string> triton_moves() {
  std::vector<std::string> out;
  for (const auto& [name, entry] : registered_moves().entries()) {
    if (name.starts_with("triton_")) out.push_back(name);
  }
  return out;
}

/// Sums are added up in another order.
bool rounds(const std::string& path) {
  return path.find("triton_loop_order") != std::string::npos;
}

bool failed_assertion(const InterpretedLaunch& launch) {
  return launch.end.starts_with("AssertionError");
}

/// Texts that moves made, each held against the spec's own text under the same tunables.
class Comparison {
 public:
  /// `may_assert`: tunables were set after a move.
  void add(const KernelSpec& spec,
           const Variant& made,
           const std::string& path,
           bool may_assert = false) {
    for (const Workload& workload : spec.workloads) {
      const std::size_t own = interpreter_.add(spec, workload, own_text(spec, made));
      pairs_.push_back({spec.kernel_name + "/" + workload.name + ": " + path, own,
                        interpreter_.add(spec, workload, made), may_assert});
    }
  }

  /// All compute the same, bit for bit, and the spec's own texts what the references do; so do
  /// those that add up in another order.
  void check() {
    const std::vector<InterpretedLaunch> launches = interpreter_.run();
    for (const Pair& pair : pairs_) {
      CAPTURE(pair.path);
      const InterpretedLaunch &own = launches[pair.own], &made = launches[pair.made];
      CHECK(own.end == "");
      CHECK(own.error <= 1);
      if (pair.may_assert && failed_assertion(made)) {
        ++assertions;
        continue;
      }
      CHECK(made.end == "");
      if (rounds(pair.path)) {
        CHECK(made.error <= 1);
        others += made.written == own.written ? 0U : 1U;
      } else {
        CHECK(made.written == own.written);
      }
    }
    texts = pairs_.size();
  }

  std::size_t texts = 0, assertions = 0;
  std::size_t others = 0;  ///< with other bits in their results

 private:
  struct Pair {
    std::string path;
    std::size_t own, made;
    bool may_assert;
  };
  TritonInterpreter interpreter_;
  std::vector<Pair> pairs_;
};

std::string without_assertions(std::string text) {
  for (std::size_t at = 0; (at = text.find("    tl.static_assert(")) != std::string::npos;)
    text.erase(at, text.find('\n', at) + 1 - at);
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("triton_arithmetic");  // needs a Python with Triton and numpy

TEST_CASE("what any move makes of a kernel computes the same, bit for bit") {
  Comparison comparison;
  for (const Kernel& kernel : kernels()) {
    for (const Bindings& sizes : kernel.sizes) {
      const KernelSpec spec = spec_of(kernel.name, {sizes});
      const std::vector<Variant> beginnings{baseline_variant(spec), other_tunables(spec)};
      for (const Variant& before : beginnings) {
        for (const std::string& move : triton_moves()) {
          for (const MoveInstance& instance : instances(spec, before, move))
            comparison.add(spec, applied(spec, before, instance), instance.text());
        }
      }
    }
  }
  comparison.check();
  CHECK(comparison.texts > 900);
  CHECK(comparison.others > 0);
  testing::report_figure("triton_texts", comparison.texts);
}

TEST_CASE("so does what two or three moves and other tunables make of it, or it does not compile") {
  constexpr int kChains = 6;
  Comparison comparison;
  Rng rng(1, "chains");
  std::vector<std::string> moves = triton_moves();
  moves.emplace_back("set_tunable");
  for (const Kernel& kernel : kernels()) {
    for (const Bindings& sizes : kernel.sizes) {
      const KernelSpec spec = spec_of(kernel.name, {sizes});
      for (int chain = 0; chain < kChains; ++chain) {
        Variant variant = chain < kChains / 2 ? baseline_variant(spec) : other_tunables(spec);
        std::string path;
        bool may_assert = false;
        int steps = 0;
        for (int tries = 0; tries < 20 && steps < 2 + chain % 2; ++tries) {
          const auto found = instances(spec, variant, moves[rng.below(moves.size())]);
          if (found.empty()) continue;
          ++steps;
          const MoveInstance& instance = found[rng.below(found.size())];
          may_assert = may_assert || (instance.move == "set_tunable" && !path.empty());
          variant = applied(spec, variant, instance);
          path += instance.text() + "; ";
        }
        std::string why;
        if (satisfies_constraints(spec, variant, why))
          comparison.add(spec, variant, path, may_assert);
      }
    }
  }
  comparison.check();
  CHECK(comparison.texts > 150);
  testing::report_figure("triton_chains", comparison.texts);
  CHECK(comparison.assertions > 0);
}

TEST_CASE("masks that were dropped are asserted: without the assertion other tunables are wrong") {
  TritonInterpreter interpreter;
  struct Launches {
    std::string path;
    std::size_t own, asserted, bare;
  };
  std::vector<Launches> all;
  for (const Kernel& kernel : kernels()) {
    for (const Bindings& sizes : kernel.sizes) {
      const KernelSpec spec = spec_of(kernel.name, {sizes});
      const std::vector<Variant> beginnings{baseline_variant(spec), other_tunables(spec)};
      for (std::size_t i = 0; i < beginnings.size(); ++i) {
        for (const MoveInstance& instance : instances(spec, beginnings[i], "triton_mask_off")) {
          Variant made = applied(spec, beginnings[i], instance), bare = made;
          made.tunables = bare.tunables = beginnings[1 - i].tunables;
          bare.source = without_assertions(bare.source);
          const Workload& workload = spec.workloads.front();
          all.push_back({kernel.name + std::to_string(i),
                         interpreter.add(spec, workload, own_text(spec, made)),
                         interpreter.add(spec, workload, made),
                         interpreter.add(spec, workload, bare)});
        }
      }
    }
  }
  const std::vector<InterpretedLaunch> launches = interpreter.run();
  std::size_t failed = 0;
  for (const Launches& one : all) {
    CAPTURE(one.path);
    const InterpretedLaunch &own = launches[one.own], &bare = launches[one.bare];
    const bool same = bare.end.empty() && bare.written == own.written;
    // neither lets a wrong text pass nor refuses one that is right
    CHECK(failed_assertion(launches[one.asserted]) != same);
    failed += same ? 0 : 1;
  }
  CHECK(failed > 0);
}

TEST_CASE("a kernel for two sizes computes the same for both") {
  Comparison comparison;
  for (const Kernel& kernel : kernels()) {
    if (kernel.sizes.size() < 2) continue;
    const KernelSpec spec = spec_of(kernel.name, {kernel.sizes.front(), kernel.sizes.back()});
    for (const MoveInstance& instance :
         instances(spec, baseline_variant(spec), "triton_mask_off")) {
      const Variant made = applied(spec, baseline_variant(spec), instance);
      comparison.add(spec, made, instance.text());
      CHECK(made.versions.size() == 2);
    }
  }
  comparison.check();
  CHECK(comparison.texts > 4);
}

TEST_CASE("a text that leaves out a mask, a tile or the order of a sum is seen") {
  struct Wrong {
    std::string kernel;
    Bindings sizes;
    std::string step, from, to;
    const char* end;  ///< what ends the launch; empty: its results differ
    bool within_tolerance;
  };
  const std::vector<Wrong> all{
      {"dropout",
       {{"n", 500}},
       "",
       "value, 0.0), mask=inside)",
       "value, 0.0))",
       "Outside: a store outside of all tensors",
       false},
      {"dropout",
       {{"n", 500}},
       "",
       "x + i, mask=inside)",
       "x + i)",
       "Outside: a load outside of all tensors",
       false},
      {"dropout", {{"n", 500}}, "", "inside = i < n", "inside = i < n - 1", "", false},
      {"outer",
       {{"m", 80}, {"n", 96}},
       "triton_program_order(group=2)",
       "tile_row, tile_column =",
       "tile_column, tile_row =",
       "",
       false},
      {"outer",
       {{"m", 80}, {"n", 96}},
       "triton_program_order(group=2)",
       "// width, width, 2)",
       "// width, width - 1, 2)",
       "",
       false},
      {"grouped_matmul",
       {{"m", 48}, {"n", 64}, {"d", 64}},
       "triton_program_order(group=4)",
       "program_row, program_column =",
       "program_column, program_row =",
       "",
       false},
      {"column_sums",
       {{"m", 64}, {"n", 128}},
       "",
       "tl.range(0, m, S)",
       "tl.range(m - S, -1, -S)",
       "",
       true},
      {"row_softmax",
       {{"m", 5}, {"n", 100}},
       "triton_loop_order@loop:1(order=1)",
       "-1, -T)",
       "0, -T)",
       "",
       false},
      {"layer_norm",
       {{"m", 3}, {"n", 100}},
       "triton_loop_order@loop:2(order=1)",
       "(tl.cdiv(n, T) - 1) * T",
       "(tl.cdiv(n, T) - 2) * T",
       "",
       false},
      {"taps",
       {{"m", 25}, {"n", 35}, {"d", 50}},
       "triton_loop_order@loop:0(order=2)",
       "for tap in range(3)",
       "for tap in range(1, 3)",
       "",
       false},
      {"layer_norm",
       {{"m", 3}, {"n", 100}},
       "triton_size_multiple@argument:n(multiple=4)",
       "n // 4 * 4",
       "n // 8 * 8",
       "",
       false},
      {"column_sums",
       {{"m", 64}, {"n", 128}},
       "triton_mask_off@masks",
       "static_assert(",
       "static_assert(not ",
       "AssertionError: ",
       false},
  };
  TritonInterpreter interpreter;
  std::vector<std::size_t> own, wrong;
  for (const Wrong& one : all) {
    const KernelSpec spec = spec_of(one.kernel, {one.sizes});
    Variant variant = baseline_variant(spec);
    own.push_back(interpreter.add(spec, spec.workloads.front(), variant));
    if (!one.step.empty()) variant = applied(spec, variant, MoveInstance::parse(one.step, "test"));
    const std::size_t at = variant.source.find(one.from);
    REQUIRE_MESSAGE(at != std::string::npos, variant.source);
    variant.source.replace(at, one.from.size(), one.to);
    wrong.push_back(interpreter.add(spec, spec.workloads.front(), variant));
  }
  const std::vector<InterpretedLaunch> launches = interpreter.run();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].kernel);
    CAPTURE(all[i].to);
    const InterpretedLaunch& one = launches[wrong[i]];
    CHECK(one.end == all[i].end);
    CHECK(one.written != launches[own[i]].written);
    if (one.end.empty()) CHECK((one.error <= 1) == all[i].within_tolerance);
  }
}

TEST_SUITE_END();
