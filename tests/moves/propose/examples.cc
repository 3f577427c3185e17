#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/base/error.h"
#include "moves/propose/example.h"
#include "moves/propose/move_script.h"
#include "register_moves.h"

using namespace warpath;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string problem_of(const std::string& text) {
  try {
    static_cast<void>(parse_example(text, "e.txt"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("move_examples");

TEST_CASE("every move has an example, and the example is what the move does") {
  const fs::path folder = fs::path(WARPATH_SOURCE_ROOT) / "moves" / "examples";
  const bool accept = std::getenv("WARPATH_ACCEPT") != nullptr;
  const MoveRegistry& registry = registered_moves();
  const MoveTable table(registry);
  for (const std::string& name : table.names()) {
    CAPTURE(name);
    const fs::path path = folder / (name + ".txt");
    CHECK_MESSAGE(fs::exists(path),
                  "moves/examples/"
                      << name
                      << ".txt: `step:`, arguments, `--- before`; WARPATH_ACCEPT=1 adds the rest");
    if (!fs::exists(path)) continue;
    try {
      const MoveExample example = parse_example(text_of(path), path.string());
      CHECK(table.find(example.step.move) == table.find(name));
      const ExampleResult result = run_example(example, table);
      if (accept) {
        std::ofstream file(path);
        file << example.heading << "--- after\n"
             << result.after.source << (result.terms.empty() ? "" : "--- terms\n" + result.terms);
        continue;
      }
      CHECK(example.after == result.after.source);
      CHECK(example.terms == result.terms);
    } catch (const Error& error) {
      FAIL_CHECK(std::string(error.what()));
    }
  }
}

TEST_CASE("the program carries all of them") {
  std::set<std::string> files, embedded;
  for (const auto& entry :
       fs::directory_iterator(fs::path(WARPATH_SOURCE_ROOT) / "moves" / "examples"))
    if (entry.path().extension() == ".txt") files.insert(entry.path().stem().string());
  for (const EmbeddedExample& example : embedded_examples()) embedded.emplace(example.move);
  CHECK(files == embedded);
}

TEST_CASE("an example that cannot be read is refused with its line") {
  CHECK(problem_of("step: a\nkernel: k\n").find("e.txt:2") != std::string::npos);
  CHECK(problem_of("step: a\n--- between\n").find("e.txt:2") != std::string::npos);
  CHECK(problem_of("input: float32 x[n]\n--- before\nvoid k() {}\n").find("step: MOVE") !=
        std::string::npos);
  CHECK(problem_of("step: a\ninput: float99 x[n]\n").find("float99") != std::string::npos);
  CHECK(problem_of("step: a\n--- before\nint x;\n").find("__global__") != std::string::npos);
  CHECK(problem_of("step: a\ngrid: (\n").find("e.txt:2") != std::string::npos);
}

TEST_SUITE_END();
