#pragma once

// Messages between processes of the program: frames (frames.h) of CBOR (RFC 8949). A struct is
// described once (engine/json/json_codec.h); here its members become the elements of an array in
// order of description, since both sides are the same program. Strings and lists of numbers are
// byte strings holding their memory as is. Values are encoded from and decoded into the structs
// directly: going through nlohmann::json takes three times as long, and a hostile worker could send
// it input nested without limit. Include only from .cc files.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/json/json_codec.h"
#include "runners/worker/frames.h"

namespace warpath {

/// The last value, counted from 0, of an enumeration in a message that has no EnumWords. Specialise
/// with `static constexpr E value`.
template <class E>
struct LastOf;

/// Base of a Description of a type that never becomes JSON: members in order, without names.
template <auto... members>
struct Unnamed {
  template <class V>
  static void fields(V& v) {
    (v(members, KeyText{}), ...);
  }
};

namespace wire {

/// Numbers whose arrays are sent as they lie in memory.
template <class T>
concept Plain =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, std::byte>;

/// Encoded as one byte string.
template <class T>
constexpr bool is_bytes = std::is_same_v<T, std::string>;
template <Plain T>
constexpr bool is_bytes<std::vector<T>> = true;

template <class E>
[[nodiscard]] constexpr bool is_value(std::underlying_type_t<E> number) {
  if constexpr (Worded<E>) {
    return std::ranges::any_of(EnumWords<E>::rows, [number](const auto& row) {
      return static_cast<std::underlying_type_t<E>>(row.second) == number;
    });
  } else {
    return number >= 0 && number <= static_cast<std::underlying_type_t<E>>(LastOf<E>::value);
  }
}

/// CBOR's major types, and the simple values used.
enum class Major : std::uint8_t { number, negative, bytes, text, array, map, tag, simple };
inline constexpr std::uint8_t kFalse = 0xf4, kTrue = 0xf5, kFloat64 = 0xfb;

struct MemberCount {
  std::size_t count = 0;
  template <class M>
  void operator()(M, const KeyText&) {
    ++count;
  }
  template <class As, class M>
  void as(M, const KeyText&) {
    ++count;
  }
};
template <class T>
[[nodiscard]] std::size_t member_count() {
  MemberCount members;
  Description<T>::fields(members);
  return members.count;
}

/// Appends encoded values to a string.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <class T>
  void write(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      out_ += static_cast<char>(value ? kTrue : kFalse);
    } else if constexpr (std::is_floating_point_v<T>) {
      put(kFloat64, std::bit_cast<std::uint64_t>(static_cast<double>(value)), 8);
    } else if constexpr (std::is_integral_v<T>) {
      if (std::cmp_less(value, 0)) {
        head(Major::negative, ~static_cast<std::uint64_t>(value));
      } else {
        head(Major::number, static_cast<std::uint64_t>(value));
      }
    } else if constexpr (std::is_enum_v<T>) {
      write(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (is_bytes<T>) {
      const std::size_t size = value.size() * sizeof(typename T::value_type);
      head(Major::bytes, size);
      out_.append(reinterpret_cast<const char*>(value.data()), size);
    } else if constexpr (Described<T>) {
      head(Major::array, member_count<T>());
      Members<T> members{*this, value};
      Description<T>::fields(members);
    } else {
      write_parts(value);
    }
  }
  void head(Major major, std::uint64_t argument);

 private:
  template <class T>
  struct Members {
    Writer& writer;
    const T& value;
    template <class M>
    void operator()(M T::* member, const KeyText&) {
      writer.write(value.*member);
    }
    template <class As, class M>
    void as(M T::* member, const KeyText&) {
      writer.write(value.*member);
    }
  };

  template <class T>
  void write_parts(const std::optional<T>& value) {
    head(Major::array, value ? 1 : 0);
    if (value) write(*value);
  }
  template <class... Ts>
  void write_parts(const std::variant<Ts...>& value) {
    head(Major::array, 2);
    write(value.index());
    std::visit([this](const auto& held) { write(held); }, value);
  }
  template <class T, class Compare>
  void write_parts(const std::map<std::string, T, Compare>& map) {
    head(Major::map, map.size());
    for (const auto& [key, value] : map) {
      write(key);
      write(value);
    }
  }
  template <class List>
  void write_parts(const List& list) {
    head(Major::array, list.size());
    for (const auto& element : list) write(element);
  }
  void put(std::uint8_t first, std::uint64_t argument, int bytes);

  std::string& out_;
};

/// Decodes what a Writer encoded. Any input is safe: if it is malformed, `whole()` is false and the
/// values read so far are meaningless.
class Reader {
 public:
  explicit Reader(std::string_view message) : rest_(message) {}

