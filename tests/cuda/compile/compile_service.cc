#include "runners/cuda/compile/compile_service.h"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/spec/system_headers.h"
#include "runners/cuda/compile/code_cache.h"
#include "tests/cuda/support.h"
#include "tests/support/temporary_folder.h"

namespace fs = std::filesystem;
using warpath::ArgSpec;
using warpath::ArgType;
using warpath::KernelSpec;
using warpath::Status;
using warpath::Variant;
using warpath::Workload;
using warpath::cuda::CodePtr;
using warpath::cuda::CompileRequest;
using warpath::cuda::CompileService;
using warpath::cuda::CompileServiceOptions;
using warpath::cuda::request_for;
using warpath::test::TemporaryFolder;

namespace {

/// This test program is the worker; see tests/cuda/main.cc.
CompileServiceOptions service_options(int workers = 1) {
  CompileServiceOptions options;
  options.program = fs::read_symlink("/proc/self/exe").string();
  options.workers = workers;
  options.limits = cuda_test::pool_options(1).setup.limits;
  return options;
}

CompileRequest request(int i) {
  return {
      .source = "extern \"C\" __global__ void k(float* o) { o[0] = " + std::to_string(i) + "; }",
      .kernel = "k",
      .arch = "sm_90a",
      .options = {}};
}

/// A spec with a meta scalar N that workloads set, and a tunable BLOCK.
struct Fixture {
  Fixture() {
    ArgSpec meta;
    meta.name = "N";
    meta.type = ArgType::integer;
    meta.value = std::int64_t{1};
    meta.is_meta = true;
    spec.io.args.push_back(meta);
    for (const std::int64_t n : {5, 7, 5}) {
      Workload workload;
      workload.scalars["N"] = n;
      spec.workloads.push_back(workload);
    }
    for (const Workload& workload : spec.workloads) workloads.push_back(&workload);
    variant.kernel_name = "k";
    variant.tunables["BLOCK"] = 64;
    variant.source = "extern \"C\" __global__ void k(float* o) { o[0] = N; }";
  }
  KernelSpec spec;
  std::vector<const Workload*> workloads;
  Variant variant;
};

std::size_t child_count() {
  std::size_t count = 0;
  for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
    std::istringstream children(cuda_test::read_file(thread.path() / "children"));
    for (std::string child; children >> child;) ++count;
  }
  return count;
}

}  // namespace

TEST_SUITE_BEGIN("nvrtc_service");

TEST_CASE(
    "a result is compiled once, then comes from memory, and from the disk in another process's "
    "place") {
  const TemporaryFolder folder;
  auto options = service_options();
  options.cache_folder = folder.path();
  const std::size_t children = child_count();
  CodePtr first;
  {
    CompileService service(options);
    CHECK(child_count() == children);  // nothing is started before it is needed
    first = service.compile(request(1));
    REQUIRE_MESSAGE(first->status == Status::ok, first->log);
    CHECK(child_count() == children + 1);
    CHECK(service.compile(request(1)) == first);
    const auto counts = service.counts();
    CHECK(counts.requests == 2);
    CHECK(counts.compiled == 1);
    CHECK(counts.memory_hits == 1);
    CHECK(counts.compile_seconds > 0);
  }
  CHECK(child_count() == children);
  CompileService later(options);
  CHECK(*later.compile(request(1)) == *first);
  CHECK(later.counts().disk_hits == 1);
  CHECK(later.counts().compiled == 0);
  CHECK(child_count() == children);
}

TEST_CASE("equal requests under way at once are compiled once") {
  CompileService service(service_options(2));
  std::vector<CodePtr> results(8);
  {
    std::vector<std::jthread> threads;
    for (CodePtr& result : results)
      threads.emplace_back([&] { result = service.compile(request(3)); });
  }
  for (const CodePtr& result : results) CHECK(result == results.front());
  CHECK(results.front()->status == Status::ok);
  const auto counts = service.counts();
  CHECK(counts.compiled == 1);
  CHECK(counts.joined + counts.memory_hits == 7);
}

TEST_CASE("workloads with equal macros share one code") {
  CompileService service(service_options(2));
  const Fixture fixture;
  const auto compiled = service.compile(fixture.spec, fixture.variant, fixture.workloads, "sm_90a");
  REQUIRE_MESSAGE(compiled.status == Status::ok, compiled.log);
  CHECK(compiled.codes.size() == 2);
  CHECK(compiled.code_of == std::vector<std::size_t>{0, 1, 0});
  CHECK(compiled.code(0).cubin != compiled.code(1).cubin);
  CHECK(compiled.seconds > 0);
  CHECK(service.compile(fixture.spec, fixture.variant, fixture.workloads, "sm_90a").seconds == 0);
}

