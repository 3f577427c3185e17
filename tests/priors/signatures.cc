#include "priors/evidence/signatures.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/base/error.h"
#include "register_moves.h"

using namespace warpath;

namespace {

bool matches(const char* pattern, const char* opcode) {
  return OpcodePattern(pattern, "test").matches(opcode);
}

/// tests/data/machine/opcodes.txt: opcodes by "ARCH KERNEL".
std::map<std::string, std::vector<std::string>> probed_opcodes() {
  std::map<std::string, std::vector<std::string>> out;
  std::ifstream file(std::string(WARPATH_SOURCE_ROOT) + "/tests/data/machine/opcodes.txt");
  std::string arch;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first)) continue;
    if (first == "==") {
      words >> arch;
      continue;
    }
    for (std::string opcode; words >> opcode;) out[arch + " " + first].push_back(opcode);
  }
  return out;
}

/// Features of machine code that any of the opcodes shows.
std::set<std::string> features_in(const std::vector<std::string>& opcodes) {
  std::set<std::string> out;
  for (const CodeFeature& feature : SignatureTable::built_in().features()) {
    for (const OpcodePattern& pattern : feature.machine) {
      if (std::ranges::any_of(opcodes, [&](const std::string& o) { return pattern.matches(o); }))
        out.insert(feature.id);
    }
  }
  return out;
}

CodeCounts code(OpcodeCounts machine,
                OpcodeCounts ptx,
                std::map<std::string, double, std::less<>> numbers = {}) {
  static int serial = 0;
  const bool listed = !machine.empty();
  return {.arch = "sm_90a",
          .tool = listed ? "nvdisasm" : "",
          .ptx = std::move(ptx),
          .machine = std::move(machine),
          .numbers = std::move(numbers),
          .key = std::to_string(++serial)};
}

CodeEvidence compared(const char* move, const CodeCounts& parent, const CodeCounts& child) {
  return SignatureTable::built_in().compare(MoveInstance::parse(move, "test"), parent, child);
}

}  // namespace

TEST_SUITE_BEGIN("prior_signatures");

TEST_CASE("a pattern names a whole opcode and modifiers wherever they stand") {
  CHECK(matches("LDG.128", "LDG.E.128.CONSTANT"));
  CHECK(matches("LDG.CONSTANT.128", "LDG.E.128.CONSTANT"));
  CHECK_FALSE(matches("LDG.!128", "LDG.E.128.CONSTANT"));
  CHECK(matches("LDG.!128", "LDG.E"));
  CHECK_FALSE(matches("STS", "LDGSTS.E.BYPASS.128"));
  CHECK_FALSE(matches("LDS", "LDSM.16.M88.4"));
  CHECK_FALSE(matches("RED", "REDUX.SUM"));
  CHECK_FALSE(matches("RED", "BAR.RED.POPC.DEFER_BLOCKING"));
  CHECK_FALSE(matches("DEPBAR", "LDGDEPBAR"));
  CHECK_FALSE(matches("mma", "wgmma.mma_async.sync"));
  CHECK(matches("UTC*MMA", "UTCHMMA"));
  CHECK(matches("ld.global.v4", "ld.global.nc.v4.f32"));
  CHECK_THROWS_AS(OpcodePattern("", "p"), Error);
  CHECK_THROWS_AS(OpcodePattern(".x", "p"), Error);
  CHECK_THROWS_AS(OpcodePattern("!x", "p"), Error);
  CHECK_THROWS_AS(OpcodePattern("x..y", "p"), Error);
}

TEST_CASE("every registered move has a row, and every row a move") {
  const MoveRegistry& registry = registered_moves();
  const SignatureTable& table = SignatureTable::built_in();
  for (const auto& [name, unused] : registry.entries()) {
    CAPTURE(name);
    CHECK(table.find(name, "") != nullptr);
  }
  for (const MoveSignature& signature : table.signatures()) {
    CAPTURE(signature.move);
    CHECK(registry.entries().contains(signature.move));
  }
  CHECK(table.find("switch_to_mma_or_wgmma", "wgmma")->site == "wgmma");
  CHECK(table.find("no_such_move", "") == nullptr);
}

