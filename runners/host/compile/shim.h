#pragma once

#include <string_view>
#include <vector>

namespace warpath::host {

/// A header of runners/host/shim, embedded so that the program runs wherever it is copied.
struct ShimFile {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] const std::vector<ShimFile>& shim_files();

}  // namespace warpath::host
