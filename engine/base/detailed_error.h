#pragma once

#include <string>
#include <utility>

#include "engine/base/error.h"

namespace warpath {

/// An Error with more to say than one line: what a compiler said. main() prints the details below
/// the line.
class DetailedError : public Error {
 public:
  DetailedError(const Error& error, std::string details)
      : Error(error), details_(std::move(details)) {}
  [[nodiscard]] const std::string& details() const noexcept { return details_; }

 private:
  std::string details_;
};

/// The details of `error`, each line behind `indent`; empty where it has none, or only what its own
/// line says.
[[nodiscard]] std::string details_text(const std::exception& error, const std::string& indent);

/// `text` with `indent` before every line.
[[nodiscard]] std::string indented_lines(const std::string& text, const std::string& indent);

}  // namespace warpath
