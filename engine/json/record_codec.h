#pragma once

// Descriptions (json_codec.h) of records, which the program writes for itself, without a schema.
// Include only from .cc files.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/json/json_codec.h"
#include "engine/json/json_record.h"

namespace warpath {

/// A string literal as a template argument.
template <std::size_t size>
struct RecordKey {
  char text[size]{};
  consteval RecordKey(const char (&literal)[size]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(literal, size, text);
  }
};

/// A key that is always present; `As` reads and writes its member in place of the member's Codec.
template <RecordKey key, auto member, class As = void, bool required = true>
struct Kept {
  template <class V>
  static void field(V& v) {
    constexpr KeyText kField{.key = key.text, .help = "", .required = required};
    if constexpr (std::is_void_v<As>) {
      v(member, kField);
    } else {
      v.template as<As>(member, kField);
    }
  }
};
/// A key that is present if the member differs from its default.
template <RecordKey key, auto member, class As = void>
using Sparse = Kept<key, member, As, false>;

/// True for an ObjectWriter.
template <class V>
inline constexpr bool kWrites = requires(V& v) { v.take(); };
/// A key that is always written, and may be absent or null: it is added to what was written
/// without it.
template <RecordKey key, auto member, class As = void>
struct Added {
  template <class V>
  static void field(V& v) {
    Kept<key, member, As, kWrites<V>>::field(v);
  }
};

/// A key that no member holds and whose value never changes: the name or the version of a format.
/// Read before all else if it is the first, since another format has other keys.
template <RecordKey key, RecordKey word>
struct Always {
  struct Value {
    static void read(const JsonCursor& cursor, auto&) {
      if (cursor.text() != word.text) cursor.fail(word.text);
    }
    [[nodiscard]] static nlohmann::json write(const auto&) { return word.text; }
  };
  template <class V>
  static void field(V& v) {
    v.template custom<Value>({.key = key.text, .help = "", .required = true});
  }
};
template <RecordKey key, std::uint64_t number>
struct AlwaysNumber {
  struct Value {
    static void read(const JsonCursor& cursor, auto&) {
      if (cursor.unsigned_integer() != number) cursor.fail(std::to_string(number));
    }
    [[nodiscard]] static nlohmann::json write(const auto&) { return number; }
  };
  template <class V>
  static void field(V& v) {
    v.template custom<Value>({.key = key.text, .help = "", .required = true});
  }
};

/// Base of the Description of a record:
///   template <> struct Description<Point> : Record<Kept<"x", &Point::x>, Kept<"y", &Point::y>> {};
template <class... Keys>
struct Record {
  template <class V>
  static void fields(V& v) {
    (Keys::field(v), ...);
  }
};

/// The Codec of a T with these keys, for a T without a Description or with another one:
///   template <> struct Codec<Point> : RecordOf<Point, Kept<"x", &Point::x>> {};
template <class T, class... Keys>
struct RecordOf {
  static void read(const JsonCursor& cursor, T& out) {
    ObjectReader<T> reader(cursor, out);
    (Keys::field(reader), ...);
    reader.refuse_unknown();
  }
  [[nodiscard]] static nlohmann::json write(const T& value) {
    ObjectWriter<T> writer(value);
    (Keys::field(writer), ...);
    return writer.take();
  }
};

/// A member of a row.
template <auto member, class As = void>
struct Column {
  template <class T>
  using CodecOf =
      std::conditional_t<std::is_void_v<As>, Codec<std::remove_cvref_t<decltype(T{}.*member)>>, As>;
  template <class T>
  static void read(const JsonCursor& cursor, T& out) {
    CodecOf<T>::read(cursor, out.*member);
  }
  template <class T>
  [[nodiscard]] static nlohmann::json write(const T& value) {
    return CodecOf<T>::write(value.*member);
  }
};
/// A T as an array of its members without their names, for what a file holds a million of:
///   template <> struct Codec<Point> : RowOf<Point, Column<&Point::x>, Column<&Point::y>> {};
template <class T, class... Columns>
struct RowOf {
  static void read(const JsonCursor& cursor, T& out) {
    cursor.require_array();
    if (cursor.size() != sizeof...(Columns))
      cursor.fail(std::to_string(sizeof...(Columns)) + " values");
    std::size_t i = 0;
    (Columns::read(cursor.element(i++), out), ...);
  }
  [[nodiscard]] static nlohmann::json write(const T& value) {
    return nlohmann::json::array({Columns::write(value)...});
  }
};

/// Unsigned integers and numbered things (NodeId) of any width.
struct Natural {
  template <class T>
  static void read(const JsonCursor& cursor, T& out) {
    const std::uint64_t x = cursor.unsigned_integer();
    if (x > kMost<T>) cursor.fail("an integer up to " + std::to_string(kMost<T>));
    out = static_cast<T>(x);
  }
  template <class T>
  [[nodiscard]] static nlohmann::json write(const T& value) {
    return static_cast<std::uint64_t>(value);
  }