TEST_CASE("features are told apart in the machine code of five architectures") {
  const auto probed = probed_opcodes();
  REQUIRE(probed.size() > 100);
  struct Row {
    const char* kernel;
    std::vector<const char*> shows, not_shows;
  };
  const std::vector<Row> rows{
      {"sm_80 k_cpasync",
       {"cp_async", "cp_async_group", "barrier", "shared_load"},
       {"shared_store", "tma_load", "bulk_copy"}},
      {"sm_90a k_cpasync", {"cp_async", "cp_async_group"}, {"shared_store", "tma_load"}},
      {"sm_80 k_redux", {"warp_reduction"}, {"global_atomic", "barrier"}},
      {"sm_90a k_redux", {"warp_reduction"}, {"global_atomic", "barrier"}},
      {"sm_90a k_bar", {"barrier"}, {"global_atomic", "cluster_barrier", "shuffle"}},
      {"sm_80 k_atom", {"global_atomic", "shared_atomic", "warp_reduction"}, {}},
      {"sm_90a k_atom", {"global_atomic", "shared_atomic", "warp_reduction"}, {}},
      {"sm_90a k_mma16", {"mma"}, {"wgmma", "tcgen05", "block_scaled_mma"}},
      {"sm_90a k_mma64", {"mma"}, {"wgmma"}},
      {"sm_90a k_mmafp8", {"mma", "fp8_unpacked"}, {"block_scaled_mma"}},
      {"sm_89 k_mmafp8", {"mma"}, {"fp8_unpacked"}},
      {"sm_90a k_wg16", {"wgmma"}, {"mma"}},
      {"sm_90a k_wg8", {"wgmma"}, {"mma"}},
      {"sm_90a k_tmald",
       {"tma_load", "tma_multicast", "tma_prefetch"},
       {"tma_store", "bulk_copy", "cp_async"}},
      {"sm_120a k_tmald", {"tma_load"}, {"tma_multicast"}},
      {"sm_90a k_tmast", {"tma_store"}, {"tma_load"}},
      {"sm_90a k_bulk", {"bulk_copy"}, {"tma_load", "cp_async"}},
      {"sm_90a k_mbar", {"mbarrier"}, {"barrier"}},
      {"sm_90a k_clu", {"cluster_barrier"}, {"barrier"}},
      {"sm_90a k_maxn", {"register_quota"}, {}},
      {"sm_90a k_pdl", {"grid_dependency"}, {}},
      {"sm_100a k_clc", {"cluster_launch_control"}, {}},
      {"sm_100a k_tc5", {"tcgen05"}, {"mma", "wgmma"}},
      {"sm_120a k_mxf8", {"block_scaled_mma", "mma"}, {}},
      {"sm_120a k_nvf4", {"block_scaled_mma"}, {}},
      {"sm_90a k_ldmod",
       {"load_ca", "load_cg", "load_cs", "load_lu", "load_cv", "load_read_only", "store_cs"},
       {"constant_load", "load_no_allocate"}},
      {"sm_90a k_l2hint", {"load_no_allocate", "load_l2_prefetch", "prefetch"}, {"load_cs"}},
      {"sm_90a k_vec",
       {"wide_global_load", "wide_global_store", "load_read_only"},
       {"narrow_global_load", "constant_load"}},
      {"sm_90a k_sc", {"narrow_global_load"}, {"wide_global_load"}},
      {"sm_90a k_ldm", {"ldmatrix"}, {"shared_load", "shared_store"}},
      {"sm_90a k_spill", {"spill"}, {"shared_load"}},
      {"sm_90a k_shfl", {"shuffle"}, {"vote"}},
      {"sm_90a k_vote", {"vote"}, {"shuffle"}},
      {"sm_90a k_lop", {"dot_of_bytes"}, {}},
      {"sm_90a k_math", {"special_function"}, {"integer_divide"}},
      {"sm_90a k_div", {"integer_divide"}, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.kernel);
    REQUIRE(probed.contains(row.kernel));
    const std::set<std::string> found = features_in(probed.at(row.kernel));
    for (const char* const feature : row.shows) {
      CAPTURE(feature);
      CHECK(found.contains(feature));
    }
    for (const char* const feature : row.not_shows) {
      CAPTURE(feature);
      CHECK_FALSE(found.contains(feature));
    }
  }
}