TEST_CASE("macros that the text cannot name do not make another code, and all others do") {
  Fixture fixture;
  const auto options = [&] {
    return request_for(fixture.spec, fixture.variant, fixture.spec.workloads[0], "sm_90a").options;
  };
  CHECK(options() == std::vector<std::string>{"-DN=5"});
  fixture.variant.source += "// joined: a##b";
  CHECK(options() == std::vector<std::string>{"-DBLOCK=64", "-DN=5"});
  fixture.variant.source = "int n = N;";
  fixture.variant.compiler_options = {"--use_fast_math", "-D", "TILE=BLOCK", "-DN=9", "-DX"};
  CHECK(options() == std::vector<std::string>{"--use_fast_math", "-DBLOCK=64", "-DN=9",
                                              "-DTILE=BLOCK", "-DX=1"});
}

TEST_CASE(
    "a text that does not compile is a result with its reason, and the status of the whole "
    "variant") {
  CompileService service(service_options());
  Fixture fixture;
  fixture.variant.source =
      "extern \"C\" __global__ void k(float* o) {\n#if N == 7\n  unknown();\n#endif\n}";
  const auto compiled = service.compile(fixture.spec, fixture.variant, fixture.workloads, "sm_90a");
  CHECK(compiled.status == Status::compile_error);
  CHECK(compiled.log.find("unknown") != std::string::npos);
  CHECK(compiled.codes.size() == 2);
  CHECK(compiled.code(0).status == Status::ok);
}

TEST_CASE("a stop request ends the wait, not the service") {
  CompileService service(service_options());
  std::stop_source stop;
  stop.request_stop();
  CHECK(service.compile(request(4), stop.get_token())->log == "stopped");
  CHECK(service.compile(request(4))->status == Status::ok);
}

TEST_CASE("memory keeps the latest results within its limit") {
  auto options = service_options();
  options.memory_bytes = 1;  // the last one alone
  CompileService service(options);
  for (const int i : {1, 1, 2, 1}) static_cast<void>(service.compile(request(i)));
  CHECK(service.counts().memory_hits == 1);
  CHECK(service.counts().compiled == 3);
}

TEST_CASE(
    "a program that is no worker is an environment error, and a cache folder that cannot be is "
    "none") {
  auto options = service_options();
  options.program = "/bin/false";
  options.cache_folder = "/proc/no/such/folder";
  CompileService service(options);
  CHECK_FALSE(service.cache_problem().empty());
  CHECK_THROWS_AS(static_cast<void>(service.compile(request(1))), warpath::Error);
  CHECK_THROWS_AS(static_cast<void>(service.compile(request(2))), warpath::Error);
}

TEST_CASE("headers of a library are compiled as they were read, and are part of the code's key") {
  Fixture of;
  of.variant.source =
      "#include <lib/part.cuh>\nextern \"C\" __global__ void k(float* o) { o[0] = kPart + N; }";
  const TemporaryFolder folder;
  fs::create_directories(folder / "lib/detail");
  const auto read = [&](const std::string& value) {
    std::ofstream(folder / "lib/part.cuh") << "#pragma once\n#include \"detail/value.cuh\"\n"
                                              "#include <cmath>\n";
    std::ofstream(folder / "lib/detail/value.cuh") << "constexpr int kPart = " + value + ";\n";
    of.spec.source = of.variant.source;
    of.spec.system_include_folders = {folder.path().string()};
    of.spec.system_headers = nullptr;
    warpath::read_system_headers(of.spec);
    return request_for(of.spec, of.variant, of.spec.workloads[0], "sm_90a");
  };
  const CompileRequest three = read("3");
  CHECK(three.headers.size() == 2);
  CompileService service(service_options());
  const CodePtr code = service.compile(three);
  INFO(code->log);
  CHECK(code->status == Status::ok);
  const CompileRequest four = read("4");
  CHECK(service.compile(four)->ptx != code->ptx);
  CHECK(warpath::cuda::code_key(three, "") != warpath::cuda::code_key(four, ""));
  const CodePtr broken = service.compile(read("oops"));
  CHECK(broken->status == Status::compile_error);
  CHECK(broken->log.find("lib/detail/value.cuh(1): error") != std::string::npos);
}

TEST_SUITE_END();
