#include "moves/syntax/words.h"

#include <algorithm>
#include <array>
#include <bit>

#include "engine/base/words.h"
#include "engine/text/tokens.h"
#include "engine/text/vector_type.h"
#include "moves/syntax/storage.h"

namespace warpath::model {
namespace {

/// Words that are found in one or two steps: a table with open addressing, a quarter full at most,
/// which the compiler fills.
template <std::size_t N>
class WordTable {
 public:
  constexpr explicit WordTable(const std::array<std::string_view, N>& words)
      : WordTable(words.begin(), words.end()) {}
  template <std::size_t size>
  constexpr explicit WordTable(const WordList<size>& words)
      : WordTable(words.begin(), words.end()) {}
  /// The word's index; N: it is not among them.
  [[nodiscard]] constexpr std::size_t find(std::string_view word) const {
    if (word.empty()) return N;
    for (std::size_t at = place(word); places_[at] != kFree; at = (at + 1) % kPlaces) {
      if (words_[places_[at]] == word) return places_[at];
    }
    return N;
  }
  [[nodiscard]] constexpr bool contains(std::string_view word) const { return find(word) < N; }

 private:
  template <class Iterator>
  constexpr WordTable(Iterator begin, Iterator end) {
    std::copy(begin, end, words_.begin());
    places_.fill(kFree);
    for (std::size_t i = 0; i < N; ++i) {
      std::size_t at = place(words_[i]);
      while (places_[at] != kFree) at = (at + 1) % kPlaces;
      places_[at] = static_cast<std::uint8_t>(i);
    }
  }

  static constexpr std::size_t kPlaces = std::bit_ceil(4 * N);
  static constexpr std::uint8_t kFree = 255;
  static_assert(N < kFree);
  static constexpr std::size_t place(std::string_view word) {
    const auto letter = [&](std::size_t i) {
      return static_cast<std::size_t>(static_cast<unsigned char>(word[i]));
    };
    return (letter(0) * 7 + letter(word.size() - 1) * 31 + letter(word.size() / 2) * 113 +
            word.size() * 61) %
           kPlaces;
  }

