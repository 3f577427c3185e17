#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// What is traded for size.
enum class Effort : std::uint8_t { fast, normal, most };

/// A zlib stream (RFC 1950).
[[nodiscard]] std::vector<std::byte> zlib_deflate(std::span<const std::byte> bytes,
                                                  Effort effort = Effort::normal);
/// Decompresses a zlib stream. nullopt unless it is complete, intact and of exactly `size_bytes`;
/// never allocates more than that.
[[nodiscard]] std::optional<std::vector<std::byte>> zlib_inflate(std::span<const std::byte> bytes,
                                                                 std::size_t size_bytes);

/// A gzip file (RFC 1952), as zcat reads it, of a text that comes piece by piece; what it becomes
/// goes to `sink`.
class GzipWriter {
 public:
  explicit GzipWriter(std::function<void(std::string_view)> sink, Effort effort = Effort::normal);
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;
  ~GzipWriter();

  void add(std::string_view text);
  void finish();

 private:
  struct State;
  void deflate(std::string_view text, bool last);

  std::function<void(std::string_view)> sink_;
  std::unique_ptr<State> state_;
};
/// The whole file; the same bytes for the same text and effort.
[[nodiscard]] std::string gzip(std::string_view text, Effort effort = Effort::normal);
/// nullopt unless it is one complete, intact gzip stream of exactly `size_bytes`.
[[nodiscard]] std::optional<std::string> gunzip(std::string_view bytes, std::size_t size_bytes);
/// The file's bytes, decompressed if they are gzip. Throws Error(bad_input) "FILE: got ...,
/// expected WANTED".
[[nodiscard]] std::string read_maybe_gzip(const std::filesystem::path& file,
                                          std::string_view wanted);

}  // namespace warpath
