#include "engine/spec/spec_load.h"
#include "engine/base/compression.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/base64.h"
#include "engine/base/rng.h"
#include "engine/json/json_reader.h"
#include "engine/spec/spec_check.h"
#include "engine/spec/spec_check_files.h"
#include "engine/spec/tensor_init.h"
#include "tests/support/spec_fixtures.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using nlohmann::json;
using test::message_of;

namespace {

KernelSpec parse(const json& spec) {
  return parse_specs(spec.dump(), "f.json", ".").front();
}

void check_same_tolerances(const KernelSpec& left, const KernelSpec& right) {
  REQUIRE(left.tolerance.size() == right.tolerance.size());
  for (const auto& [output, tolerance] : right.tolerance) {
    const Tolerance& other = left.tolerance.at(output);
    CHECK(other.atol == tolerance.atol);
    CHECK(other.rtol == tolerance.rtol);
    CHECK(other.norm == tolerance.norm);
    CHECK(other.exact == tolerance.exact);
  }
}

}  // namespace

TEST_SUITE_BEGIN("spec_load");

TEST_CASE("a spec is read as written") {
  const KernelSpec spec = test::gather_spec();
  CHECK(spec.name == "gather");
  CHECK(spec.origin == "gather.json");
  CHECK(spec.kernel_name == "gather");
  CHECK(spec.compiler_options == std::vector<std::string>{"-DFAST=1"});
  REQUIRE(spec.io.args.size() == 6);
  CHECK(spec.io.args[2].role == ArgRole::input);
  CHECK(spec.io.args[2].tensor->indexes == "x");
  CHECK(spec.io.args[3].role == ArgRole::scalar);
  CHECK(spec.io.args[3].dtype == DType::f32);
  CHECK(spec.io.args[4].dtype == DType::i32);
  CHECK(spec.io.launch.grid[0].text() == "ceil_div(M, BLOCK)");
  CHECK(spec.objective == Objective::worst);
  CHECK(spec.tolerance_of("o").rtol == 1e-4);
  CHECK(spec.tolerance_of("other").atol == 1e-6);
  CHECK(spec.reference.index() == 2);
  CHECK(run_problem(spec).empty());
}

TEST_CASE("the compiler is NVRTC unless the spec says nvcc, which it also writes") {
  json spec = json::parse(test::gather_spec_text());
  const auto loaded = [&] { return parse(spec); };
  CHECK(loaded().compiler == DeviceCompiler::nvrtc);
  CHECK_FALSE(to_json(loaded())["kernel"]["metadata"].contains("backend"));
  spec["kernel"]["metadata"]["backend"] = "nvcc";
  CHECK(loaded().compiler == DeviceCompiler::nvcc);
  CHECK(to_json(loaded())["kernel"]["metadata"]["backend"] == "nvcc");
  spec["kernel"]["metadata"]["backend"] = "clang";
  CHECK(message_of([&] {
          static_cast<void>(loaded());
        }).find("/kernel/metadata/backend: got \"clang\"") != std::string::npos);
}

TEST_CASE("a workload overrides scalars, contents and parts of the launch plan") {
  const KernelSpec spec = test::gather_spec();
  const Workload& small = spec.workloads.at(1);
  CHECK(small.l2 == L2Timing::cold);
  CHECK_FALSE(spec.workloads.at(0).l2.has_value());
  CHECK(std::get<double>(small.scalars.at("s")) == 1.5);
  CHECK(spec.bindings(small, {{"BLOCK", 32}}) == Bindings{{"BLOCK", 32}, {"M", 3}, {"N", 64}});
  CHECK(spec.shape_of(spec.io.args[0], small) == std::vector<std::int64_t>{3});
  const LaunchNumbers numbers =
      evaluate(spec.launch_of(small), spec.bindings(small, spec.default_tunables()), "here");
  CHECK(numbers.grid[0] == 1);
  CHECK(numbers.block[0] == 64);  // left out, so the contract's
  CHECK(spec.shape_of(spec.io.args[0], spec.workloads[0]) == std::vector<std::int64_t>{16});
}

TEST_CASE("spec to JSON to spec is the identity") {
  for (const std::string& text : {test::gather_spec_text(), test::foreign_spec_text()}) {
    const KernelSpec spec = parse_specs(text, "f.json", ".").front();
    const json written = to_json(spec);
    const KernelSpec again = spec_from_json(written, "f.json");
    check_spec(again);
    CHECK(to_json(again) == written);
    CHECK(again.source == spec.source);
    for (const Workload& workload : spec.workloads) {
      for (const ArgSpec& arg : spec.io.args) {
        if (arg.tensor)
          CHECK(materialize(spec, arg, workload) == materialize(again, arg, workload));
      }
    }
  }
}