  std::array<std::string_view, N> words_{};
  std::array<std::uint8_t, kPlaces> places_{};
};

constexpr auto kBuiltin = WordTable(std::to_array<std::string_view>(
    {"auto",    "bool",    "char",     "char16_t", "char32_t",   "char8_t",  "double",
     "float",   "int",     "long",     "short",    "signed",     "unsigned", "void",
     "wchar_t", "__int64", "__int128", "_Bool",    "__signed__", "_Float16"}));

constexpr auto kIgnored = WordTable(std::to_array<std::string_view>(
    {"__forceinline__", "__noinline__", "__device_builtin__", "__inline", "__inline__",
     "__forceinline", "__cdecl", "__extension__", "friend", "virtual", "explicit", "mutable",
     "typename", "__stdcall", "consteval", "__device_builtin_texture_type__", "export"}));

constexpr auto kParenthesised = WordTable(std::to_array<std::string_view>(
    {"__launch_bounds__", "__attribute__", "__attribute", "__declspec", "alignas", "__align__",
     "_Alignas", "__cluster_dims__", "__maxnreg__", "__block_size__", "__nv_pure__",
     "__nvrtc_align__"}));

constexpr WordList kStatementList(
    "if else for while do switch case default return break continue goto try catch asm "
    "__asm__ __asm new delete throw sizeof alignof _Alignof static_cast dynamic_cast "
    "const_cast reinterpret_cast operator this true false nullptr and or not xor bitand bitor "
    "compl and_eq or_eq xor_eq not_eq using namespace template static_assert typeid noexcept "
    "public private protected requires co_await co_return co_yield decltype");
constexpr WordTable<kStatementList.count()> kStatementWords(kStatementList);

constexpr WordList kLibraryList(
    "size_t ssize_t ptrdiff_t intptr_t uintptr_t int8_t int16_t int32_t int64_t uint8_t "
    "uint16_t uint32_t uint64_t clock_t time_t uint uchar ushort ulong dim3 half __half "
    "__half_raw __half2_raw nv_bfloat16 __nv_bfloat16 __nv_fp8_e4m3 __nv_fp8_e5m2 "
    "__nv_fp8x2_e4m3 __nv_fp8x4_e4m3 __nv_fp8x2_e5m2 __nv_fp8x4_e5m2 cuComplex cuFloatComplex "
    "cuDoubleComplex cudaStream_t cudaEvent_t cudaError_t cudaTextureObject_t "
    "cudaSurfaceObject_t curandState curandState_t FILE string CUtensorMap cuuint64_t int2x2 "
    "CUdeviceptr cudaDeviceProp cublasHandle_t float8 complex");
constexpr WordTable<kLibraryList.count()> kLibraryTypes(kLibraryList);

struct QualifierWord {
  std::string_view word;
  std::uint32_t bit;
};
constexpr auto kQualifiers = std::to_array<QualifierWord>({
    {"const", kConst},
    {"volatile", kVolatile},
    {"__restrict__", kRestrict},
    {"__restrict", kRestrict},
    {"restrict", kRestrict},
    {"RESTRICT", kRestrict},
    {"__shared__", kShared},
    {"__constant__", kConstant},
    {"__device__", kDeviceSpace},
    {"constexpr", kConstexpr},
    {"extern", kExtern},
    {"static", kStatic},
    {"register", kRegister},
    {"typedef", kTypedef},
    {"__managed__", kManaged},
    {"inline", kInline},
    {"thread_local", kThreadLocal},
    {"__grid_constant__", kGridConstant},
    {"__const", kConst},
    {"__volatile__", kVolatile},
    {"constinit", kStatic},
});

constexpr auto kQualifierWords = [] {
  std::array<std::string_view, kQualifiers.size()> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = kQualifiers[i].word;
  return WordTable(words);
}();

}  // namespace

int precedence(std::string_view op) {
  if (op.empty() || op.size() > 6) return 0;
  switch (op[0]) {
    case '*':
      return op == "*" ? 11 : 0;
    case '/':
      return op == "/" ? 11 : 0;
    case '%':
      return op == "%" ? 11 : 0;
    case '+':
      return op == "+" ? 10 : 0;
    case '-':
      return op == "-" ? 10 : op == "->*" ? 12 : 0;
    case '.':
      return op == ".*" ? 12 : 0;
    case '<':
      return op == "<<" ? 9 : op == "<" || op == "<=" ? 7 : op == "<=>" ? 8 : 0;
    case '>':
      return op == ">>" ? 9 : op == ">" || op == ">=" ? 7 : 0;
    case '=':
      return op == "==" ? 6 : 0;
    case '!':
      return op == "!=" ? 6 : 0;
    case '&':
      return op == "&" ? 5 : op == "&&" ? 2 : 0;
    case '^':
      return op == "^" ? 4 : 0;
    case '|':
      return op == "|" ? 3 : op == "||" ? 1 : 0;
    case 'a':
      return op == "and" ? 2 : 0;
    case 'o':
      return op == "or" ? 1 : 0;
    case 'x':
      return op == "xor" ? 4 : 0;
    case 'b':
      return op == "bitand" ? 5 : op == "bitor" ? 3 : 0;
    case 'n':
      return op == "not_eq" ? 6 : 0;
    default:
      return 0;
  }
}

bool is_prefix(std::string_view op) {
  return op == "+" || op == "-" || op == "!" || op == "~" || op == "*" || op == "&" || op == "++" ||
         op == "--" || op == "not" || op == "compl" || op == "&&";
}

bool is_assignment(std::string_view op) {
  if (op == "=") return true;
  if (op == "and_eq" || op == "or_eq" || op == "xor_eq") return true;
  if (op.size() < 2 || op.back() != '=') return false;
  const std::string_view base = op.substr(0, op.size() - 1);
  return base == "+" || base == "-" || base == "*" || base == "/" || base == "%" || base == "&" ||
         base == "|" || base == "^" || base == "<<" || base == ">>";
}

bool is_builtin_type_word(std::string_view word) {
  return kBuiltin.contains(word);
}

std::uint32_t qualifier_bit(std::string_view word) {
  const std::size_t at = kQualifierWords.find(word);
  return at < kQualifiers.size() ? kQualifiers[at].bit : 0;
}

bool is_ignored_word(std::string_view word) {
  return kIgnored.contains(word);
}
bool is_parenthesised_attribute(std::string_view word) {
  return kParenthesised.contains(word);
}
bool is_library_type(std::string_view word) {
  return vector_type_of(word).has_value() || kLibraryTypes.contains(word);
}
bool is_statement_word(std::string_view word) {
  return kStatementWords.contains(word);
}

bool looks_like_macro(std::string_view word) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  return word.size() > 1 && std::none_of(word.begin(), word.end(), is_small) &&
         std::any_of(word.begin(), word.end(), is_capital);
}

