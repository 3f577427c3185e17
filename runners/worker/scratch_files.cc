#include "runners/worker/scratch_files.h"

#include <fstream>
#include <iterator>

#include "engine/base/error.h"

namespace warpath {

void write_scratch(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw environment_error("cannot write " + path.string());
}

std::string read_scratch(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return file ? std::string(std::istreambuf_iterator<char>(file), {}) : std::string();
}

}  // namespace warpath
