#pragma once

// One description of a struct's fields yields its reader, its writer, the check for unknown keys
// and its JSON Schema. Include only from .cc files (it needs the whole of nlohmann/json).

#include <array>
#include <concepts>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/json/json_reader.h"

namespace warpath {

/// Properties of one key. An absent or null key leaves the member's default unless `required`; a
/// required optional member is always written, as null if it has no value.
struct KeyText {
  std::string_view key;
  std::string_view help;
  bool required = false;
};

/// Specialise for a struct T with `template <class V> static void fields(V& v)` and, if it has a
/// schema, `static constexpr std::string_view title` (its name there) and `help`. `fields` calls,
/// in reading order:
///   v(&T::member, KeyText): a member, of T or of a base of it, of a type that has a Codec
///   v.template as<C>(&T::member, KeyText): a member that C reads and writes in place of its Codec
///   v.template alternative<A>(&T::m, KeyText): alternative A of the variant `m`, chosen by the key
///   v.template held<A>(KeyText): alternative A of T, which is itself a variant
///   v.group(KeyText, [](auto& g) {...}): members of T that are stored in a nested object
///   v.template custom<P>(KeyText): P::read(cursor, T&), P::write(const T&) -> json (null: left
///     out unless required), P::schema(defs)
///   v.ignored(KeyText, schema): a key of other systems that is accepted without effect
template <class T>
struct Description;
template <class T>
concept Described = requires { sizeof(Description<T>); };

/// Definitions collected while a schema is built: title -> schema.
using SchemaDefs = std::map<std::string, nlohmann::json>;

/// Specialise with `read(const JsonCursor&, T&)`, `write(const T&)` and `schema(SchemaDefs&)`.
template <class T>
struct Codec;

template <class T>
class ObjectReader {
 public:
  ObjectReader(const JsonCursor& at, T& out) : at_(at), out_(out) { at.require_object(); }

  template <class M, class B>
  void operator()(M B::* member, const KeyText& field) {
    as<Codec<M>>(member, field);
  }
  template <class C, class M, class B>
  void as(M B::* member, const KeyText& field) {
    if (const auto found = find(field)) C::read(*found, out_.*member);
  }
  template <class C, class M, class B>
  void as(std::optional<M> B::* member, const KeyText& field) {
    known_.push_back(field.key);
    if (const auto found = at_.find(field.key)) C::read(*found, out_.*member);
  }
  template <class A, class... Ts>
  void alternative(std::variant<Ts...> T::* member, const KeyText& field) {
    const auto found = find(field);
    if (!found) return;
    if ((out_.*member).index() != 0) found->fail("only one of the keys that exclude each other");
    A value;
    Codec<A>::read(*found, value);
    out_.*member = std::move(value);
  }
  template <class A>
  void held(const KeyText& field) {
    const auto found = find(field);
    if (!found) return;
    if (out_.index() != 0) found->fail("only one of the keys that exclude each other");
    A value;
    Codec<A>::read(*found, value);
    out_ = std::move(value);
  }
  template <class F>
  void group(const KeyText& field, F&& fields) {
    const auto found = find(field);
    if (!found) return;
    ObjectReader nested(*found, out_);
    fields(nested);
    nested.refuse_unknown();
  }
  template <class P>
  void custom(const KeyText& field) {
    if (const auto found = find(field)) P::read(*found, out_);
  }
  void ignored(const KeyText& field, const nlohmann::json&) { static_cast<void>(find(field)); }

  void refuse_unknown() const {
    for (const auto& [key, value] : at_.value().items()) {
      bool known = false;
      for (const auto& name : known_) known = known || name == key;
      if (known) continue;
      std::string names;
      for (const auto& name : known_) names += (names.empty() ? "" : " ") + std::string(name);
      JsonCursor(value, at_.file(), at_.pointer_to(key)).fail("a known key (" + names + ")");
    }
  }

 private:
  std::optional<JsonCursor> find(const KeyText& field) {
    known_.push_back(field.key);
    return field.required ? std::optional(at_.at(field.key)) : at_.find(field.key);
  }

  JsonCursor at_;
  T& out_;
  std::vector<std::string_view> known_;
};

template <class T>
class ObjectWriter {
 public:
  explicit ObjectWriter(const T& value) : value_(value) {}

