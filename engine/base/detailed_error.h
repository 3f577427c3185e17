#pragma once

#include <string>
#include <utility>

#include "engine/base/error.h"

namespace warpath {

/// An Error with details beyond its one line, such as compiler output. main() prints them below the
/// line.
class DetailedError : public Error {
 public:
  DetailedError(const Error& error, std::string details)
      : Error(error), details_(std::move(details)) {}
  [[nodiscard]] const std::string& details() const noexcept { return details_; }

 private:
  std::string details_;
};

/// The details of `error`, each line prefixed by `indent`; empty if there are none beyond its own
/// line.
[[nodiscard]] std::string details_text(const std::exception& error, const std::string& indent);

/// `text` with every line prefixed by `indent`.
[[nodiscard]] std::string indented_lines(const std::string& text, const std::string& indent);

}  // namespace warpath