TEST_CASE(
    "a move is realised where its feature grows, the replaced one shrinks, or a number moves") {
  const CodeCounts scalar = code({{"LDG.E", {0, 4}}, {"STG.E", {4}}}, {{"ld.global.f32", {0, 4}}});
  const CodeCounts wide =
      code({{"LDG.E.128", {0, 1}}, {"STG.E.128", {1}}}, {{"ld.global.v4.f32", {0, 1}}});
  const CodeEvidence yes = compared("vectorize_global_loads@argument:x(width=4)", scalar, wide);
  CHECK(yes.realised == true);
  CHECK(yes.tool == "nvdisasm");
  CHECK(yes.why.find("wide_global_load 0 to 1") != std::string::npos);
  CHECK(yes.difference.at("LDG.E") == std::pair<std::int64_t, std::int64_t>{4, 0});
  CHECK(difference_text(yes, 1).find("0 to") == std::string::npos);
  const CodeEvidence no = compared("vectorize_global_loads@argument:x(width=4)", scalar,
                                   code({{"LDG.E", {0, 4}}, {"STG.E", {4}}, {"MOV", {1}}}, {}));
  CHECK(no.realised == false);
  CHECK(no.why.find("wide_global_load 0 to 0") != std::string::npos);
  // Out of the loop, as often as before.
  CHECK(compared("promote_scalars", code({{"LDG.E", {0, 1}}}, {}), code({{"LDG.E", {1, 0}}}, {}))
            .realised == true);
  CHECK(compared("promote_scalars", code({{"LDG.E", {1, 0}}}, {}),
                 code({{"LDG.E", {1, 0}}, {"FADD", {1}}}, {}))
            .realised == false);
  CHECK(compared("change_block_sizes", code({}, {}, {{"blocks", 4}}), code({}, {}, {{"blocks", 8}}))
            .realised == true);
  CHECK(compared("change_block_sizes", code({}, {{"add.f32", {1}}}, {{"blocks", 4}}),
                 code({}, {}, {{"blocks", 4}}))
            .realised == false);
  CHECK(compared("switch_to_mma_or_wgmma@wgmma", code({}, {}),
                 code({{"HMMA.16816.F32", {0, 8}}}, {{"mma.sync.f32", {0, 8}}}))
            .realised == false);
  CHECK(compared("switch_to_mma_or_wgmma@mma.sync", code({}, {}),
                 code({{"HMMA.16816.F32", {0, 8}}}, {{"mma.sync.f32", {0, 8}}}))
            .realised == true);
}

TEST_CASE("PTX stands in where machine code is no text, and where only PTX shows a feature") {
  const CodeCounts before = code({}, {{"ld.global.f32", {4}}}),
                   after = code({}, {{"ld.global.v4.f32", {1}}});
  const CodeEvidence ptx = compared("vectorize_global_loads", before, after);
  CHECK(ptx.realised == true);
  CHECK(ptx.tool.empty());
  CHECK(ptx.readings.front().form == "ptx");
  const CodeCounts listed = code({{"LDG.E.128", {1}}}, {{"ld.global.v4.f32", {1}}});
  // one of both is no text
  CHECK(compared("vectorize_global_loads", before, listed).readings.front().form == "ptx");
  CHECK(compared("launch_bounds", code({{"MOV", {1}}}, {}),
                 code({{"MOV", {1}}}, {{"directive.maxntid", {1}}}))
            .realised == true);
}

TEST_CASE("equal code shows no move, and what has no row cannot be told") {
  CodeCounts same = code({}, {});
  const CodeEvidence evidence = compared("set_tunable@tunable:X(value=2)", same, same);
  CHECK(evidence.realised == false);
  CHECK(compared("a_text_of_a_model", same, same).realised == false);
  CHECK_FALSE(
      compared("a_text_of_a_model", same, code({}, {{"bar.sync", {1}}})).realised.has_value());
  CHECK(compared("set_tunable@tunable:X(value=2)", same, code({}, {})).realised == true);
}

TEST_CASE("a table that says something wrong is refused by place") {
  const char* const good =
      R"({"features": [{"id": "a", "ptx": ["x"]}], "moves": [{"move": "m", "gains": ["a"]}]})";
  CHECK(SignatureTable::parse(good, "t").signatures().size() == 1);
  struct Row {
    const char* text;
    const char* place;
  };
  for (
      const Row& row : std::initializer_list<Row>{
          {R"({"features": [{"id": "a", "ptx": ["x"]}, {"id": "a", "ptx": ["y"]}], "moves": []})",
           "/features/1/id"},
          {R"({"features": [{"id": "a", "machine": ["X"]}], "moves": []})", "/features/0"},
          {R"({"features": [{"id": "a", "ptx": [".x"]}], "moves": []})", "/features/0/ptx/0"},
          {R"({"features": [], "moves": [{"move": "m", "gains": ["a"]}]})", "/moves/0/gains/0"},
          {R"({"features": [], "moves": [{"move": "m"}]})", "/moves/0"},
          {R"({"features": [], "moves": [{"move": "m", "differs": true}, {"move": "m", "differs": true}]})",
           "/moves/1/move"},
          {R"({"features": [], "moves": [{"move": "m", "differ": true}]})", "/moves/0"},
          {R"({"features": []})", "moves"}}) {
    CAPTURE(row.text);
    CHECK_THROWS_WITH_AS(SignatureTable::parse(row.text, "t"), doctest::Contains(row.place), Error);
  }
}

TEST_SUITE_END();