 private:
  template <class T>
  static constexpr std::uint64_t most() {
    if constexpr (std::is_enum_v<T>) {
      return std::numeric_limits<std::underlying_type_t<T>>::max();
    } else {
      return std::numeric_limits<T>::max();
    }
  }
  template <class T>
  static constexpr std::uint64_t kMost = most<T>();
};

/// Numbers including non-finite ones (number_to_json).
struct AnyNumber {
  static void read(const JsonCursor& cursor, double& out) { out = any_number(cursor); }
  static void read(const JsonCursor& cursor, std::vector<double>& out) {
    out.clear();
    out.reserve(cursor.size());
    for (std::size_t i = 0; i < cursor.size(); ++i) out.push_back(any_number(cursor.element(i)));
  }
  [[nodiscard]] static nlohmann::json write(double x) { return number_to_json(x); }
  [[nodiscard]] static nlohmann::json write(const std::vector<double>& values) {
    auto out = nlohmann::json::array();
    for (const double x : values) out.push_back(number_to_json(x));
    return out;
  }
};

/// Numbers of at least 0.
struct NotNegative {
  template <class T>
  static void read(const JsonCursor& cursor, T& out) {
    Codec<T>::read(cursor, out);
    if (!(out >= 0)) cursor.fail("a number of at least 0");
  }
  template <class T>
  [[nodiscard]] static nlohmann::json write(const T& value) {
    return value;
  }
};
/// Numbers above 0.
struct Positive {
  template <class T>
  static void read(const JsonCursor& cursor, T& out) {
    Codec<T>::read(cursor, out);
    if (!(out > 0)) cursor.fail("a number above 0");
  }
  template <class T>
  [[nodiscard]] static nlohmann::json write(const T& value) {
    return value;
  }
};

/// Text in which invalid UTF-8 is replaced (valid_utf8).
struct ValidText {
  static void read(const JsonCursor& cursor, std::string& out) { out = cursor.text(); }
  [[nodiscard]] static nlohmann::json write(std::string_view text) { return valid_utf8(text); }
};
/// What is not UTF-8 is kept too (any_text_to_json).
struct AnyText {
  static void read(const JsonCursor& cursor, std::string& out) { out = any_text(cursor); }
  [[nodiscard]] static nlohmann::json write(std::string_view text) {
    return any_text_to_json(text);
  }
};

/// A vector or an optional by the codec of what it holds.
template <class C>
struct Each {
  template <class T>
  static void read(const JsonCursor& cursor, std::vector<T>& out) {
    cursor.require_array();
    out.clear();
    for (std::size_t i = 0; i < cursor.size(); ++i) C::read(cursor.element(i), out.emplace_back());
  }
  template <class T>
  [[nodiscard]] static nlohmann::json write(const std::vector<T>& values) {
    auto out = nlohmann::json::array();
    for (const T& value : values) out.push_back(C::write(value));
    return out;
  }
};
template <class C>
struct Maybe {
  template <class T>
  static void read(const JsonCursor& cursor, std::optional<T>& out) {
    C::read(cursor, out.emplace());
  }
  template <class T>
  [[nodiscard]] static nlohmann::json write(const std::optional<T>& value) {
    return value ? C::write(*value) : nlohmann::json();
  }
};

template <>
struct Codec<Hash128> {
  static void read(const JsonCursor& cursor, Hash128& out) { out = hash_from_json(cursor); }
  static nlohmann::json write(const Hash128& hash) { return hash.hex(); }
};

}  // namespace warpath