std::optional<std::int64_t> apply_integer(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (op == "+") return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  if (op == "-") return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  if (op == "*") return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  if (op == "/" || op == "%") {
    if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
    return op == "/" ? a / b : a % b;
  }
  if (op == "<<") {
    if (b < 0 || b > 62 || a < 0 || a > (INT64_MAX >> b)) return std::nullopt;
    return a << b;
  }
  if (op == ">>") return b < 0 || b > 63 ? std::nullopt : std::optional(a >> b);
  if (op == "&" || op == "bitand") return a & b;
  if (op == "|" || op == "bitor") return a | b;
  if (op == "^" || op == "xor") return a ^ b;
  if (op == "&&" || op == "and") return a != 0 && b != 0 ? 1 : 0;
  if (op == "||" || op == "or") return a != 0 || b != 0 ? 1 : 0;
  if (op == "==") return a == b ? 1 : 0;
  if (op == "!=" || op == "not_eq") return a != b ? 1 : 0;
  if (op == "<") return a < b ? 1 : 0;
  if (op == ">") return a > b ? 1 : 0;
  if (op == "<=") return a <= b ? 1 : 0;
  if (op == ">=") return a >= b ? 1 : 0;
  return std::nullopt;
}

std::size_t size_of_type(std::string_view type) {
  if (const auto dtype = dtype_of_type(type)) return info(*dtype).size_bytes;
  if (const auto vector = vector_type_of(type))
    return info(vector->element).size_bytes * static_cast<std::size_t>(vector->lanes);
  if (type == "cuFloatComplex" || type == "cuComplex") return 8;
  if (type == "cuDoubleComplex") return 16;
  return 0;
}

std::optional<DType> dtype_of_type(std::string_view type) {
  struct Row {
    std::string_view name;
    DType dtype;
  };
  static constexpr auto kRows = std::to_array<Row>(
      {{"half", DType::f16},           {"__half", DType::f16},    {"nv_bfloat16", DType::bf16},
       {"__nv_bfloat16", DType::bf16}, {"float", DType::f32},     {"double", DType::f64},
       {"bool", DType::boolean},       {"int8_t", DType::i8},     {"int16_t", DType::i16},
       {"int32_t", DType::i32},        {"int64_t", DType::i64},   {"uint8_t", DType::u8},
       {"uint16_t", DType::u16},       {"uint32_t", DType::u32},  {"uint64_t", DType::u64},
       {"uint", DType::u32},           {"uchar", DType::u8},      {"ushort", DType::u16},
       {"ulong", DType::u64},          {"size_t", DType::u64},    {"ptrdiff_t", DType::i64},
       {"ssize_t", DType::i64},        {"uintptr_t", DType::u64}, {"intptr_t", DType::i64},
       {"clock_t", DType::i64}});
  if (type.starts_with("std::")) type.remove_prefix(5);
  for (const Row& row : kRows) {
    if (row.name == type) return row.dtype;
  }
  // Any order of the words of an integer type.
  bool is_unsigned = false, is_signed = false, is_char = false, is_short = false, seen = false;
  int longs = 0;
  for (const Token& token : tokenize(type).tokens) {
    const std::string_view word = type.substr(token.begin, token.size());
    seen = true;
    if (word == "unsigned") {
      is_unsigned = true;
    } else if (word == "signed") {
      is_signed = true;
    } else if (word == "char") {
      is_char = true;
    } else if (word == "short") {
      is_short = true;
    } else if (word == "long") {
      ++longs;
    } else if (word != "int" && word != "const" && word != "volatile") {
      return std::nullopt;
    }
  }
  if (!seen || (is_signed && is_unsigned)) return std::nullopt;
  if (is_char) return is_unsigned ? DType::u8 : DType::i8;
  if (is_short) return is_unsigned ? DType::u16 : DType::i16;
  if (longs > 0) return is_unsigned ? DType::u64 : DType::i64;
  return is_unsigned ? DType::u32 : DType::i32;
}

bool is_integer_type(std::string_view type) {
  const auto dtype = dtype_of_type(type);
  return dtype && !info(*dtype).is_float;
}

}  // namespace warpath::model
