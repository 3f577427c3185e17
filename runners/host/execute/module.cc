#include "runners/host/execute/module.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "runners/host/execute/object_file.h"

namespace {

/// The argument of the C library's own thread-local lookup (ELF TLS ABI).
struct TlsIndex {
  unsigned long module_id;
  unsigned long offset;
};

}  // namespace
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the linker's
extern "C" void* __tls_get_addr(TlsIndex* index);

namespace warpath::host {
namespace {

struct Found {
  const void* inside = nullptr;  // an address of the module looked for
  bool hit = false;
  std::size_t shared_bytes = 0;
  ElfW(Addr) first = std::numeric_limits<ElfW(Addr)>::max(), last = 0;
  std::vector<std::pair<ElfW(Addr), std::size_t>> writable;
  std::pair<ElfW(Addr), std::size_t> relro{0, 0};
};

int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& found = *static_cast<Found*>(data);
  const auto address = reinterpret_cast<ElfW(Addr)>(found.inside);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const auto begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && begin <= address && address < begin + segment.p_memsz)
      found.hit = true;
  }
  if (!found.hit) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::pair range{static_cast<ElfW(Addr)>(info->dlpi_addr + segment.p_vaddr),
                          static_cast<std::size_t>(segment.p_memsz)};
    if (segment.p_type == PT_TLS) found.shared_bytes = segment.p_memsz;
    if (segment.p_type == PT_LOAD) {
      found.first = std::min(found.first, range.first);
      found.last = std::max(found.last, range.first + range.second);
      if ((segment.p_flags & PF_W) != 0) found.writable.push_back(range);
    }
    if (segment.p_type == PT_GNU_RELRO) found.relro = range;
  }
  return 1;
}

}  // namespace

Module::Module(const std::string& path, int descriptor, std::size_t kernel, std::string& why) {
  const OfferedObject offered(path.c_str(), descriptor);
  handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    why = "cannot load the compiled kernel";
    if (const char* text = ::dlerror(); text != nullptr) {
      const std::string message = text;
      const auto colon = message.rfind(": ");  // the path stands before it
      why += colon == std::string::npos ? "" : message.substr(colon);
    }
    return;
  }
  const auto* const exported =
      static_cast<const WarpathEntry* const*>(::dlsym(handle_, "warpath_entries"));
  std::size_t count = 0;
  while (exported != nullptr && exported[count] != nullptr) ++count;
  if (kernel >= count) {
    why = "the compiled kernel has no entry";
    ::dlclose(std::exchange(handle_, nullptr));
    return;
  }
  entry_ = exported[kernel];
  Found found;
  found.inside = static_cast<const void*>(exported);
  ::dl_iterate_phdr(visit, &found);
  shared_bytes_ = found.shared_bytes;
  if (found.hit) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of the loader
    image_ = {reinterpret_cast<const std::byte*>(found.first), found.last - found.first};
  }
  const auto relro_end = found.relro.first + found.relro.second;
  for (auto [begin, size] : found.writable) {
    auto end = begin + size;
    if (found.relro.first <= begin && begin < relro_end) begin = std::min(relro_end, end);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses of the loader
    if (begin < end) writable_.push_back({reinterpret_cast<std::byte*>(begin), end - begin});
  }
}

Module::~Module() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

Module::Module(Module&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      entry_(other.entry_),
      shared_bytes_(other.shared_bytes_),
      image_(other.image_),
      writable_(std::move(other.writable_)) {}

Module& Module::operator=(Module&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(entry_, other.entry_);
  std::swap(shared_bytes_, other.shared_bytes_);
  std::swap(image_, other.image_);
  std::swap(writable_, other.writable_);
  return *this;
}

void* Module::shared() const {
  std::size_t module_id = 0;
  if (::dlinfo(handle_, RTLD_DI_TLS_MODID, &module_id) != 0 || module_id == 0) return nullptr;
  TlsIndex index{module_id, 0};
  return __tls_get_addr(&index);  // makes the block if this thread has none yet; dlinfo would not
}

std::vector<std::byte> Module::state() const {
  std::vector<std::byte> out;
  for (const auto& segment : writable_)
    out.insert(out.end(), segment.begin, segment.begin + segment.size);
  return out;
}

void Module::restore(const std::vector<std::byte>& state) {
  auto from = state.begin();
  for (const auto& segment : writable_) {
    std::copy_n(from, segment.size, segment.begin);
    from += static_cast<std::ptrdiff_t>(segment.size);
  }
}

}  // namespace warpath::host
