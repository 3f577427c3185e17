#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/spec/spec_load.h"
#include "engine/spec/variant.h"
#include "runners/cuda/compile/compile_service.h"
#include "tests/cuda/support.h"
#include "tests/support/temporary_folder.h"

namespace fs = std::filesystem;
using warpath::baseline_variant;
using warpath::KernelSpec;
using warpath::Status;
using warpath::Variant;
using warpath::test::TemporaryFolder;
using namespace warpath::cuda;

namespace {

/// specs/cute as a user has it who followed specs/README.md; CUTLASS is that of WARPATH_CUTLASS.
class LinkedSpec {
 public:
  explicit LinkedSpec(const fs::path& headers) {
    fs::copy(fs::path(WARPATH_SOURCE_ROOT) / "specs/cute", folder_.path());
    fs::create_directory(folder_ / "cutlass");
    fs::create_directory_symlink(headers, folder_ / "cutlass/include");
  }
  [[nodiscard]] KernelSpec load() const {
    return warpath::load_specs((folder_ / "sgemm_nt.json").string()).front();
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_SUITE_BEGIN("cute");  // needs CUTLASS and the toolkit's own libraries

TEST_CASE("the template parameters of a kernel in CuTe are tunables") {
  const char* const headers = std::getenv("WARPATH_CUTLASS");
  if (headers == nullptr || !fs::exists("/usr/local/cuda/include/cccl")) {
    MESSAGE("skipped: WARPATH_CUTLASS names no folder, or the toolkit has no include/cccl");
    return;
  }
  const LinkedSpec linked(headers);
  const KernelSpec spec = linked.load();
  CompileServiceOptions options;
  options.program = fs::read_symlink("/proc/self/exe").string();
  options.limits = cuda_test::pool_options(1).setup.limits;
  options.limits.seconds = 120;
  CompileService service(options);
  Variant variant = baseline_variant(spec);
  const auto shared_bytes = [&] {
    const CodePtr code =
        service.compile(request_for(spec, variant, spec.workloads.front(), "sm_90a"));
    REQUIRE_MESSAGE(code->status == Status::ok, code->log);
    return code->usage.static_smem_bytes;
  };
  CHECK(shared_bytes() == (64 + 64) * 8 * 4);
  variant.tunables["TILE_K"] = 16;
  CHECK(shared_bytes() == (64 + 64) * 16 * 4);
}

TEST_SUITE_END();
