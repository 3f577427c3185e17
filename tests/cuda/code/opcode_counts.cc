#include "runners/cuda/code/opcode_counts.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "engine/json/json_reader.h"
#include "runners/cuda/code/disassembler.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

const std::vector<std::string> kKernels{"plain",   "halves", "asynchronous", "reduced",
                                        "atomics", "wide",   "nest"};

std::string listing(const std::string& name) {
  const std::string path = std::string(WARPATH_SOURCE_ROOT) + "/tests/data/machine/" + name;
  return read_text_file(path, 1 << 20, path);
}

/// One kernel of a listing.
CountedCode only(const std::string& text, const std::string& kernel) {
  std::vector<std::string> others = kKernels;
  std::erase(others, kernel);
  return count_machine(text, others);
}

std::vector<std::int64_t> depths(const CountedCode& code, std::string_view opcode) {
  const auto it = code.opcodes.find(opcode);
  return it == code.opcodes.end() ? std::vector<std::int64_t>{} : it->second;
}

std::int64_t total(const CountedCode& code, std::string_view opcode) {
  const auto counts = depths(code, opcode);
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace

TEST_SUITE_BEGIN("opcode_counts");

TEST_CASE("instructions of a listing are counted by loops, as a person counts them") {
  const std::string text = listing("sm_90a.nvdisasm");
  const CountedCode plain = only(text, "plain");
  CHECK(plain.loops == 1);
  CHECK(depths(plain, "LDG.E") == std::vector<std::int64_t>{0, 1});
  CHECK(depths(plain, "FFMA") == std::vector<std::int64_t>{0, 1});
  CHECK(depths(plain, "STG.E") == std::vector<std::int64_t>{1});
  CHECK(depths(plain, "EXIT") == std::vector<std::int64_t>{2});
  CHECK(total(plain, "BRA") == 2);  // the one behind the code goes to itself
  const CountedCode nest = only(text, "nest");
  CHECK(nest.loops == 3);
  CHECK(depths(nest, "LDG.E") == std::vector<std::int64_t>{0, 2, 1});
  CHECK(depths(nest, "FADD") == std::vector<std::int64_t>{0, 2, 1});
}

TEST_CASE("what only loads a constant is none of the opcode it does it with") {
  const std::string text = listing("sm_90a.nvdisasm");
  const CountedCode plain = only(text, "plain");
  CHECK(total(plain, "HFMA2.MMA") == 0);
  // HFMA2.MMA R9, -RZ, RZ, 1.9375, 0; MOV R9, 0x3fc00000; MOV R0, RZ
  CHECK(total(plain, "CONSTANT.LOAD") == 3);
  CHECK(total(plain, "IMAD.MOV.U32") == 2);  // these move registers
  for (const char* const file : {"sm_80.nvdisasm", "sm_90a.nvdisasm", "sm_100a.nvdisasm"}) {
    CAPTURE(file);
    const std::string own = listing(file);
    for (const std::string& kernel : kKernels) {
      std::int64_t halves = 0;
      for (const auto& [opcode, unused] : only(own, kernel).opcodes)
        halves += opcode.starts_with("HFMA2") ? total(only(own, kernel), opcode) : 0;
      CAPTURE(kernel);
      CHECK((halves > 0) == (kernel == "halves"));
    }
  }
}

TEST_CASE("both tools say the same of the same code") {
  const std::string one = listing("sm_90a.nvdisasm"), other = listing("sm_90a.cuobjdump");
  for (const std::string& kernel : kKernels) {
    CAPTURE(kernel);
    const CountedCode a = only(one, kernel), b = only(other, kernel);
    CHECK_FALSE(a.opcodes.empty());
    CHECK(a.opcodes == b.opcodes);
    CHECK(a.loops == b.loops);
  }
  CHECK(count_machine(one, kKernels).opcodes.empty());
}

TEST_CASE("a listing that was cut or damaged is read as far as it goes") {
  const std::string text = listing("sm_90a.cuobjdump");
  std::int64_t last = 0;
  for (std::size_t length = 0; length < text.size(); length += 997) {
    const CountedCode code = count_machine(std::string_view(text).substr(0, length), {});
    std::int64_t all = 0;
    for (const auto& [opcode, unused] : code.opcodes) all += total(code, opcode);
    CHECK(all >= last - 1);  // only the padding's branch goes once its own line is whole
    last = all;
    std::string damaged = text.substr(0, length);
    for (std::size_t i = 13; i < damaged.size(); i += 89) damaged[i] = "*/;@`(.:\n "[i % 10];
    static_cast<void>(count_machine(damaged, {}));
  }
  CHECK(count_machine("", {}).opcodes.empty());
  CHECK(count_machine("no listing at all\nof anything: BRA ;", {}).opcodes.empty());
}

TEST_CASE("PTX is counted by loops, without other entries") {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry a(.param .u64 p)\n.maxntid 256, 1, 1\n{\n.reg .b32 %r<4>;\n.reg .pred "
      "%p<2>;\n"
      "mov.u32 %r1, 0;\n$L1:\nadd.s32 %r1, %r1, 1;\n$L2:\nst.shared.u32 [%r1], %r1;\nsetp.lt.s32 "
      "%p1, %r1, 9;\n@%p1 bra $L2;\n@%p1 bra $L1;\n"
      "bra.uni $L3;\n$L3:\nret;\n}\n"
      ".visible .entry b()\n{\nret;\n}\n";
  std::string why;
  const auto module = parse_ptx(text, why);
  REQUIRE_MESSAGE(module.has_value(), why);
  const CountedCode code = count_ptx(*module, std::vector<std::string>{"a"});
  CHECK(code.loops == 2);
  CHECK(depths(code, "add.s32") == std::vector<std::int64_t>{0, 1});
  CHECK(depths(code, "st.shared.u32") == std::vector<std::int64_t>{0, 0, 1});
  CHECK(depths(code, "ret") == std::vector<std::int64_t>{1});
  CHECK(depths(code, "directive.maxntid") == std::vector<std::int64_t>{1});
  CHECK(count_ptx(*module, std::vector<std::string>{"b"}).opcodes.size() == 1);
}

TEST_CASE("a tool that fails, or is not there, says why") {
  std::string why;
  CHECK(disassemble({}, "x", why).empty());
  CHECK(why.find("nvdisasm") != std::string::npos);
  const test::TemporaryFolder folder;
  const auto script = [&](const char* body) {
    const std::string path = folder / "tool";
    std::ofstream(path) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return Disassembler{path, "nvdisasm", {"-c"}};
  };
  CHECK(disassemble(script("[ \"$1\" = -c ] && cat \"$2\"\n"), "the code", why) == "the code");
  CHECK(disassemble(script("echo 'unknown format'; exit 3\n"), "x", why).empty());
  CHECK(why.find("unknown format") != std::string::npos);
}

TEST_CASE("a disassembler of this machine is one that can be started") {
  const Disassembler tool = find_disassembler();
  if (tool.path.empty()) return;
  CHECK(::access(tool.path.c_str(), X_OK) == 0);
  CHECK((tool.name == "nvdisasm" || tool.name == "cuobjdump"));
}

TEST_SUITE_END();
