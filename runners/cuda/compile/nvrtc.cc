#include "runners/cuda/compile/nvrtc.h"

#include <dlfcn.h>
#include <link.h>
#include <nvrtc.h>

#include <algorithm>

namespace warpath::cuda {

// clang-format off
#define WARPATH_NVRTC(X) \
  X(nvrtcVersion) X(nvrtcGetNumSupportedArchs) X(nvrtcGetSupportedArchs) X(nvrtcGetErrorString) \
  X(nvrtcCreateProgram) X(nvrtcDestroyProgram) X(nvrtcAddNameExpression) X(nvrtcCompileProgram) \
  X(nvrtcGetLoweredName) X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) \
  X(nvrtcGetPTXSize) X(nvrtcGetPTX) X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN)
// clang-format on

struct Nvrtc::Table {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define WARPATH_X(function) decltype(&::function) function = nullptr;
  WARPATH_NVRTC(WARPATH_X)
#undef WARPATH_X
};

namespace {

constexpr int kOldestMajor = 12;

/// Owns one program.
template <class Table>
class Program {
 public:
  Program(const Table& table, const NvrtcInput& input) : table_(table) {
    std::vector<const char*> texts;
    std::vector<const char*> names;
    for (const Header& header : input.headers) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
    if (table_.nvrtcCreateProgram(&program_, input.source.c_str(), kSourceName,
                                  static_cast<int>(texts.size()), texts.data(),
                                  names.data()) != NVRTC_SUCCESS) {
      program_ = nullptr;
    }
  }
  ~Program() {
    if (program_ != nullptr) static_cast<void>(table_.nvrtcDestroyProgram(&program_));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] nvrtcProgram get() const { return program_; }

  /// Text or bytes that the library hands out by a size function and a copy function; empty if it
  /// has none.
  template <class Size, class Copy>
  [[nodiscard]] std::string fetch(Size size_of, Copy copy) const {
    std::size_t size = 0;
    if (size_of(program_, &size) != NVRTC_SUCCESS || size == 0) return {};
    std::string bytes(size, '\0');
    if (copy(program_, bytes.data()) != NVRTC_SUCCESS) return {};
    return bytes;
  }

 private:
  const Table& table_;
  nvrtcProgram program_ = nullptr;
};

std::string without_final_nul(std::string text) {
  if (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace

std::optional<Nvrtc> Nvrtc::open(const std::string& library, std::string& why) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why = ::dlerror();
    return std::nullopt;
  }
  auto table = std::make_shared<Table>();
#define WARPATH_X(function)                                                                  \
  table->function = reinterpret_cast<decltype(table->function)>(::dlsym(handle, #function)); \
  if (table->function == nullptr) {                                                          \
    why = library + ": lacks " #function ", which every NVRTC from CUDA 12 on has";          \
    return std::nullopt;                                                                     \
  }
  WARPATH_NVRTC(WARPATH_X)
#undef WARPATH_X
  Nvrtc nvrtc;
  int count = 0;
  if (table->nvrtcVersion(&nvrtc.major_, &nvrtc.minor_) != NVRTC_SUCCESS ||
      table->nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS) {
    why = library + ": does not say its version";
    return std::nullopt;
  }
  if (nvrtc.major_ < kOldestMajor) {
    why = library + ": is NVRTC " + nvrtc.version() + "; " + std::to_string(kOldestMajor) +
          ".0 or newer is needed";
    return std::nullopt;
  }
  nvrtc.architectures_.resize(static_cast<std::size_t>(std::max(count, 0)));
  if (count > 0 && table->nvrtcGetSupportedArchs(nvrtc.architectures_.data()) != NVRTC_SUCCESS) {
    nvrtc.architectures_.clear();
  }
  std::ranges::sort(nvrtc.architectures_);
  nvrtc.path_ = library;
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr)
    nvrtc.path_ = map->l_name;
  nvrtc.table_ = std::move(table);
  return nvrtc;
}

NvrtcOutput Nvrtc::compile(const NvrtcInput& input) const {
  NvrtcOutput output;
  const Table& table = *table_;
  const Program program(table, input);
  if (program.get() == nullptr) return output;
  if (table.nvrtcAddNameExpression(program.get(), input.kernel.c_str()) != NVRTC_SUCCESS)
    return output;
  std::vector<const char*> options;
  for (const std::string& option : input.options) options.push_back(option.c_str());
  const nvrtcResult result =
      table.nvrtcCompileProgram(program.get(), static_cast<int>(options.size()), options.data());
  output.log =
      without_final_nul(program.fetch(table.nvrtcGetProgramLogSize, table.nvrtcGetProgramLog));
  output.out_of_memory = result == NVRTC_ERROR_OUT_OF_MEMORY;
  if (result == NVRTC_ERROR_INVALID_OPTION && output.log.empty()) {
    output.log = std::string(kSourceName) + "(0): error: the compiler refuses its options";
  }
  if (result != NVRTC_SUCCESS) return output;
  const char* lowered = nullptr;
  if (table.nvrtcGetLoweredName(program.get(), input.kernel.c_str(), &lowered) != NVRTC_SUCCESS)
    return output;
  output.lowered_name = lowered;
  output.ptx = without_final_nul(program.fetch(table.nvrtcGetPTXSize, table.nvrtcGetPTX));
  output.cubin = program.fetch(table.nvrtcGetCUBINSize, table.nvrtcGetCUBIN);
  output.compiled = !output.ptx.empty();
  return output;
}

}  // namespace warpath::cuda