  template <class M, class B>
  void operator()(M B::* member, const KeyText& field) {
    as<Codec<M>>(member, field);
  }
  template <class C, class M, class B>
  void as(M B::* member, const KeyText& field) {
    auto written = C::write(value_.*member);
    if (field.required || written != C::write(default_.*member))
      out_[std::string(field.key)] = std::move(written);
  }
  template <class A, class... Ts>
  void alternative(std::variant<Ts...> T::* member, const KeyText& field) {
    if (const A* held = std::get_if<A>(&(value_.*member)))
      out_[std::string(field.key)] = Codec<A>::write(*held);
  }
  template <class A>
  void held(const KeyText& field) {
    if (const A* value = std::get_if<A>(&value_))
      out_[std::string(field.key)] = Codec<A>::write(*value);
  }
  template <class F>
  void group(const KeyText& field, F&& fields) {
    ObjectWriter nested(value_);
    fields(nested);
    if (field.required || !nested.out_.empty())
      out_[std::string(field.key)] = std::move(nested.out_);
  }
  template <class P>
  void custom(const KeyText& field) {
    auto written = P::write(value_);
    if (field.required || !written.is_null()) out_[std::string(field.key)] = std::move(written);
  }
  void ignored(const KeyText&, const nlohmann::json&) {}

  [[nodiscard]] nlohmann::json take() { return std::move(out_); }

 private:
  const T& value_;
  T default_{};
  nlohmann::json out_ = nlohmann::json::object();
};

template <class T>
class ObjectSchema {
 public:
  explicit ObjectSchema(SchemaDefs& defs) : defs_(defs) {}

  template <class M, class B>
  void operator()(M B::* member, const KeyText& field) {
    auto schema = Codec<M>::schema(defs_);
    const auto standard = Codec<M>::write(default_.*member);
    if (!field.required && standard.is_primitive() && !standard.is_null() && standard != "")
      schema["default"] = standard;
    add(field, std::move(schema));
  }
  template <class A, class... Ts>
  void alternative(std::variant<Ts...> T::*, const KeyText& field) {
    add(field, Codec<A>::schema(defs_));
  }
  template <class A>
  void held(const KeyText& field) {
    add(field, Codec<A>::schema(defs_));
  }
  template <class F>
  void group(const KeyText& field, F&& fields) {
    ObjectSchema nested(defs_);
    fields(nested);
    add(field, nested.take());
  }
  template <class P>
  void custom(const KeyText& field) {
    add(field, P::schema(defs_));
  }
  void ignored(const KeyText& field, const nlohmann::json& schema) { add(field, schema); }

  [[nodiscard]] nlohmann::json take() {
    nlohmann::json out{{"type", "object"},
                       {"properties", std::move(properties_)},
                       {"additionalProperties", false}};
    if (!required_.empty()) out["required"] = required_;
    return out;
  }

 private:
  void add(const KeyText& field, nlohmann::json schema) {
    // An optional key may be null, since other systems write absent values so.
    if (!field.required) schema = {{"anyOf", {std::move(schema), {{"type", "null"}}}}};
    schema["description"] = field.help;
    properties_[std::string(field.key)] = std::move(schema);
    if (field.required) required_.push_back(std::string(field.key));
  }

