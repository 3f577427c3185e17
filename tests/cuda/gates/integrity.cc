#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "engine/spec/spec_load.h"
#include "experiments/setup/candidates.h"
#include "runners/cuda/code/ptx_reach.h"
#include "runners/cuda/plan/gate_table.h"
#include "runners/inputs/arguments.h"
#include "tests/cuda/support.h"

using warpath::Candidate;
using warpath::GateResult;
using warpath::KernelSpec;
using warpath::Status;
using warpath::cuda::CodeGate;
using warpath::cuda::CompileResult;
using warpath::cuda::GateInfo;
using warpath::cuda::GatePhase;
using warpath::cuda::GateSubject;
using warpath::cuda::GateTable;
namespace fs = std::filesystem;

namespace {

fs::path source_root() {
  return fs::path(WARPATH_SOURCE_ROOT);
}

struct Family {
  KernelSpec spec;
  std::vector<Candidate> candidates;
};

std::vector<Family> families() {
  std::vector<fs::path> folders;
  for (const char* suite : {"integrity", "honest"}) {
    for (const auto& entry : fs::directory_iterator(source_root() / "tests" / "data" / suite)) {
      if (entry.is_directory()) folders.push_back(entry.path());
    }
  }
  std::ranges::sort(folders);
  std::vector<Family> out;
  for (const fs::path& folder : folders) {
    const fs::path shipped = source_root() / "specs" / (folder.filename().string() + ".json");
    auto specs = warpath::load_specs(
        (fs::exists(folder / "spec.json") ? folder / "spec.json" : shipped).string());
    REQUIRE(specs.size() == 1);
    Family family{.spec = std::move(specs.front()), .candidates = {}};
    family.candidates = warpath::read_candidates(family.spec, {(folder / "list.jsonl").string()});
    out.push_back(std::move(family));
  }
  return out;
}

/// The gate on text or code that does not pass, with its reason; empty where all do.
std::pair<std::string, std::string> refusal(const GateTable& gates,
                                            GatePhase phase,
                                            const GateSubject& subject) {
  for (const GateInfo& row : gates.rows()) {
    const CodeGate* const gate = row.phase == phase ? gates.code_gate(row.name) : nullptr;
    if (gate == nullptr) continue;
    const GateResult result = gate->judge(subject);
    if (result.answer != GateResult::Answer::pass) return {result.gate, result.detail};
  }
  return {};
}

/// The same over both phases; "compiler" where there is no code.
std::pair<std::string, std::string> refusal(const GateTable& gates,
                                            const KernelSpec& spec,
                                            const Candidate& candidate) {
  GateSubject subject{.spec = &spec, .source = &candidate.variant.source};
  if (auto by_text = refusal(gates, GatePhase::text, subject); !by_text.first.empty())
    return by_text;
  std::vector<std::string> options = candidate.variant.compiler_options;
  for (const auto& [name, text] :
       warpath::workload_macros(spec, spec.workloads.front(), candidate.variant.tunables)) {
    options.push_back("-D" + name + "=" + text);
  }
  const CompileResult code =
      cuda_test::compile(candidate.variant.source, candidate.variant.kernel_name, options);
  if (code.status != Status::ok) return {"compiler", code.log};
  std::string why;
  auto ptx = warpath::cuda::parse_ptx(code.ptx, why);
  REQUIRE_MESSAGE(ptx, candidate.name, ": ", why);
  std::vector<std::string> entries = warpath::step_kernels(candidate.variant);
  entries.push_back(code.lowered_name);
  warpath::cuda::keep_reached(*ptx, entries);
  subject.code = &code;
  subject.ptx = &*ptx;
  return refusal(gates, GatePhase::code, subject);
}

bool names_static_gate(const GateTable& gates, const Candidate& candidate) {
  if (warpath::is_expected_gate(candidate.expectation, "compiler")) return true;
  return std::ranges::any_of(gates.rows(), [&](const GateInfo& row) {
    return row.phase <= GatePhase::code &&
           warpath::is_expected_gate(candidate.expectation, row.name);
  });
}

}  // namespace

TEST_SUITE_BEGIN("integrity_lists");

TEST_CASE("every candidate has a row and an expectation, and every refused one a gate") {
  const GateTable gates;
  const bool builds_device_gates = gates.device_gate("reference") != nullptr;
  std::set<std::int64_t> rows;
  int honest = 0, bad = 0;
  for (const Family& family : families()) {
    CAPTURE(family.spec.name);
    int honest_here = 0;
    for (const Candidate& candidate : family.candidates) {
      CAPTURE(candidate.name);
      const auto& expectation = candidate.expectation;
      CHECK(expectation.row >= 1);
      CHECK((expectation.status == "ok" || expectation.status == "refused"));
      CHECK(expectation.gates.empty() == (expectation.status == "ok"));
      CHECK(candidate.name.starts_with("honest_") == (expectation.status == "ok"));
      for (const std::string& gate : expectation.gates) {
        CAPTURE(gate);
        const bool is_gate =
            std::ranges::find(gates.rows(), gate, &GateInfo::name) != gates.rows().end();
        CHECK((is_gate || gate == "compiler" || !builds_device_gates));
      }
      rows.insert(expectation.row);
      honest_here += expectation.status == "ok" ? 1 : 0;
      bad += expectation.status == "ok" ? 0 : 1;
    }
    CHECK(honest_here >= 1);
    honest += honest_here;
  }
  MESSAGE(bad << " bad kernels over " << rows.size() << " rows, " << honest << " honest ones");
  CHECK(rows.size() >= 45);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("nvrtc_integrity");

TEST_CASE(
    "the static gates refuse exactly the kernels whose list says so, and the others compile") {
  const GateTable gates;
  for (const Family& family : families()) {
    for (const Candidate& candidate : family.candidates) {
      // a compile that does not end
      if (warpath::is_expected_gate(candidate.expectation, warpath::cuda::kCompileGate)) continue;
      CAPTURE(family.spec.name);
      CAPTURE(candidate.name);
      const auto [gate, reason] = refusal(gates, family.spec, candidate);
      CAPTURE(gate);
      CAPTURE(reason);
      CHECK((gate.empty() ? !names_static_gate(gates, candidate)
                          : warpath::is_expected_gate(candidate.expectation, gate)));
    }
  }
}

TEST_CASE("the specs' own kernels and references compile and pass") {
  const GateTable gates;
  for (const Family& family : families()) {
    CAPTURE(family.spec.name);
    const Candidate own{
        .name = "own", .variant = warpath::baseline_variant(family.spec), .expectation = {}};
    const auto [gate, reason] = refusal(gates, family.spec, own);
    CAPTURE(reason);
    CHECK(gate == "");
    if (const auto* reference = std::get_if<warpath::ReferenceKernel>(&family.spec.reference)) {
      const CompileResult code = cuda_test::compile(reference->source, reference->kernel_name);
      CAPTURE(code.log);
      CHECK(code.status == Status::ok);
    }
  }
}

TEST_SUITE_END();