TEST_CASE("every spec of the project is the same after it was written and read, tolerances too") {
  int seen = 0;
  for (const auto& file : std::filesystem::directory_iterator(WARPATH_SOURCE_ROOT "/specs")) {
    if (file.path().extension() != ".json" || file.path().filename() == "schema.json") continue;
    for (const KernelSpec& spec : load_specs(file.path().string())) {
      CAPTURE(spec.name);
      const json written = to_json(spec);
      const KernelSpec again = spec_from_json(written, file.path().string());
      CHECK(to_json(again) == written);
      check_same_tolerances(again, spec);
      ++seen;
    }
  }
  CHECK(seen >= 12);
}

TEST_CASE("a norm that is stricter than the other bounds is written, be it the default or not") {
  for (const double norm : {1e-5, 1e-6, 2e-3, 5e-2}) {
    CAPTURE(norm);
    json document = to_json(test::gather_spec());
    document["tolerance"] = {{"default", {{"atol", 1e-3}, {"rtol", 1e-2}, {"norm", norm}}}};
    const KernelSpec spec = parse(document);
    CHECK(spec.tolerance_of("o").norm == norm);
    check_same_tolerances(spec_from_json(to_json(spec), "f.json"), spec);
  }
}

TEST_CASE("what was guessed is said with the value that stands there now, and written again") {
  json document = to_json(test::gather_spec());
  document["guessed"] = {{{"path", "/name"}, {"why", "the kernel's"}}};
  const KernelSpec spec = parse(document);
  CHECK(guess_lines(spec) == std::vector<std::string>{"guessed /name = \"gather\": the kernel's"});
  CHECK(to_json(spec)["guessed"] == document["guessed"]);
  CHECK(guess_lines(test::gather_spec()).empty());
  CHECK_FALSE(to_json(test::gather_spec()).contains("guessed"));
}

TEST_CASE("a spec in the grammar of other systems loads, and says why it cannot be searched") {
  const KernelSpec spec = parse_specs(test::foreign_spec_text(), "lora.json", ".").front();
  CHECK(spec.origin == "lora.json:/0");
  CHECK(spec.kernel_type == KernelType::triton);
  CHECK(spec.objective == Objective::weighted);
  CHECK(spec.io.launch.block[0].text() == "128");  // 4 warps
  REQUIRE(spec.workloads.size() == 2);
  const Workload& wide = spec.workloads[1];
  CHECK(wide.weight == 3);
  CHECK(spec.shape_of(spec.io.args[0], wide) == std::vector<std::int64_t>{16, 8});
  CHECK(wide.tensors.count("ids") == 0);  // the same as the contract's
  CHECK(std::get<std::int64_t>(wide.scalars.at("M")) == 16);
  CHECK(wide.launch->grid[0].text() == "64");
  CHECK(materialize(spec, spec.io.args[2], wide).at(1) == 2);
  CHECK(spec.tolerance_of("y").atol == 0.02);
  CHECK(std::get<ReferencePython>(spec.reference).function == "run");
  CHECK(run_problem(spec).find("Python") != std::string::npos);
  KernelSpec several = spec;
  several.kernel_type = KernelType::multi_kernel;
  CHECK(run_problem(several).find("multi_kernel") != std::string::npos);
  KernelSpec without = spec;
  without.reference = std::monostate();
  CHECK(run_problem(without).find("lora.json:/0/reference: missing") == 0);
}

TEST_CASE("embedded data may be compressed") {
  json spec = json::parse(test::gather_spec_text());
  std::vector<std::int32_t> values(16, 63);
  const auto packed = zlib_deflate(std::as_bytes(std::span(values)));
  json& tensor = spec["kernel"]["io"]["args"][2]["tensor_spec"];
  tensor.erase("init");
  tensor["data"] = {{"data_b64", base64_encode(packed)},
                    {"dtype", "int32"},
                    {"shape", {16}},
                    {"compress", "zlib"}};
  spec["kernel"]["workloads"].erase(1);
  const KernelSpec loaded = parse(spec);
  CHECK(materialize(loaded, loaded.io.args[2], loaded.workloads[0]).at(15) == 63);
}

TEST_CASE("a file holds one spec or a list, a folder stands for its files in name order") {
  const TemporaryFolder folder;
  json spec = json::parse(test::gather_spec_text());
  spec["kernel"].erase("source_code");
  spec["kernel"]["source_file"] = "k.cu";
  test::put_text(folder / "k.cu", "void kernel() {}");
  json second = spec, third = spec;
  second["name"] = "second";
  third["name"] = "third";
  test::put_text(folder / "b.json", spec.dump());
  test::put_text(folder / "a.json", json::array({second, third}).dump());
  test::put_text(folder / "schema.json", "{}");
  test::put_text(folder / "notes.txt", "no spec");
  const auto specs = load_specs(folder.path().string());
  REQUIRE(specs.size() == 3);
  CHECK(specs[0].name == "second");
  CHECK(specs[1].origin == (folder / "a.json").string() + ":/1");
  CHECK(specs[2].name == "gather");
  CHECK(specs[2].source == "void kernel() {}");
  CHECK(specs[2].source_file == "k.cu");
  CHECK(spec_from_json(to_json(specs[2]), "run").source == "void kernel() {}");

  test::put_text(folder / "c.json", spec.dump());
  CHECK(message_of([&] {
          static_cast<void>(load_specs(folder.path().string()));
        }).find("a name that no other spec has") != std::string::npos);
  const auto lines = check_spec_files({folder.path().string(), (folder / "none.json").string()});
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].ok);
  CHECK(lines[0].text.find("second: ok (2 workloads, 6 arguments, 1 tunables)") !=
        std::string::npos);
  CHECK_FALSE(lines[3].ok);
  CHECK_FALSE(lines[4].ok);
  CHECK(lines[4].text.find("does not exist") != std::string::npos);
}

