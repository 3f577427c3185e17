#include "runners/cuda/code/ptx_delays.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "engine/base/rng.h"
#include "engine/base/temporary_folder.h"
#include "engine/spec/spec_load.h"
#include "experiments/setup/candidates.h"
#include "moves/propose/example.h"
#include "register_gates.h"
#include "register_moves.h"
#include "runners/cuda/code/ptx.h"
#include "runners/cuda/code/ptx_rounding.h"
#include "runners/cuda/compile/compile_service.h"
#include "runners/cuda/driver/toolkit_program.h"
#include "tests/cuda/support.h"
#include "tests/support/figure.h"

using namespace warpath;
using namespace warpath::cuda;
namespace fs = std::filesystem;

namespace {

std::string entry(const std::string& body, const std::string& directives = "") {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 "
         "k_param_0)\n" +
         directives +
         "{\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .pred %p<9>;\n.shared "
         ".align 4 .b8 tile[512];\n" +
         body + "ret;\n}\n";
}

/// How often `what` stands in `text`.
std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// What is left of a rewritten text without our instructions: all that stood there before, in its
/// order.
std::vector<std::string> opcodes(const std::string& text, bool ours_too) {
  std::string why;
  const auto module = parse_ptx(text, why);
  REQUIRE_MESSAGE(module, why);
  std::vector<std::string> out;
  for (const PtxFunction& function : module->functions) {
    for (const PtxInstruction& i : function.instructions) {
      bool ours = i.guard.find("wpd_") != std::string_view::npos;
      for (const auto operand : i.operands)
        ours = ours || operand.find("wpd_") != std::string_view::npos;
      if (ours && !ours_too) continue;
      out.emplace_back(i.opcode);
    }
  }
  return out;
}

/// Assembles; the assembler's complaint, empty if it takes the text.
std::string assemble(const std::string& ptxas, const std::string& text) {
  const TemporaryFolder path;
  std::ofstream(path / "a.ptx") << text;
  const std::string command = ptxas + " -arch=sm_90a " + (path / "a.ptx").string() + " -o " +
                              (path / "a.cubin").string() + " > " + (path / "log").string() +
                              " 2>&1";
  const int status = std::system(command.c_str());
  std::string log;
  if (status != 0) log = "ptxas: " + cuda_test::read_file(path / "log").substr(0, 400);
  return log;
}

}  // namespace

TEST_SUITE_BEGIN("ptx_delays");

TEST_CASE(
    "a warp may be slow behind barriers and waits, before arrivals, and before runs of accesses of "
    "one kind") {
  const auto sites = [](const std::string& body) { return delay_ptx(entry(body), 128).sites; };
  CHECK(sites("add.s32 %r1, %r1, 1;\n") == 0);
  CHECK(sites("bar.sync 0;\n") == 2);
  CHECK(sites("cp.async.wait_group 0;\n") == 1);
  CHECK(sites("mbarrier.arrive.shared.b64 _, [%r1];\n") == 1);
  CHECK(sites("ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd1+4];\n") == 1);
  CHECK(sites("ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\n") == 2);
  CHECK(sites("ld.param.u64 %rd1, [k_param_0];\nld.const.f32 %f1, [c];\n") == 0);
  // What a guard skips is no reason to wait behind it.
  CHECK(sites("@%p1 bar.sync 0;\n") == 1);
}

TEST_CASE("what stood in the text stands there still, in its order") {
  const std::string text = entry(
      "ld.global.f32 %f1, [%rd1];\n// a comment; with { marks\nst.shared.f32 [%r1], %f1;\nbar.sync "
      "0;\n{ .reg .f32 %t; mov.f32 %t, %f1; }\nL1:\n@!%p1 bra L1;\n");
  const DelayedPtx made = delay_ptx(text, 128);
  REQUIRE(made.why == "");
  CHECK(opcodes(made.text, false) == opcodes(text, true));
  CHECK(count(made.text, "L1:") == 1);
}

