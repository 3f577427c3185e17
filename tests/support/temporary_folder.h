#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "engine/base/temporary_folder.h"

namespace warpath::test {

using warpath::TemporaryFolder;

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

inline void put_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace warpath::test