  SchemaDefs& defs_;
  T default_{};
  nlohmann::json properties_ = nlohmann::json::object();
  std::vector<std::string> required_;
};

template <Described T>
struct Codec<T> {
  static void read(const JsonCursor& at, T& out) {
    ObjectReader<T> reader(at, out);
    Description<T>::fields(reader);
    reader.refuse_unknown();
  }
  static nlohmann::json write(const T& value) {
    ObjectWriter<T> writer(value);
    Description<T>::fields(writer);
    return writer.take();
  }
  static nlohmann::json schema(SchemaDefs& defs) {
    const std::string title(Description<T>::title);
    if (defs.try_emplace(title).second) {
      ObjectSchema<T> schema(defs);
      Description<T>::fields(schema);
      auto taken = schema.take();
      taken["description"] = Description<T>::help;
      defs[title] = std::move(taken);
    }
    return {{"$ref", "#/$defs/" + title}};
  }
};

template <>
struct Codec<bool> {
  static void read(const JsonCursor& at, bool& out) { out = at.boolean(); }
  static nlohmann::json write(bool value) { return value; }
  static nlohmann::json schema(SchemaDefs&) { return {{"type", "boolean"}}; }
};
template <>
struct Codec<int> {
  static void read(const JsonCursor& at, int& out) {
    const std::int64_t wide = at.integer();
    if (!std::in_range<int>(wide)) at.fail("an integer of 32 bits");
    out = static_cast<int>(wide);
  }
  static nlohmann::json write(int value) { return value; }
  static nlohmann::json schema(SchemaDefs&) { return {{"type", "integer"}}; }
};
template <>
struct Codec<std::int64_t> {
  static void read(const JsonCursor& at, std::int64_t& out) { out = at.integer(); }
  static nlohmann::json write(std::int64_t value) { return value; }
  static nlohmann::json schema(SchemaDefs&) { return {{"type", "integer"}}; }
};
template <>
struct Codec<std::uint64_t> {
  static void read(const JsonCursor& at, std::uint64_t& out) { out = at.unsigned_integer(); }
  static nlohmann::json write(std::uint64_t value) { return value; }
  static nlohmann::json schema(SchemaDefs&) { return {{"type", "integer"}, {"minimum", 0}}; }
};
template <>
struct Codec<double> {
  static void read(const JsonCursor& at, double& out) { out = at.number(); }
  static nlohmann::json write(double value) { return value; }
  static nlohmann::json schema(SchemaDefs&) { return {{"type", "number"}}; }
};
template <>
struct Codec<std::string> {
  static void read(const JsonCursor& at, std::string& out) { out = at.text(); }
  static nlohmann::json write(const std::string& value) { return value; }
  static nlohmann::json schema(SchemaDefs&) { return {{"type", "string"}}; }
};

template <class T>
struct Codec<std::optional<T>> {
  /// `out` holds the defaults of absent keys.
  static void read(const JsonCursor& at, std::optional<T>& out) {
    Codec<T>::read(at, out ? *out : out.emplace());
  }
  static nlohmann::json write(const std::optional<T>& value) {
    return value ? Codec<T>::write(*value) : nlohmann::json();
  }
  static nlohmann::json schema(SchemaDefs& defs) { return Codec<T>::schema(defs); }
};

template <class T>
struct Codec<std::vector<T>> {
  static void read(const JsonCursor& at, std::vector<T>& out) {
    at.require_array();
    out.clear();
    for (std::size_t i = 0; i < at.size(); ++i) Codec<T>::read(at.element(i), out.emplace_back());
  }
  static nlohmann::json write(const std::vector<T>& value) {
    auto out = nlohmann::json::array();
    for (const T& x : value) out.push_back(Codec<T>::write(x));
    return out;
  }
  static nlohmann::json schema(SchemaDefs& defs) {
    return {{"type", "array"}, {"items", Codec<T>::schema(defs)}};
  }
};

template <class A, class B>
struct Codec<std::pair<A, B>> {
  static void read(const JsonCursor& at, std::pair<A, B>& out) {
    if (at.size() != 2) at.fail("an array of 2");
    Codec<A>::read(at.element(0), out.first);
    Codec<B>::read(at.element(1), out.second);
  }
  static nlohmann::json write(const std::pair<A, B>& value) {
    return nlohmann::json::array({Codec<A>::write(value.first), Codec<B>::write(value.second)});
  }
};

template <class T, std::size_t N>
struct Codec<std::array<T, N>> {
  static void read(const JsonCursor& at, std::array<T, N>& out) {
    if (at.size() != N) at.fail("an array of " + std::to_string(N));
    for (std::size_t i = 0; i < N; ++i) Codec<T>::read(at.element(i), out[i]);
  }
  static nlohmann::json write(const std::array<T, N>& value) {
    auto out = nlohmann::json::array();
    for (const T& x : value) out.push_back(Codec<T>::write(x));
    return out;
  }
};

template <class T, class Compare>
struct Codec<std::map<std::string, T, Compare>> {
  using Map = std::map<std::string, T, Compare>;
  static void read(const JsonCursor& at, Map& out) {
    at.require_object();
    out.clear();
    for (const auto& [key, value] : at.value().items()) {
      Codec<T>::read(JsonCursor(value, at.file(), at.pointer_to(key)), out[key]);
    }
  }
  static nlohmann::json write(const Map& value) {
    auto out = nlohmann::json::object();
    for (const auto& [key, x] : value) out[key] = Codec<T>::write(x);
    return out;
  }
  static nlohmann::json schema(SchemaDefs& defs) {
    return {{"type", "object"}, {"additionalProperties", Codec<T>::schema(defs)}};
  }
};

/// The words of an enumeration. Specialise with `static constexpr
/// std::array<std::pair<std::string_view, E>, n> rows`. The first row of a value is the one
/// written.
template <class E>
struct EnumWords;
/// Rows for an enumeration whose values count from 0, from their names.
template <class E, std::size_t N>
[[nodiscard]] consteval auto rows_of(const std::array<std::string_view, N>& names) {
  std::array<std::pair<std::string_view, E>, N> rows{};
  for (std::size_t i = 0; i < N; ++i) rows[i] = {names[i], static_cast<E>(i)};
  return rows;
}
template <class E>
concept Worded = std::is_enum_v<E> && requires { EnumWords<E>::rows; };

template <Worded E>
struct Codec<E> {
  static void read(const JsonCursor& at, E& out) {
    std::string names;
    for (const auto& [word, value] : EnumWords<E>::rows) {
      if (at.value().is_string() && at.text() == word) {
        out = value;
        return;
      }
      names += (names.empty() ? "" : ", ") + std::string(word);
    }
    at.fail("one of " + names);
  }
  static nlohmann::json write(E value) {
    for (const auto& [word, candidate] : EnumWords<E>::rows) {
      if (candidate == value) return std::string(word);
    }
    return {};
  }
  static nlohmann::json schema(SchemaDefs&) {
    auto words = nlohmann::json::array();
    for (const auto& [word, value] : EnumWords<E>::rows) words.push_back(std::string(word));
    return {{"enum", words}};
  }
};

}  // namespace warpath