TEST_CASE("files and folders that cannot be specs are refused by name") {
  const TemporaryFolder folder;
  const auto problem = [&](const std::string& name) {
    return message_of([&] { static_cast<void>(load_specs((folder / name).string())); });
  };
  CHECK(problem("none.json").find("does not exist") != std::string::npos);
  CHECK(problem("").find("at least one spec") != std::string::npos);
  test::put_text(folder / "list.json", "[]");
  CHECK(problem("list.json").find("list.json: got [], expected at least one spec") !=
        std::string::npos);
  std::filesystem::create_directories(folder / "d.json");
  CHECK(problem("d.json").find("at least one spec") != std::string::npos);
  json spec = json::parse(test::gather_spec_text());
  spec["kernel"].erase("source_code");
  for (const auto& [file, expected] :
       std::map<std::string, std::string>{{"none.cu", "a file that exists"},
                                          {"d.json", "a regular file"},
                                          {"empty.cu", "not empty"}}) {
    test::put_text(folder / "empty.cu", "");
    spec["kernel"]["source_file"] = file;
    test::put_text(folder / "s.json", spec.dump());
    CHECK(problem("s.json").find("s.json:/kernel/source_file: got ") != std::string::npos);
    CHECK(problem("s.json").find(expected) != std::string::npos);
  }
  {
    std::ofstream large(folder / "large.json", std::ios::binary);
    large.seekp(static_cast<std::streamoff>(kMaxJsonBytes));
    large << "1";
  }
  CHECK(problem("large.json").find("expected a file of at most") != std::string::npos);
}

TEST_CASE("any damage to a spec gives a spec or one line of error") {
  const std::string good = json::parse(test::gather_spec_text()).dump();
  const std::string foreign = json::parse(test::foreign_spec_text()).dump();
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "fuzz");
    std::string text = seed % 2 == 0 ? good : foreign;
    for (std::uint64_t k = rng.below(4) + 1; k-- > 0;) {
      const auto at = static_cast<std::size_t>(rng.below(text.size()));
      switch (rng.below(4)) {
        case 0:
          text[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          text.erase(at, rng.below(20));
          break;
        case 2:
          text.insert(at, text.substr(rng.below(text.size()), rng.below(30)));
          break;
        default:
          text.insert(at, std::string(1, "{}[]\",:0-9eN\\"[rng.below(13)]));
      }
    }
    const std::string problem =
        message_of([&] { static_cast<void>(parse_specs(text, "f.json", ".")); });
    if (problem.empty()) continue;
    ++refused;
    CHECK(problem.find("f.json") == 0);
    CHECK(problem.find("expected ") != std::string::npos);
    CHECK(problem.find('\n') == std::string::npos);
  }
  CHECK(refused > 1500);
}

TEST_CASE("any value in any place gives a spec or one line of error") {
  const std::vector<json> values{nullptr,
                                 true,
                                 0,
                                 -1,
                                 1,
                                 1.5,
                                 1e300,
                                 INT64_MAX,
                                 UINT64_MAX,
                                 "",
                                 "x",
                                 "N",
                                 "1/0",
                                 json::array(),
                                 json::object(),
                                 json::array({1, "N"}),
                                 json{{"kind", "randn"}}};
  for (const std::string& text : {test::gather_spec_text(), test::foreign_spec_text()}) {
    const json good = json::parse(text);
    const json flat = good.flatten();
    std::set<std::string> places;  // every value, inner ones too
    for (const auto& [pointer, ignored] : flat.items()) {
      for (json::json_pointer at(pointer); !at.empty(); at.pop_back())
        places.insert(at.to_string());
    }
    CHECK(places.size() > 80);
    for (const std::string& place : places) {
      for (const json& value : values) {
        json spec = good;
        spec[json::json_pointer(place)] = value;
        CAPTURE(place);
        CAPTURE(value.dump());
        const std::string problem =
            message_of([&] { static_cast<void>(parse_specs(spec.dump(), "f.json", ".")); });
        if (!problem.empty()) CHECK(problem.find("f.json") == 0);
      }
    }
  }
}

TEST_SUITE_END();
