#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warpath::capture {

/// JSON of a text, in quotes; bytes outside ASCII are escaped one by one.
[[nodiscard]] std::string quoted(std::string_view text);
/// Two hexadecimal digits a byte.
[[nodiscard]] std::string hex(std::span<const std::byte> bytes);
/// 128 bits of XXH3, as 32 digits.
[[nodiscard]] std::string content_hash(std::span<const std::byte> bytes);

/// The log of one process: lines of JSON below FOLDER/log, each written by one write(2), so that a
/// killed process leaves whole lines but perhaps for the last. Not thread-safe. Files are made
/// with the first line; one that cannot be written is given up, with one line on stderr.
class LogFile {
 public:
  /// `folder`: absolute; empty: nothing is written.
  explicit LogFile(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] bool open() const { return !folder_.empty(); }
  /// Appends a line; `object` without its line feed.
  void write(const std::string& object);
  /// Writes FOLDER/NAME unless it exists, by a temporary file. False if it cannot be written.
  bool store(const std::string& name, std::span<const std::byte> content);
  /// The next line goes to a new file: after a fork.
  void forget() { descriptor_ = -1; }

 private:
  void start();
  void give_up(const std::string& name);

  std::string folder_;
  int descriptor_ = -1;
};

}  // namespace warpath::capture
