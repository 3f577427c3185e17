#include "engine/log/log_segments.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/base/compression.h"
#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/log/log_codec.h"

namespace warpath {

template <>
struct Description<LogSegment> : Record<Kept<"file", &LogSegment::file>,
                                        Kept<"size", &LogSegment::size>,
                                        Kept<"sum", &LogSegment::sum>,
                                        Kept<"end", &LogSegment::end>> {};
template <>
struct Description<LogHead>
    : Record<Kept<"segments", &LogHead::segments>, Kept<"first", &LogHead::first>> {};

namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 30U;

std::string file_of(const std::filesystem::path& folder, const LogSegment& segment) {
  const std::filesystem::path file = folder / segment.file;
  std::error_code error;
  if (segment.file.find('/') != std::string::npos || !std::filesystem::exists(file, error)) {
    throw bad_input(file.string(), "",
                    "this segment of the log, which is missing: put it back, or begin anew in "
                    "another folder");
  }
  std::string bytes = read_text_file(file.string(), kMostBytes, file.string());
  const Hash128 sum = hash128(bytes);
  if (bytes.size() != segment.size || sum != segment.sum) {
    throw bad_input(file.string(), "sum " + sum.hex(),
                    segment.sum.hex() + ": this segment of the log was altered or cut short");
  }
  return bytes;
}

}  // namespace

std::string encode(const LogHead& head) {
  std::string rest = Codec<LogHead>::write(head).dump();
  rest[0] = ',';
  return std::string(kLogHeadStart) + rest;
}

LogHead decode_log_head(std::string_view object, const std::string& place) {
  nlohmann::json members = nlohmann::json::parse(object, nullptr, false);
  if (!members.is_object()) throw bad_input(place, object, "a JSON object");
  members.erase("type");
  LogHead out;
  Codec<LogHead>::read(JsonCursor(members, place), out);
  return out;
}

std::string segment_name(const std::filesystem::path& log, std::size_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%06zu", number);
  return log.stem().string() + "." + digits + log.extension().string() + ".gz";
}

void verify_segment(const std::filesystem::path& folder, const LogSegment& segment) {
  static_cast<void>(file_of(folder, segment));
}

std::string segment_text(const std::filesystem::path& folder,
                         const LogSegment& segment,
                         const LogPosition& start) {
  const std::string bytes = file_of(folder, segment);
  const std::string file = (folder / segment.file).string();
  if (segment.end.bytes < start.bytes || segment.end.bytes - start.bytes > kMostBytes)
    throw bad_input(file, "", "a segment after the one before it");
  std::optional<std::string> text = gunzip(bytes, segment.end.bytes - start.bytes);
  if (!text) throw bad_input(file, "", "gzip of the size that the log states");
  return *std::move(text);
}

}  // namespace warpath
