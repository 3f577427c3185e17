#include "runners/cuda/compile/code_cache.h"

namespace warpath::cuda {

Hash128 code_key(const CompileRequest& request, std::string_view nvrtc_version) {
  Hasher hasher;
  hasher.add("code").add(request.source).add(request.kernel).add(request.arch).add(nvrtc_version);
  hasher.add(static_cast<std::uint64_t>(request.options.size()));
  for (const std::string& option : request.options) hasher.add(option);
  for (const Header& header : request.headers) hasher.add(header.name).add(header.text);
  if (request.language != KernelType::cuda) {
    hasher.add(static_cast<std::uint64_t>(request.language));
    for (const std::string& parameter : request.parameters) hasher.add(parameter);
    hasher.add(request.threads_per_block);
  }
  return hasher.digest();
}

std::optional<CompileResult> CodeCache::find(const Hash128& key) {
  const auto text = entries_.find(key);
  CompileResult result;
  if (!text) return std::nullopt;
  if (decode(*text, result)) return result;
  entries_.drop(key);
  return std::nullopt;
}

void CodeCache::store(const Hash128& key, const CompileResult& result) {
  if (result.status == Status::ok || result.status == Status::compile_error)
    entries_.store(key, encode(result));
}

}  // namespace warpath::cuda
