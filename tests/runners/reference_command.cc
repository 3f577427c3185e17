#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/runners/reference_spec.h"
#include "tests/support/temporary_folder.h"

using warpath::ArgRole;
using warpath::DType;
using warpath::ReferenceCommand;
using warpath::test::ReferenceCase;
using Values = std::vector<double>;
using warpath::test::TemporaryFolder;

namespace {

/// y = 2.5 * x by the test's own reference program in `mode`.
ReferenceCase helper(const std::string& mode, DType y = DType::f32, double timeout_s = 20) {
  return ReferenceCase(ReferenceCommand{{WARPATH_REFERENCE_HELPER, mode, "{dir}"}, timeout_s})
      .input("x", {3}, {1, 2, -4}, DType::f32)
      .scalar("factor", 2.5)
      .output("y", {3}, y);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The one-line complaint of `mode`; the scratch folder must be left empty.
std::string complaint(const std::string& mode, DType y = DType::f32, double timeout_s = 20) {
  const TemporaryFolder scratch;
  std::string out = helper(mode, y, timeout_s).complaint(scratch.path().string());
  CHECK(std::filesystem::is_empty(scratch.path()));
  CHECK(!contains(out, "\n"));
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("reference_command");

TEST_CASE("a command gets inputs and scalars as files and its output files are the reference") {
  const TemporaryFolder scratch;
  CHECK(helper("scale").values("y", scratch.path().string()) == Values{2.5, 5, -10});
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("a float output may come in float64 instead of its own type") {
  const TemporaryFolder scratch;
  CHECK(helper("wide", DType::bf16).compute(scratch.path().string()).at("y").dtype == DType::f64);
  CHECK(contains(complaint("wide", DType::i32), "wrote a bad y.npy"));
  CHECK(contains(complaint("integers", DType::f32), "wrote a bad y.npy"));
}

TEST_CASE("an inout tensor that the command leaves alone is not an answer") {
  const TemporaryFolder scratch;
  const std::string said = ReferenceCase(ReferenceCommand{{"true"}, 20})
                               .input("h", {2}, {1, 2}, DType::u32, ArgRole::inout)
                               .complaint(scratch.path().string());
  CHECK(said == "case: reference command true did not write h.npy");
}

TEST_CASE("an output that is missing, damaged or of another shape is named") {
  CHECK(contains(complaint("nothing"), "did not write y.npy"));
  CHECK(contains(complaint("damaged"), "wrote a bad y.npy"));
  CHECK(contains(complaint("long"), "wrote y.npy of shape [4], expected [3]"));
}

TEST_CASE("a command that fails is reported with its exit status and last words") {
  CHECK(contains(complaint("fail"), "ended with exit status 7; it said: no such thing"));
  CHECK(contains(complaint("crash"), "was ended by signal 6"));
}

TEST_CASE("a command that hangs or prints without end is killed") {
  CHECK(contains(complaint("sleep", DType::f32, 0.2), "did not end within 0.2 s"));
  CHECK(contains(complaint("shout"), "printed more than 1048576 bytes"));
}

TEST_CASE("a program that cannot be started and an empty command each give one line") {
  const TemporaryFolder scratch;
  CHECK(contains(
      ReferenceCase(ReferenceCommand{{"/no/such/program"}, 20}).complaint(scratch.path().string()),
      "/no/such/program"));
  CHECK(ReferenceCase(ReferenceCommand{{}, 20}).early_complaint() ==
        "case: reference command, argv: expected a program to run");
  CHECK(contains(helper("scale").complaint("/no/such/folder"),
                 "cannot make a folder in /no/such/folder"));
}

TEST_SUITE_END();
