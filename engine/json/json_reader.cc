#include "engine/json/json_reader.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/format.h"

namespace warpath {
namespace {

using nlohmann::json;

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80) {
      out += c;
      continue;
    }
    out += "\\x" + hex_text({&c, 1});
  }
  return out;
}

std::string line_and_column(std::string_view text, std::size_t position) {
  std::size_t line = 1, column = 1;
  // The parser reports the count of characters read, the offending one included.
  for (std::size_t i = 0; i + 1 < position && i < text.size(); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n' ? 1 : 0;
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Builds the document and refuses what nlohmann's own parser lets pass: duplicate keys and deep
/// nesting.
class DocumentBuilder final : public nlohmann::json_sax<json> {
 public:
  DocumentBuilder(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  [[nodiscard]] json take() { return std::move(root_); }

  bool null() override { return put(nullptr), true; }
  bool boolean(bool x) override { return put(x), true; }
  bool number_integer(number_integer_t x) override { return put(x), true; }
  bool number_unsigned(number_unsigned_t x) override { return put(x), true; }
  bool number_float(number_float_t x, const string_t&) override { return put(x), true; }
  bool string(string_t& x) override { return put(std::move(x)), true; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()), true; }
  bool start_array(std::size_t) override { return open(json::array()), true; }
  bool end_object() override { return stack_.pop_back(), true; }
  bool end_array() override { return stack_.pop_back(), true; }
  bool key(string_t& name) override {
    Level& level = stack_.back();
    level.key = std::move(name);
    if (level.value->contains(level.key)) {
      throw bad_input(file_ + ":" + join_pointer(pointer(), level.key), level.key,
                      "each key once in an object");
    }
    return true;
  }
  bool parse_error(std::size_t position,
                   const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    std::string what = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ...":
    // keep the end.
    if (const auto end = what.find(": "); end != std::string::npos) {
      what.erase(0, end + 2);
    } else if (const auto bracket = what.find("] "); bracket != std::string::npos) {
      what.erase(0, bracket + 2);
    }
    throw bad_input(file_ + ":" + line_and_column(text_, position),
                    last_token.empty() ? "the end" : printable(last_token),
                    "valid JSON (" + printable(what) + ")");
  }

 private:
  struct Level {
    json* value;
    std::string key;
  };
  [[nodiscard]] std::string pointer() const {
    std::string out;
    for (std::size_t i = 0; i + 1 < stack_.size(); ++i) {
      const Level& level = stack_[i];
      out = join_pointer(
          out, level.value->is_array() ? std::to_string(level.value->size() - 1) : level.key);
    }
    return out;
  }
  template <class T>
  json* put(T&& x) {
    if (stack_.empty()) return &(root_ = std::forward<T>(x));
    json& parent = *stack_.back().value;
    if (!parent.is_array()) return &(parent[stack_.back().key] = std::forward<T>(x));
    parent.push_back(std::forward<T>(x));
    return &parent.back();
  }
  void open(json container) {
    if (stack_.size() >= kMaxJsonDepth) {
      throw bad_input(file_ + ":" + pointer(), "deeper nesting",
                      "at most " + std::to_string(kMaxJsonDepth) + " levels of objects and lists");
    }
    json* const value = put(std::move(container));
    stack_.push_back({value, {}});
  }

  std::string_view text_;
  const std::string& file_;
  json root_;
  std::vector<Level> stack_;  // pointers stay valid: a parent grows only after its child is closed
};

}  // namespace

JsonCursor::JsonCursor(const json& value, std::string file, std::string pointer)
    : value_(&value), file_(std::move(file)), pointer_(std::move(pointer)) {}

std::string JsonCursor::place() const {
  return pointer_.empty() ? file_ : file_ + ":" + pointer_;
}

std::string JsonCursor::pointer_to(std::string_view key) const {
  return join_pointer(pointer_, key);
}

std::optional<JsonCursor> JsonCursor::find(std::string_view key) const {
  require_object();
  const auto it = value_->find(key);
  if (it == value_->end() || it->is_null()) return std::nullopt;
  return JsonCursor(*it, file_, join_pointer(pointer_, key));
}

JsonCursor JsonCursor::at(std::string_view key) const {
  auto found = find(key);
  if (!found)
    throw bad_input(place(), "no \"" + std::string(key) + "\"",
                    "the key \"" + std::string(key) + "\"");
  return *found;
}

JsonCursor JsonCursor::element(std::size_t i) const {
  require_array();
  return {value_->at(i), file_, join_pointer(pointer_, std::to_string(i))};
}

std::size_t JsonCursor::size() const {
  return value_->size();
}

void JsonCursor::require_object() const {
  if (!value_->is_object()) fail("an object");
}
void JsonCursor::require_array() const {
  if (!value_->is_array()) fail("a list");
}

std::string JsonCursor::text() const {
  if (!value_->is_string()) fail("text");
  return value_->get<std::string>();
}

std::int64_t JsonCursor::integer() const {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value_->is_number_integer() ||
      (value_->is_number_unsigned() && value_->get<std::uint64_t>() > kMax)) {
    fail("an integer that fits 64 bits");
  }
  return value_->get<std::int64_t>();
}

std::uint64_t JsonCursor::unsigned_integer() const {
  if (!value_->is_number_unsigned() &&
      !(value_->is_number_integer() && value_->get<std::int64_t>() >= 0)) {
    fail("an integer from 0 to 18446744073709551615");
  }
  return value_->get<std::uint64_t>();
}

double JsonCursor::number() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>())) fail("a finite number");
  return value_->get<double>();
}

bool JsonCursor::boolean() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

void JsonCursor::fail(std::string_view expected) const {
  // A long value is cut, but never printed whole first: it may be megabytes of embedded data.
  const bool large = value_->is_structured() && value_->size() > 16;
  const std::string shown =
      large ? std::string(value_->type_name()) + " of " + std::to_string(value_->size())
            : value_->dump(-1, ' ', true);
  throw bad_input(place(), shown, expected);
}

std::string join_pointer(std::string_view pointer, std::string_view key) {
  std::string out(pointer);
  out += '/';
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

json parse_json(std::string_view text, const std::string& file) {
  if (text.size() > kMaxJsonBytes) {
    throw bad_input(file, std::to_string(text.size()) + " bytes",
                    "JSON of at most " + std::to_string(kMaxJsonBytes) + " bytes");
  }
  DocumentBuilder builder(text, file);
  if (!json::sax_parse(text, &builder)) throw bad_input(file, "", "valid JSON");
  return builder.take();
}

std::string read_text_file(const std::string& path, std::size_t max_bytes, std::string_view place) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw bad_input(place, path, "a file that exists");
  if (!std::filesystem::is_regular_file(status)) throw bad_input(place, path, "a regular file");
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > max_bytes) {
    throw bad_input(place, path + " of " + std::to_string(size) + " bytes",
                    "a file of at most " + std::to_string(max_bytes) + " bytes");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw bad_input(place, path, "a readable file (" + std::string(std::strerror(errno)) + ")");
  std::string out(static_cast<std::size_t>(error ? 0 : size), '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(in.gcount()));
  return out;
}

json read_json_file(const std::string& path) {
  return parse_json(read_text_file(path, kMaxJsonBytes, path), path);
}

}  // namespace warpath