  template <class T>
  void read(T& out) {
    if constexpr (std::is_same_v<T, bool>) {
      const std::uint8_t byte = take_byte();
      expect(byte == kTrue || byte == kFalse);
      out = byte == kTrue;
    } else if constexpr (std::is_floating_point_v<T>) {
      expect(take_byte() == kFloat64);
      out = static_cast<T>(std::bit_cast<double>(take_number(8)));
    } else if constexpr (std::is_integral_v<T>) {
      const auto [major, argument] = head();
      if (major == Major::negative && std::is_signed_v<T>) {
        const auto wide = static_cast<std::int64_t>(~argument);
        if (expect(wide < 0 && std::in_range<T>(wide))) out = static_cast<T>(wide);
      } else if (expect(major == Major::number && std::in_range<T>(argument))) {
        out = static_cast<T>(argument);
      }
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      read(number);
      if (expect(is_value<T>(number))) out = static_cast<T>(number);
    } else if constexpr (is_bytes<T>) {
      using Element = typename T::value_type;
      const std::string_view bytes = take(head(Major::bytes));
      if (!expect(bytes.size() % sizeof(Element) == 0)) return;
      out.resize(bytes.size() / sizeof(Element));
      if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    } else if constexpr (Described<T>) {
      if (!expect(head(Major::array) == member_count<T>())) return;
      Members<T> members{*this, out};
      Description<T>::fields(members);
    } else {
      read_parts(out);
    }
  }
  /// True if the input was consumed entirely and nothing was missing or malformed.
  [[nodiscard]] bool whole() const { return ok_ && rest_.empty(); }

 private:
  template <class T>
  struct Members {
    Reader& reader;
    T& out;
    template <class M>
    void operator()(M T::* member, const KeyText&) {
      if (reader.ok_) reader.read(out.*member);
    }
    template <class As, class M>
    void as(M T::* member, const KeyText& field) {
      (*this)(member, field);
    }
  };

  bool expect(bool holds) { return ok_ = ok_ && holds; }
  [[nodiscard]] std::string_view take(std::uint64_t count);
  [[nodiscard]] std::uint8_t take_byte();
  [[nodiscard]] std::uint64_t take_number(int bytes);
  [[nodiscard]] std::pair<Major, std::uint64_t> head();
  /// The argument of the next head, which must be of type `expected`.
  [[nodiscard]] std::uint64_t head(Major expected);

  template <class T>
  void read_parts(std::optional<T>& out) {
    out.reset();
    const std::uint64_t count = head(Major::array);
    if (expect(count <= 1) && count == 1) read(out.emplace());
  }
  template <class... Ts>
  void read_parts(std::variant<Ts...>& out) {
    std::size_t index = 0;
    if (!expect(head(Major::array) == 2)) return;
    read(index);
    if (!expect(index < sizeof...(Ts))) return;
    const auto read_as = [&]<std::size_t... I>(std::index_sequence<I...>) {
      static_cast<void>(((I == index && (read(out.template emplace<I>()), true)) || ...));
    };
    read_as(std::index_sequence_for<Ts...>{});
  }
  template <class T, std::size_t N>
  void read_parts(std::array<T, N>& out) {
    if (!expect(head(Major::array) == N)) return;
    for (T& element : out) read(element);
  }
  template <class T>
  void read_parts(std::vector<T>& out) {
    out.clear();
    for (std::uint64_t n = head(Major::array); n > 0 && ok_; --n) read(out.emplace_back());
  }
  template <class T, class Compare>
  void read_parts(std::map<std::string, T, Compare>& out) {
    out.clear();
    for (std::uint64_t n = head(Major::map); n > 0 && ok_; --n) {
      std::string key;
      read(key);
      read(out[std::move(key)]);
    }
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace wire

/// Encodes a message as a frame.
template <class T>
[[nodiscard]] std::string encode_frame(const T& message) {
  std::string frame = open_frame();
  wire::Writer(frame).write(message);
  close_frame(frame);
  return frame;
}

/// Encodes `message` as a std::variant `Messages` holding it would be.
template <class Messages, class T>
[[nodiscard]] std::string encode_frame_as(const T& message) {
  static constexpr std::size_t index = []<class... Ts>(const std::variant<Ts...>*) {
    std::size_t at = 0;
    static_cast<void>(((std::is_same_v<T, Ts> || (++at, false)) || ...));
    return at;
  }(static_cast<const Messages*>(nullptr));
  static_assert(index < std::variant_size_v<Messages>);
  std::string frame = open_frame();
  wire::Writer writer(frame);
  writer.head(wire::Major::array, 2);
  writer.write(index);
  writer.write(message);
  close_frame(frame);
  return frame;
}

/// Decodes a frame. Returns false unless it is exactly one well-formed message of this type;
/// `message` is then unspecified.
template <class T>
[[nodiscard]] bool decode_frame(std::string_view frame, T& message) {
  if (frame_size(frame, frame.size()) != frame.size()) return false;
  wire::Reader reader(frame.substr(kFrameHeaderBytes));
  reader.read(message);
  return reader.whole();
}

}  // namespace warpath