TEST_CASE(
    "straight code that hands data from lane to lane through shared or global memory is there "
    "twice, once for each half of the lanes") {
  const std::string handing =
      "st.shared.f32 [%r1], %f1;\nld.shared.f32 %f2, [%r2];\nadd.f32 %f3, %f1, %f2;\n";
  CHECK(delay_ptx(entry(handing), 32).splits == 1);
  CHECK(count(delay_ptx(entry(handing), 32).text, "ld.shared.f32 %f2") == 2);
  // A barrier, of the warp as well, ends the stretch; so does what lanes do together.
  for (const std::string between :
       {"bar.sync 0;\n", "bar.warp.sync -1;\n", "shfl.sync.bfly.b32 %r3, %r4, 1, 31, -1;\n",
        "L1:\n", "@%p1 bra L2;\nL2:\n"}) {
    CHECK(delay_ptx(entry("st.shared.f32 [%r1], %f1;\n" + between + "ld.shared.f32 %f2, [%r2];\n"),
                    32)
              .splits == 0);
  }
  CHECK(delay_ptx(entry("st.shared.f32 [%r1], %f1;\nst.shared.f32 [%r1+4], %f1;\n"), 32).splits ==
        0);
  const std::string store = "st.global.f32 [%rd1], %f1;\n";
  CHECK(delay_ptx(entry("ld.global.f32 %f2, [%rd2];\n" + store), 32).splits == 1);
  CHECK(delay_ptx(entry("ld.global.nc.f32 %f2, [%rd2];\n" + store), 32).splits == 0);
  CHECK(delay_ptx(entry("ld.shared.f32 %f2, [%r2];\n" + store), 32).splits == 0);
}

TEST_CASE("each place where other blocks' memory is written can be chosen alone") {
  const DelayedPtx made =
      delay_ptx(entry("st.global.f32 [%rd1], %f1;\nL1:\nld.global.f32 %f2, [%rd2];\nL2:\n"
                      "atom.global.add.u32 %r2, [%rd3], 1;\nst.shared.f32 [%r1], %f1;\n"),
                32);
  REQUIRE(made.writes.size() == 2);
  CHECK(made.writes[0] < made.writes[1]);
  CHECK(made.writes[1] <= made.sites);
  for (const std::uint32_t site : made.writes)
    CHECK(count(made.text,
                "setp.eq.and.u32 %wpd_p, %wpd_u, " + std::to_string(site) + ", %wpd_q") == 1);
  CHECK(
      delay_ptx(
          entry(
              "st.shared.f32 [%r1], %f1;\nst.local.f32 [%rd1], %f1;\nld.global.f32 %f2, [%rd2];\n"),
          32)
          .writes.empty());
}

TEST_CASE("an entry without a limit gets that of its largest block, others keep theirs") {
  CHECK(count(delay_ptx(entry(""), 384).text, ".maxntid 384, 1, 1") == 1);
  CHECK(count(delay_ptx(entry("", ".maxntid 64, 1, 1\n"), 384).text, ".maxntid") == 1);
  CHECK(count(delay_ptx(entry("", ".reqntid 64, 1, 1\n"), 384).text, ".maxntid") == 0);
}

TEST_CASE("names that the text has already are not taken again") {
  const DelayedPtx made = delay_ptx(entry("mov.u32 %wpd_s, 0;\n"), 32);
  CHECK(made.plan != "wpd_plan");
  CHECK(count(made.text, made.plan + "[32]") == 1);
}

