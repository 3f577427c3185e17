#include "moves/syntax/unit.h"

#include <algorithm>
#include <array>

#include "engine/text/one_kernel.h"
#include "engine/text/source_edit.h"
#include "moves/syntax/parser.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath::model {

Unit::Unit(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
Unit::Unit(Unit&&) noexcept = default;
Unit& Unit::operator=(Unit&&) noexcept = default;
Unit::~Unit() = default;

std::string_view Unit::source() const {
  return storage_->source;
}
std::string_view Unit::text(Span span) const {
  return source().substr(span.begin, span.size());
}

namespace {

std::string on_one_line(std::string_view text) {
  std::string out;
  bool first = true;
  for (const Token& token : tokenize(text).tokens) {
    if (token.kind == TokenKind::comment) continue;
    if (!first && token.space_before) out += ' ';
    out += spelling(text, token);
    first = false;
  }
  return out;
}

std::string_view piece_of(const Expr& expr, Span span) {
  return std::string_view(*expr.source).substr(span.begin, span.end - span.begin);
}

}  // namespace

std::string Unit::plain_text(Span span) const {
  return on_one_line(text(span));
}
std::string plain_text(const Expr& expr) {
  return on_one_line(piece_of(expr, expr.span));
}
std::string plain_type(const Expr& expr) {
  return on_one_line(piece_of(expr, expr.type));
}

std::span<const Function* const> Unit::functions() const {
  return storage_->functions;
}
std::span<const Declarator* const> Unit::globals() const {
  return storage_->globals;
}
std::span<const Macro> Unit::macros() const {
  return storage_->macros;
}
std::span<const Conditional> Unit::conditionals() const {
  return storage_->conditionals;
}
std::span<const Span> Unit::opaque() const {
  return storage_->opaque;
}
bool Unit::ambiguous() const {
  return storage_->ambiguous;
}
const Bindings& Unit::constants() const {
  return storage_->constants;
}
const Bindings& Unit::bindings() const {
  return storage_->options.bindings;
}

bool Unit::is_defined(std::string_view name) const {
  return storage_->options.bindings.contains(name) || storage_->options.defined.contains(name);
}

const Macro* Unit::macro(std::string_view name) const {
  const Macro* found = nullptr;
  for (const Macro& macro : storage_->macros) {
    if (macro.name == name) found = &macro;
  }
  return found;
}

const Expr* Unit::macro_expression(std::string_view name) const {
  constexpr std::size_t kLongest = 400;
  const Macro* const found = macro(name);
  if (found == nullptr || !found->function_like || found->body.empty() ||
      found->body.size() > kLongest)
    return nullptr;
  const auto [piece, fresh] = storage_->macro_units.try_emplace(std::string(name));
  if (fresh) piece->second = std::make_unique<Unit>(parse("auto value = (" + found->body + ");"));
  const Unit& unit = *piece->second;
  if (unit.globals().size() != 1 || !unit.opaque().empty() || !unit.functions().empty())
    return nullptr;
  const Declarator& value = *unit.globals()[0];
  return value.name == "value" && value.value() != nullptr &&
                 value.value()->outer.end + 1 >= unit.source().size()
             ? value.value()
             : nullptr;
}

const std::set<std::string, std::less<>>& Unit::identifiers() const {
  auto& known = storage_->identifiers;
  if (!known.empty()) return known;
  for (const Token& token : tokenize(source()).tokens) {
    if (token.kind == TokenKind::identifier) known.insert(spelling(source(), token));
    if (token.kind != TokenKind::directive) continue;
    for (const Token& inside : tokenize_directive(source(), token).tokens) {
      if (inside.kind == TokenKind::identifier) known.insert(spelling(source(), inside));
    }
  }
  return known;
}

const Function* Unit::find_function(std::string_view name) const {
  const Function* found = nullptr;
  for (const Function* function : storage_->functions) {
    if (function->name != name || function->body == nullptr || function->record != nullptr)
      continue;
    if (found != nullptr) return nullptr;
    found = function;
  }
  return found;
}

const Function* Unit::find_kernel(std::string_view kernel_name) const {
  return find_function(plain_kernel_name(kernel_name));
}

bool Unit::is_type_name(std::string_view name) const {
  return is_builtin_type_word(name) || is_library_type(name) || storage_->types.contains(name);
}

std::string Unit::resolved_type(std::string_view words) const {
  constexpr int kAliasDepth = 8;
  std::string out(words);
  for (int i = 0; i < kAliasDepth; ++i) {
    const auto alias = storage_->aliases.find(out);
    if (alias == storage_->aliases.end()) break;
    out = alias->second;
  }
  return out;
}

Unit parse(std::string source, const ParseOptions& options) {
  auto storage = std::make_unique<Unit::Storage>();
  storage->source = std::move(source);
  storage->options = options;
  preprocess(*storage);
  Parser(*storage).parse_unit();
  return Unit(std::move(storage));
}

namespace {

/// Scalars that are macros while the kernel is compiled: one value where all workloads that the
/// variant serves agree on an integer.
void define_meta(const KernelSpec& spec, const Variant& variant, ParseOptions& options) {
  std::vector<Bindings> all;
  for (const Workload& workload : spec.workloads) {
    if (serves(spec, variant, workload)) all.push_back(spec.bindings(workload, {}));
  }
  for (const ArgSpec& arg : spec.io.args) {
    if (!arg.is_meta || arg.is_size) continue;
    std::set<std::int64_t> values;
    bool everywhere = !all.empty();
    for (const Bindings& bindings : all) {
      const auto it = bindings.find(arg.name);
      everywhere = everywhere && it != bindings.end();
      if (it != bindings.end()) values.insert(it->second);
    }
    if (everywhere && values.size() == 1) {
      options.bindings.emplace(arg.name, *values.begin());
    } else {
      options.defined.insert(arg.name);
    }
  }
}

}  // namespace

Unit parse(const KernelSpec& spec, const Variant& variant, const Bindings& known) {
  ParseOptions options;
  options.bindings = known;
  for (const auto& [name, value] : variant.tunables) options.bindings.emplace(name, value);
  for (const std::string& option : variant.compiler_options) {
    std::string_view text = option;
    if (text.starts_with("-D")) {
      text.remove_prefix(2);
    } else if (text.starts_with("--define-macro=")) {
      text.remove_prefix(std::string_view("--define-macro=").size());
    } else {
      continue;
    }
    const std::size_t equals = text.find('=');
    const auto value = equals == std::string_view::npos ? std::optional<std::int64_t>(1)
                                                        : integer_value(text.substr(equals + 1));
    const std::string name(text.substr(0, text.find_first_of("=(")));
    if (value) {
      options.bindings.emplace(name, *value);
    } else {
      options.defined.insert(name);
    }
  }
  define_meta(spec, variant, options);
  options.kernel_name = variant.kernel_name;
  return parse(variant.source, options);
}

}  // namespace warpath::model
