#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/spec/local_headers.h"
#include "engine/spec/npy.h"
#include "engine/spec/parameters.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/variant.h"
#include "tests/support/spec_fixtures.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using nlohmann::json;
using test::message_of;
using test::put_text;

namespace {

json gather() {
  return json::parse(test::gather_spec_text());
}
KernelSpec parsed(const json& spec, const std::string& folder = ".") {
  return parse_specs(spec.dump(), folder + "/f.json", folder).front();
}
std::string problem(const json& spec, const std::string& folder = ".") {
  return message_of([&] { static_cast<void>(parsed(spec, folder)); });
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++count;
  return count;
}

/// The gather spec with the source in k.cu.
json in_file() {
  json spec = gather();
  spec["kernel"].erase("source_code");
  spec["kernel"]["source_file"] = "k.cu";
  return spec;
}
constexpr const char* kGather =
    "extern \"C\" __global__ void gather(float* o, const float* x, const int* idx, float s, int N, "
    "int M) {}\n";

}  // namespace

TEST_SUITE_BEGIN("spec_headers");

TEST_CASE("headers in quotes stand where they are named, once, those of others beside them") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  put_text(folder / "a.cuh", "#pragma once\n#include \"sub/b.cuh\"\nint a;\n");
  put_text(folder / "sub/b.cuh", "#pragma once\n#include \"../a.cuh\"\nint b;\n");
  put_text(folder / "k.cu",
           "#include \"a.cuh\"\n#include <math.h>\n#include \"gone.h\"\n#include "
           "\"sub/b.cuh\"\nint k;\n");
  const FlatSource flat = flat_source_file((folder / "k.cu").string(), {});
  CHECK(flat.text ==
        "\n\n\nint b;\n\nint a;\n\n#include <math.h>\n#include \"gone.h\"\n\nint k;\n");
  REQUIRE(flat.missing.size() == 1);
  CHECK(flat.missing[0].name == "gone.h");
  CHECK(flat.missing[0].place == (folder / "k.cu").string() + ":3");
  CHECK_THROWS_AS(static_cast<void>(flat_source_file((folder / "none.cu").string(), {})), Error);
}

TEST_CASE("a header first named under a condition is there for a later line without one") {
  const TemporaryFolder folder;
  put_text(folder / "once.h", "#pragma once\nint one;\n");
  put_text(folder / "guard.h", "#ifndef G_H\n#define G_H\nint two;\n#endif\n");
  put_text(folder / "list.h", "X(1)\n");
  put_text(
      folder / "k.cu",
      "#if 0\n#include \"once.h\"\n#include \"guard.h\"\n#endif\n#include \"once.h\"\n#include "
      "\"guard.h\"\n#include \"once.h\"\n#include \"list.h\"\n#include \"list.h\"\n");
  const std::string text = flat_source_file((folder / "k.cu").string(), {}).text;
  CHECK(times(text, "int one;") == 2);
  CHECK(times(text, "#ifndef INCLUDED_") == 2);  // so that only one of the two is compiled
  CHECK(times(text, "int two;") == 2);
  CHECK(times(text, "X(1)") == 2);
}

TEST_CASE("headers that include one another without end are an error that names one") {
  const TemporaryFolder folder;
  put_text(folder / "a.h", "#include \"a.h\"\n");
  put_text(folder / "k.cu", "#include \"a.h\"\n");
  const std::string message =
      message_of([&] { static_cast<void>(flat_source_file((folder / "k.cu").string(), {})); });
  CHECK(has(message, "a.h: got headers that include one another without end"));
}

TEST_CASE("headers of include folders are part of the source and so of the variant's key") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "inc");
  put_text(folder / "k.cu", std::string("#include \"h.h\"\n") + kGather);
  json spec = in_file();
  spec["kernel"]["include_folders"] = {"inc"};
  put_text(folder / "inc/h.h", "constexpr int kOne = 1;\n");
  const KernelSpec one = parsed(spec, folder.path().string());
  CHECK(has(one.source, "kOne = 1"));
  CHECK(one.missing_headers.empty());
  put_text(folder / "inc/h.h", "constexpr int kOne = 2;\n");
  const KernelSpec two = parsed(spec, folder.path().string());
  CHECK(variant_key(baseline_variant(one)) != variant_key(baseline_variant(two)));
  // a record needs no folder
  std::filesystem::remove_all(folder / "inc");
  CHECK(spec_from_json(to_json(one), "record").source == one.source);
  CHECK(has(problem(spec, folder.path().string()), "/kernel/include_folders/0: got inc"));
  const KernelSpec without = parsed(in_file(), folder.path().string());
  REQUIRE(without.missing_headers.size() == 1);
  CHECK(without.missing_headers[0].place == (folder / "k.cu").string() + ":1");
}