TEST_CASE(
    "code does not grow without bounds, and a text of another form is refused with a reason") {
  std::string body;
  for (int i = 0; i < 20000; ++i) body += "ld.shared.f32 %f1, [%r1];\nst.global.f32 [%rd1], %f1;\n";
  CHECK(delay_ptx(entry(body), 128).sites <= 400);
  CHECK(delay_ptx("no PTX", 32).text.empty());
  CHECK_FALSE(delay_ptx("no PTX", 32).why.empty());
  CHECK_FALSE(delay_ptx(entry("").substr(0, entry("").size() - 2), 32).why.empty());
  const std::string text =
      entry("ld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\nbar.sync 0;\n");
  Rng rng(3, "delays");
  for (int round = 0; round < 3000; ++round) {
    std::string mutated = text;
    for (int i = 0; i < 5; ++i)
      mutated[rng.below(mutated.size())] = ";,{}()@:!. \n\"/"[rng.below(14)];
    static_cast<void>(delay_ptx(mutated, 64));
    static_cast<void>(delay_ptx(std::string_view(text).substr(0, rng.below(text.size())), 64));
  }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("nvrtc_delays");

TEST_CASE(
    "with delays the code of specs, of integrity's kernels and of what moves make still "
    "assembles") {
  const std::string ptxas = toolkit_program("ptxas");
  if (ptxas.empty()) {
    MESSAGE("not run: there is no ptxas on this machine");
    return;
  }
  std::size_t kernels = 0, sites = 0, splits = 0;
  const GateTable gates;
  const auto check = [&](const std::string& what, const KernelSpec& spec, const Variant& variant) {
    CAPTURE(what);
    const CompileResult code =
        compile(cuda_test::nvrtc(), cuda_test::headers(),
                request_for(spec, variant, spec.workloads.front(), "sm_90a"), {});
    if (code.status != Status::ok) return;
    std::string why;
    const auto module = parse_ptx(code.ptx, why);
    REQUIRE_MESSAGE(module, why);
    const GateResult read_only = gates.code_gate("read_only_path")
                                     ->judge({.spec = &spec,
                                              .source = &variant.source,
                                              .variant = &variant,
                                              .code = &code,
                                              .ptx = &*module});
    CHECK((read_only.answer == GateResult::Answer::pass || what == "read_back_by_ldg"));
    const DelayedPtx made = delay_ptx(code.ptx, 256);
    CHECK(made.why == "");
    CHECK(assemble(ptxas, made.text) == "");
    CHECK(assemble(ptxas, round_ptx(code.ptx, PtxRounding::upward)) == "");
    ++kernels;
    sites += made.sites;
    splits += made.splits;
  };
  for (const KernelSpec& spec : load_specs(WARPATH_SOURCE_ROOT "/specs"))
    check(spec.name, spec, baseline_variant(spec));
  const MoveRegistry& registry = registered_moves();
  const MoveTable moves(registry);
  for (const EmbeddedExample& embedded : embedded_examples()) {
    const MoveExample example = parse_example(embedded.text, std::string(embedded.move));
    check(std::string(embedded.move), example.spec, run_example(example, moves).after);
  }
  for (const char* const family : {"rowsum", "scan", "prefix", "gemm_bf16"}) {
    const fs::path folder = fs::path(WARPATH_SOURCE_ROOT) / "tests" / "data" / "integrity" / family;
    const KernelSpec spec = load_specs((folder / "spec.json").string()).front();
    for (const warpath::Candidate& candidate :
         read_candidates(spec, {(folder / "list.jsonl").string()}))
      check(candidate.name, spec, candidate.variant);
  }
  // Paths of moves, drawn at random: as many for each spec as WARPATH_DELAY_WALKS says.
  const char* const walks = std::getenv("WARPATH_DELAY_WALKS");
  const DeviceFacts device{.runner = "cuda",
                           .name = "assumed",
                           .arch = "sm_90a",
                           .multiprocessors = 132,
                           .max_smem_per_block_bytes = 227 << 10,
                           .is_gpu = true};
  for (int walk = 0; walks != nullptr && walk < std::atoi(walks); ++walk) {
    for (const KernelSpec& spec : load_specs(WARPATH_SOURCE_ROOT "/specs")) {
      Rng rng(static_cast<std::uint64_t>(walk), "walk of " + spec.name);
      Variant at = baseline_variant(spec);
      std::string path = spec.name;
      for (int step = 0; step < 4; ++step) {
        const MoveContext context{.spec = spec, .variant = at, .device = device};
        std::vector<std::pair<const Move*, MoveInstance>> all;
        for (const std::string& name : moves.names()) {
          for (MoveInstance& instance : moves.find(name)->enumerate(context))
            all.emplace_back(moves.find(name), std::move(instance));
        }
        std::string why;
        std::optional<Variant> next;
        for (int attempt = 0; attempt < 20 && !next && !all.empty(); ++attempt) {
          const auto& [move, instance] = all[rng.below(all.size())];
          next = move->apply(context, instance, why);
          if (next && !satisfies_constraints(spec, *next, why)) next.reset();
          if (next) path += " " + instance.text();
        }
        if (!next) break;
        at = std::move(*next);
        check(path, spec, at);
      }
    }
  }
  CHECK(kernels >= 60);
  CHECK(splits >= 10);
  testing::report_figure("delayed_kernels", kernels);
  testing::report_figure("delay_sites", sites);
}

TEST_SUITE_END();
