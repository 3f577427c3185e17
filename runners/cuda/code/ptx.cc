#include "runners/cuda/code/ptx.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>

#include "runners/cuda/code/ptx_tokens.h"

namespace warpath::cuda {
namespace {

constexpr std::int64_t kMaxBytes = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t kMaxRegisters = std::int64_t{1} << 32U;

struct TypeSize {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<TypeSize, 22> kTypes{{
    {"b8", 1},    {"u8", 1},     {"s8", 1},   {"b16", 2},  {"u16", 2}, {"s16", 2},
    {"f16", 2},   {"bf16", 2},   {"b32", 4},  {"u32", 4},  {"s32", 4}, {"f32", 4},
    {"f16x2", 4}, {"bf16x2", 4}, {"b64", 8},  {"u64", 8},  {"s64", 8}, {"f64", 8},
    {"b128", 16}, {"pred", 1},   {"e4m3", 1}, {"e5m2", 1},
}};
constexpr std::array<std::string_view, 11> kSpaces{".global",     ".shared", ".const",  ".local",
                                                   ".param",      ".tex",    ".texref", ".surfref",
                                                   ".samplerref", ".reg",    ".sreg"};

bool is_among(std::string_view text, std::span<const std::string_view> list) {
  return std::ranges::find(list, text) != list.end();
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() && value >= 0 ? value : -1;
}

/// Cuts "ld.global.nc" at its dots; "::" does not separate.
std::vector<std::string_view> cut_at_dots(std::string_view word) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = word.find('.');
    parts.push_back(word.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    word.remove_prefix(dot + 1);
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokenize_ptx(text)) {}

  std::optional<PtxModule> parse(std::string& why) {
    while (!failed() && !at_end()) top_level();
    if (!failed() && module_.version.empty()) fail("no .version");
    if (failed()) return why = why_, std::nullopt;
    return std::move(module_);
  }