TEST_CASE("headers of libraries stay headers, with what they include, under one key") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "lib/block/detail");
  put_text(folder / "k.cu", std::string("#include <block/a.cuh>\n#include <math.h>\n") + kGather);
  put_text(folder / "lib/block/a.cuh", "#include \"detail/b.cuh\"\n#include <stddef.h>\n");
  put_text(folder / "lib/block/detail/b.cuh", "#include \"../a.cuh\"\nint b;\n");
  put_text(folder / "lib/computed.cuh",
           "#define ROOT block/SYSTEM\n#define SYSTEM detail\n#define SYSTEM cpu\n"
           "#define HEADER <ROOT/c.cuh>\n#include HEADER\n"
           "#define IN(header) <ROOT/header>\n#include IN(d.cuh)\n");
  put_text(folder / "lib/block/detail/d.cuh", "int d;\n");
  put_text(folder / "lib/block/detail/c.cuh", "int c;\n");
  put_text(folder / "lib/other.cuh", "int unused;\n");
  json described = in_file();
  described["kernel"]["system_include_folders"] = {"lib"};
  const KernelSpec spec = parsed(described, folder.path().string());
  CHECK(has(spec.source, "#include <block/a.cuh>"));
  REQUIRE(spec.system_headers != nullptr);
  REQUIRE(spec.system_headers->files.size() == 2);
  CHECK(spec.system_headers->files[0].name == "block/a.cuh");
  CHECK(has(spec.system_headers->files[0].text, "#include <block/detail/b.cuh>"));
  CHECK(has(spec.system_headers->files[0].text, "#include <stddef.h>"));
  CHECK(has(spec.system_headers->files[1].text, "#include <block/a.cuh>"));
  const json record = to_json(spec);
  CHECK(record["kernel"]["headers_key"] == spec.system_headers->key);
  CHECK(to_json(spec_from_json(record, "record")) == record);
  CHECK(parse_specs(record.dump(), "r.json", "/").front().system_headers->files.size() == 2);
  json computed = described;
  put_text(folder / "c.cu", std::string("#include <computed.cuh>\n") + kGather);
  computed["kernel"]["source_file"] = "c.cu";
  const auto files = parsed(computed, folder.path().string()).system_headers->files;
  REQUIRE(files.size() == 3);
  CHECK(files[0].name == "block/detail/c.cuh");
  CHECK(files[1].name == "block/detail/d.cuh");
  put_text(folder / "lib/block/detail/b.cuh", "int b = 2;\n");
  CHECK(parsed(described, folder.path().string()).system_headers->key != spec.system_headers->key);
  const std::string changed =
      message_of([&] { static_cast<void>(parse_specs(record.dump(), "r.json", "/")); });
  CHECK(has(changed, "system_include_folders: got headers that have changed"));
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("spec_caller");

TEST_CASE("members of a struct are laid out as compilers do") {
  json spec = gather();
  json& args = spec["kernel"]["io"]["args"];
  args[3]["dtype"] = "float16";
  for (const int i : {2, 3, 4}) args[i]["member_of"] = "p";
  const auto layouts = parameter_layouts(parsed(spec));
  REQUIRE(layouts.size() == 4);  // o, x, p{idx, s, N}, M
  CHECK(layouts[1].struct_name.empty());
  CHECK(layouts[2].struct_name == "p");
  CHECK(layouts[2].members == std::vector<std::size_t>{2, 3, 4});
  CHECK(layouts[2].offsets == std::vector<std::size_t>{0, 8, 12});
  CHECK(layouts[2].size_bytes == 16);
  struct Like {
    const int* idx;
    std::uint16_t s;
    int n;
  };
  CHECK(layouts[2].size_bytes == sizeof(Like));
  CHECK(parameter_arguments(parsed(spec))[2] == nullptr);
  args[4]["dtype"] = "int8";
  args[4]["member_of"] = "p";
  CHECK(parameter_layouts(parsed(spec))[2].size_bytes == 16);
  CHECK(to_json(parsed(spec))["kernel"]["io"]["args"][4]["member_of"] == "p");
}

TEST_CASE("members that are apart, or that a kernel does not get, are refused") {
  json spec = gather();
  json& args = spec["kernel"]["io"]["args"];
  args[2]["member_of"] = args[4]["member_of"] = "p";
  CHECK(has(problem(spec),
            "/kernel/io/args/4/member_of: got p, expected the members of a struct "
            "one after another"));
  args[3]["member_of"] = "p";
  args[4]["is_meta"] = true;
  CHECK(has(problem(spec), "/kernel/io/args/4/member_of: got p, expected no struct"));
  args[4].erase("is_meta");
  for (const int i : {2, 3, 4}) args[i]["member_of"] = "o";
  CHECK(has(problem(spec), "expected a name that no argument has"));
}

