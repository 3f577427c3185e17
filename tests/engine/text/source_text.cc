#include "engine/text/source_text.h"

#include <doctest/doctest.h>

#include "engine/spec/spec_load.h"
#include "tests/support/spec_fixtures.h"
#include "tests/support/temporary_folder.h"

#include <fstream>
#include <nlohmann/json.hpp>

using warpath::source_text;

TEST_SUITE_BEGIN("source_text");

TEST_CASE("UTF-8 is taken as it is, without its byte order mark") {
  const std::string text = "// caf\xC3\xA9\n__global__ void k() {}\n";
  CHECK(source_text(text).text == text);
  CHECK(source_text("\xEF\xBB\xBF" + text).text == text);
  CHECK(source_text(text).note.empty());
}

TEST_CASE("bytes of a comment that are no UTF-8 are read as Latin-1, and a note says where") {
  const auto read =
      source_text("int a;  // caf\xE9\n/* \xFF\xC3\xA9 */ int b;\n#define C 1  // \xE4\n");
  CHECK(read.problem.empty());
  CHECK(read.text ==
        "int a;  // caf\xC3\xA9\n/* \xC3\xBF\xC3\xA9 */ int b;\n#define C 1  // \xC3\xA4\n");
  CHECK(read.note == "line 1: a comment is not UTF-8 and is read as Latin-1");
}

TEST_CASE("elsewhere they are a problem, because a literal would change") {
  CHECK(source_text("int a;\nconst char* b = \"\xFF\";\n").problem ==
        "line 2: byte 0xff outside a comment");
  CHECK(source_text("int \xE9 = 1; // \xE9\n").problem == "line 1: byte 0xe9 outside a comment");
  CHECK(source_text("#define A \"\xE9\"\n").problem == "line 1: byte 0xe9 outside a comment");
  CHECK(source_text("\xFF\xFE"
                    "a")
            .problem == "UTF-16 text");
}

TEST_CASE("a spec's source files are read so, and the spec is JSON that holds") {
  const warpath::test::TemporaryFolder folder;
  std::ofstream(folder / "k.cu")
      << "\xEF\xBB\xBF// \xFF\nextern \"C\" __global__ void gather(const float* x, const int* idx, "
         "float* y, int n, float s) { y[0] = x[idx[0]] * s; }\n";
  auto json = nlohmann::json::parse(warpath::test::gather_spec_text());
  json["kernel"].erase("source_code");
  json["kernel"]["source_file"] = "k.cu";
  const auto spec = warpath::parse_specs(json.dump(), "spec.json", folder / "").front();
  CHECK(spec.source.starts_with("// \xC3\xBF\nextern"));
  CHECK(warpath::to_json(spec).dump().find("extern") != std::string::npos);
  std::ofstream(folder / "k.cu") << "const char* c = \"\xFF\";\n";
  const std::string problem = warpath::test::message_of(
      [&] { static_cast<void>(warpath::parse_specs(json.dump(), "spec.json", folder / "")); });
  CHECK(problem.find("/kernel/source_file: got ") != std::string::npos);
  CHECK(problem.find("line 1: byte 0xff outside a comment") != std::string::npos);
}

TEST_SUITE_END();