 private:
  [[nodiscard]] bool failed() const { return !why_.empty(); }
  [[nodiscard]] bool at_end() const { return at_ >= tokens_.size(); }
  [[nodiscard]] const PtxToken& peek(std::size_t ahead = 0) const {
    static const PtxToken kEnd{};
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : kEnd;
  }
  PtxToken take() { return at_end() ? PtxToken{} : tokens_[at_++]; }
  bool accept(std::string_view what) {
    if (at_end() || !peek().is(what)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view what) {
    if (!accept(what)) fail("expected '" + std::string(what) + "'");
  }
  void fail(const std::string& what) {
    if (failed()) return;
    const std::string_view near = peek().text.substr(0, 40);
    why_ = "this is no PTX: " + what +
           (at_end() ? " at the end" : " near '" + std::string(near) + "'");
  }

  /// Moves past `open` ... `close` with nesting; the position is behind `open` already.
  void skip_group(std::string_view open, std::string_view close) {
    for (int depth = 1; depth > 0;) {
      if (at_end()) return fail("unbalanced '" + std::string(open) + "'");
      const PtxToken token = take();
      if (token.is(open)) ++depth;
      if (token.is(close)) --depth;
    }
  }

  void skip_to_semicolon() {
    while (!at_end() && !accept(";")) ++at_;
  }

  /// Words of one line-like directive whose end nothing marks: ".file 1 "a.cu"", ".loc 1 2 3".
  void top_level() {
    if (accept(";")) return;
    const PtxToken token = peek();
    if (token.is(".version")) {
      ++at_;
      module_.version = take().text;
    } else if (token.is(".target")) {
      ++at_;
      module_.target = take().text;
      while (accept(",")) ++at_;
    } else if (token.is(".address_size")) {
      ++at_;
      module_.address_size = number(take().text);
    } else if (token.is(".file")) {
      module_.directives.push_back("file");
      at_ += 3;
      while (accept(",")) ++at_;
    } else if (token.is(".section")) {
      module_.directives.push_back("section");
      at_ += 2;
      expect("{");
      if (!failed()) skip_group("{", "}");
    } else if (token.is(".alias") || token.is(".pragma")) {
      module_.directives.push_back(token.text.substr(1));
      skip_to_semicolon();
    } else {
      declaration(nullptr);
    }
  }

  struct Linkage {
    bool is_extern = false, is_visible = false;
  };

  Linkage linkage() {
    Linkage found;
    while (true) {
      if (accept(".extern")) {
        found.is_extern = true;
      } else if (accept(".visible") || accept(".weak") || accept(".common")) {
        found.is_visible = true;
      } else {
        return found;
      }
    }
  }

  /// A function or variables, at module scope (`function` null) or inside a function.
  void declaration(PtxFunction* function) {
    const Linkage found = linkage();
    if (peek().is(".entry") || peek().is(".func")) {
      if (function != nullptr) return fail("a function inside a function");
      return parse_function(found);
    }
    if (!is_among(peek().text, kSpaces)) return fail("expected a declaration");
    variables(found, function != nullptr ? function->variables : module_.variables,
              function != nullptr);
  }

  /// ".global .align 4 .v4 .f32 a[4][2] = {...}, b;" The position is at the state space.
  void variables(Linkage found, std::vector<PtxVariable>& out, bool in_function) {
    PtxVariable prototype = variable_head(found, in_function);
    while (!failed()) {
      PtxVariable variable = prototype;
      variable_tail(variable);
      out.push_back(variable);
      if (!accept(",")) break;
    }
    expect(";");
  }

  /// State space, alignment, attributes and type.
  PtxVariable variable_head(Linkage found, bool in_function) {
    PtxVariable variable;
    variable.is_extern = found.is_extern;
    variable.is_visible = found.is_visible;
    variable.in_function = in_function;
    variable.space = take().text.substr(1);
    std::int64_t lanes = 1;
    while (!at_end() && peek().kind == PtxToken::Kind::word && peek().text.starts_with('.')) {
      const std::string_view word = take().text.substr(1);
      if (word == "align") {
        ++at_;
      } else if (word == "attribute") {
        expect("(");
        while (!at_end() && !accept(")")) variable.is_managed |= take().is(".managed");
      } else if (word == "v2" || word == "v4" || word == "v8") {
        lanes = word[1] - '0';
      } else if (word == "ptr") {
        continue;
      } else if (ptx_type_bytes(word) > 0) {
        variable.type = word;
        variable.size_bytes = ptx_type_bytes(word) * lanes;
      } else if (variable.type.empty()) {
        // an opaque type, or a state space that a pointer parameter refers to
        variable.type = word;
      }
    }
    return variable;
  }

  /// Name, array lengths, initialiser.
  void variable_tail(PtxVariable& variable) {
    if (peek().kind != PtxToken::Kind::word) return fail("expected a name");
    variable.name = take().text;
    while (accept("[")) {
      if (accept("]")) {
        variable.size_bytes = 0;
        continue;
      }
      const std::int64_t length = number(take().text);
      if (length < 0 || (length > 0 && variable.size_bytes > kMaxBytes / length))
        return fail("a bad array length");
      variable.size_bytes *= length;
      expect("]");
    }
    if (accept("=")) {
      variable.initialised = true;
      if (accept("{")) {
        skip_group("{", "}");
      } else {
        while (!at_end() && !peek().is(";") && !peek().is(",")) ++at_;
      }
    }
  }

  std::vector<PtxVariable> parameter_list() {
    std::vector<PtxVariable> parameters;
    while (!failed() && !accept(")")) {
      if (at_end() || !is_among(peek().text, kSpaces)) {
        fail("expected a parameter");
        break;
      }
      PtxVariable parameter = variable_head({}, true);
      if (peek().kind == PtxToken::Kind::word) variable_tail(parameter);
      parameters.push_back(parameter);
      accept(",");
    }
    return parameters;
  }

  void parse_function(Linkage found) {
    PtxFunction function;
    function.is_entry = take().is(".entry");
    function.is_extern = found.is_extern;
    if (accept("(")) static_cast<void>(parameter_list());  // the returned value
    if (peek().kind != PtxToken::Kind::word) return fail("expected a function's name");
    function.name = take().text;
    if (accept("(")) function.parameters = parameter_list();
    while (!failed() && !at_end() && !peek().is("{") && !peek().is(";")) {
      if (peek().kind == PtxToken::Kind::word && peek().text.starts_with('.'))
        function.directives.push_back(peek().text.substr(1));
      ++at_;
    }
    if (accept("{")) {
      function.has_body = true;
      body(function);
    } else {
      expect(";");
    }
    module_.functions.push_back(std::move(function));
  }

  void body(PtxFunction& function) {
    for (int depth = 1; depth > 0 && !failed();) {
      if (at_end()) return fail("a function without an end");
      if (accept("{")) {
        ++depth;
      } else if (accept("}")) {
        --depth;
      } else {
        statement(function);
      }
    }
  }

  void statement(PtxFunction& function) {
    if (accept(";")) return;
    const PtxToken token = peek();
    if (token.kind == PtxToken::Kind::word && peek(1).is(":")) {
      function.labels.push_back({token.text, function.instructions.size()});
      at_ += 2;
    } else if (token.is(".loc")) {
      at_ += 4;
      while (accept(",")) at_ += 2;
    } else if (token.is(".reg")) {
      registers(function);
    } else if (token.kind == PtxToken::Kind::word && token.text.starts_with('.')) {
      if (is_among(token.text, kSpaces) || token.is(".extern") || token.is(".visible") ||
          token.is(".weak") || token.is(".common")) {
        return declaration(&function);
      }
      skip_to_semicolon();  // .pragma, .branchtargets, .callprototype
    } else {
      instruction(function);
    }
  }

  /// ".reg .b32 %r<101>, %x;" The position is at ".reg".
  void registers(PtxFunction& function) {
    static_cast<void>(variable_head({}, true));
    do {
      if (peek().kind != PtxToken::Kind::word) return fail("expected a register");
      ++at_;
      std::int64_t count = 1;
      if (accept("<")) {
        count = number(take().text);
        if (count < 0 || count > kMaxRegisters) return fail("a bad number of registers");
        expect(">");
      }
      function.registers += count;
    } while (!failed() && accept(","));
    expect(";");
  }

  void instruction(PtxFunction& function) {
    PtxInstruction found;
    if (accept("@")) {
      found.guard_negated = accept("!");
      found.guard = take().text;
    }
    if (peek().kind != PtxToken::Kind::word) return fail("expected an instruction");
    std::vector<std::string_view> parts = cut_at_dots(take().text);
    found.opcode = parts.front();
    found.modifiers.assign(parts.begin() + 1, parts.end());
    operands(found);
    function.instructions.push_back(std::move(found));
  }

  /// Up to the semicolon, cut at the commas that no bracket holds.
  void operands(PtxInstruction& found) {
    int depth = 0;
    const char* begin = nullptr;
    const char* end = nullptr;
    const auto flush = [&] {
      if (begin != nullptr)
        found.operands.emplace_back(begin, static_cast<std::size_t>(end - begin));
      begin = nullptr;
    };
    while (true) {
      if (at_end()) return fail("an instruction without an end");
      const PtxToken token = take();
      if (token.is(";")) {
        if (depth != 0) return fail("unbalanced brackets in an instruction");
        return flush();
      }
      if (token.is("{") || token.is("[") || token.is("(")) ++depth;
      if (token.is("}") || token.is("]") || token.is(")")) --depth;
      if (depth < 0) return fail("unbalanced brackets in an instruction");
      if (depth == 0 && (token.is(",") || token.is("|"))) {
        flush();
        continue;
      }
      if (begin == nullptr) begin = token.text.data();
      end = token.text.data() + token.text.size();
    }
  }

  std::vector<PtxToken> tokens_;
  std::size_t at_ = 0;
  PtxModule module_;
  std::string why_;
};

}  // namespace

bool PtxInstruction::has(std::string_view modifier) const {
  return std::ranges::find(modifiers, modifier) != modifiers.end();
}

const PtxFunction* PtxModule::entry(std::string_view name) const {
  for (const PtxFunction& function : functions) {
    if (function.is_entry && function.name == name) return &function;
  }
  return nullptr;
}

std::int64_t ptx_type_bytes(std::string_view type) {
  const auto found = std::ranges::find(kTypes, type, &TypeSize::name);
  return found == kTypes.end() ? 0 : found->bytes;
}

std::optional<PtxModule> parse_ptx(std::string_view text, std::string& why) {
  return Parser(text).parse(why);
}

}  // namespace warpath::cuda