TEST_CASE("a launch that the caller owns is that of every variant, in every workload") {
  json spec = gather();
  spec["launch"] = "fixed";
  CHECK(
      has(problem(spec), "/kernel/io/launch/grid/x: got ceil_div(M, BLOCK), expected no tunable"));
  spec["kernel"]["io"]["launch"] = {{"grid", {{"x", "ceil_div(M, 64)"}}}, {"block", {{"x", 64}}}};
  const KernelSpec fixed = parsed(spec);
  CHECK(to_json(fixed)["launch"] == "fixed");
  const auto refusal = [&](const std::function<void(Variant&)>& change) {
    Variant variant = baseline_variant(fixed);
    change(variant);
    std::string why;
    return satisfies_constraints(fixed, variant, why) ? "" : why;
  };
  CHECK(refusal([](Variant&) {}) == "");
  CHECK(refusal([](Variant& v) {
          v.source += " ";
          v.tunables["BLOCK"] = 32;
        }) == "");
  // the same numbers otherwise written: those of main, not of small, whose launch is its own
  CHECK(
      has(refusal([](Variant& v) { v.launch.block[0] = Expression::parse("32 * 2", "t"); }),
          "workload small: the caller owns the launch: grid.x ceil_div(M, 64), the caller's is 1"));
  CHECK(has(refusal([](Variant& v) { v.launch.block[0] = Expression(128); }),
            "workload main: the caller owns the launch: block.x 128, the caller's is 64"));
  CHECK(has(refusal([](Variant& v) { v.launch.dynamic_smem_bytes = Expression(1024); }),
            "dynamic shared memory 1024, the caller's is 0"));
  CHECK(has(refusal([](Variant& v) {
              v.launch.cluster[0] = Expression(1), v.launch.grid[1] = Expression(2);
            }),
            "grid.y 2, the caller's is 1"));
  // equal in these workloads alone
  CHECK(has(refusal([](Variant& v) {
              v.launch.grid[0] = Expression::parse("min(ceil_div(M, 64), 9)", "t");
            }),
            "grid.x"));
  CHECK(has(refusal([](Variant& v) { v.scratch.push_back({"t", Expression(64)}); }),
            "no other launches, no scratch memory"));
  spec["launch"] = "free";
  CHECK_FALSE(to_json(parsed(spec)).contains("launch"));
}

TEST_CASE("given outputs have the shapes of all outputs of every workload, and constant inputs") {
  const TemporaryFolder folder;
  const auto file = [&](const std::string& name, std::int64_t n) {
    write_npy((folder / name).string(),
              {DType::f32, {n}, std::vector<std::byte>(static_cast<std::size_t>(4 * n))});
    return json{{"file", name}, {"dtype", "float32"}};
  };
  json spec = gather();
  json& args = spec["kernel"]["io"]["args"];
  args[1]["tensor_spec"]["init"] = {{"kind", "ones"}};
  args[2]["tensor_spec"]["init"] = {{"kind", "zeros"}};
  spec["reference"] = {{"outputs", {{"main", {{"o", file("main.npy", 16)}}}}}};
  const std::string here = folder.path().string();
  CHECK(has(problem(spec, here), "/reference/outputs: got no small"));
  json& outputs = spec["reference"]["outputs"];
  outputs["small"] = {{"o", file("small.npy", 4)}};
  CHECK(has(problem(spec, here),
            "/reference/outputs/small/o: got shape [4], expected [3], the shape of o in workload "
            "small"));
  outputs["small"] = {{"o", file("small.npy", 3)}};
  const KernelSpec whole = parsed(spec, here);
  const json record = to_json(whole);  // the values are in it
  std::filesystem::remove(folder / "main.npy");
  CHECK(to_json(spec_from_json(record, "record")) == record);
  CHECK(has(problem(spec, here), "main.npy"));
  file("main.npy", 16);
  outputs["main"]["x"] = outputs["main"]["o"];
  CHECK(
      has(problem(spec, here), "/reference/outputs/main/x: got x, expected the name of an output"));
  outputs["main"].erase("x");
  args[1]["tensor_spec"]["init"] = {{"kind", "randn"}};
  CHECK(has(problem(spec, here), "got x whose values depend on a seed"));
}

TEST_SUITE_END();
