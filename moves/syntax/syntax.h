#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// Source model of a CUDA C++ translation unit: a tree whose nodes are byte spans of the text.
/// Moves read the tree, edit the text by spans (engine/text/source_edit.h) and parse again; code is
/// never generated from the tree. What the parser does not understand becomes an opaque node with
/// its exact span.
namespace warpath::model {

/// Bytes [begin, end) of Unit::source. An absent part has begin == end == 0.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] bool empty() const { return begin == end; }
  [[nodiscard]] std::size_t size() const { return end - begin; }
  [[nodiscard]] bool contains(Span inner) const { return begin <= inner.begin && inner.end <= end; }
  [[nodiscard]] bool overlaps(Span other) const { return begin < other.end && other.begin < end; }
  bool operator==(const Span&) const = default;
};

struct Stmt;
struct Declarator;
struct Function;

enum class ExprKind : std::uint8_t {
  number,       ///< `name` = the literal
  literal,      ///< string, character, true, false, nullptr, this; `name` = its text
  name,         ///< `name` = as written without blanks ("x", "std::max", "f<4>"); threadIdx too
  unary,        ///< `op` (+ - ! ~ * & ++ -- delete throw, ... of a fold), args: operand (none: bare
                ///< throw)
  postfix,      ///< `op` (++ --, ... of packs and folds), args: operand
  binary,       ///< `op`, args: left, right
  assign,       ///< `op` (= += ...), args: target, value
  conditional,  ///< args: condition, then, else
  call,         ///< args: callee, arguments...
  launch,       ///< f<<<...>>>(...); args: callee, the configuration's arguments, arguments...
  subscript,    ///< args: base, index (several with C++23)
  member,       ///< `op` (. -> .* ->*), `name` = the member, args: object
  cast,  ///< `op` ("(" C style, "static_cast", ..., "" for float(x), "{" for float{x}), `type`,
         ///< args
  init_list,   ///< {a, b}; args: elements
  comma,       ///< args: left, right
  size_of,     ///< sizeof, alignof; `type` or args: operand
  designated,  ///< .member = value in an init list; `name`, args: value
  new_object,  ///< new T(...), `type`, args: constructor arguments
  lambda,      ///< captures and parameters are text; `body` is its statement
  statement,   ///< GNU ({ ... }); `body`
  type,        ///< a type in place of an expression (template or macro argument); `type`
  opaque,      ///< not understood
};

struct Expr {
  ExprKind kind = ExprKind::opaque;
  Span span;
  std::string_view op;
  std::string_view name;
  Span name_span;                ///< of `name` or of the operator token
  Span type;                     ///< of cast, size_of, new_object, type
  std::span<Expr* const> args;   ///< children in source order
  const Expr* parent = nullptr;  ///< null at the root of an expression
  const Stmt* stmt = nullptr;    ///< the innermost enclosing statement; null at file level
  const Stmt* body = nullptr;
  /// the text that the spans refer to: for a macro's expression its body
  const std::string* source = nullptr;
  std::uint16_t height = 1;    ///< height of the subtree, bounded by the parser
  bool parenthesised = false;  ///< enclosed in (); `span` excludes, `outer` includes them
  bool of_macro = false;       ///< a call of a macro of the file: arguments are text to it
  Span outer;                  ///< `span` with enclosing parentheses
  [[nodiscard]] const Expr& arg(std::size_t i) const { return *args[i]; }
  [[nodiscard]] bool is(ExprKind k) const { return kind == k; }
  [[nodiscard]] bool is_op(ExprKind k, std::string_view o) const { return kind == k && op == o; }
  [[nodiscard]] bool is_name(std::string_view n) const {
    return kind == ExprKind::name && name == n;
  }
};

/// Words before or after the type in a declaration, as bits.
enum Qualifier : std::uint32_t {
  kConst = 1U << 0,
  kVolatile = 1U << 1,
  kRestrict = 1U << 2,
  kShared = 1U << 3,
  kConstant = 1U << 4,
  kDeviceSpace = 1U << 5,
  kConstexpr = 1U << 6,
  kExtern = 1U << 7,
  kStatic = 1U << 8,
  kRegister = 1U << 9,
  kAuto = 1U << 10,
  kUnsigned = 1U << 11,
  kTypedef = 1U << 12,
  kManaged = 1U << 13,
  kInline = 1U << 14,
  kGridConstant = 1U << 15,
  kThreadLocal = 1U << 16,
};

/// Syntax of an initialiser.
enum class InitForm : std::uint8_t { none, assign, parens, braces };

/// One declared name: `*p[4] = x` in `float *p[4] = x, q;`. Also used for parameters.
struct Declarator {
  Span span;              ///< from its first * past its initialiser
  std::string_view name;  ///< empty: an unnamed parameter
  Span name_span;
  Span type;        ///< the type's words without qualifiers ("unsigned int"), shared in a list
  Span specifiers;  ///< all words before the declarator, qualifiers included
  std::uint32_t qualifiers =
      0;  ///< of the declared element (kConst: pointee is const) and its storage
  int pointer_depth = 0;
  std::uint32_t pointer_qualifiers = 0;  ///< kConst, kRestrict, kVolatile of the outermost pointer
  Span pointer_span;                     ///< the *, & and their qualifiers
  bool reference = false;
  bool is_function_pointer = false;
  std::span<Expr* const> extents;  ///< one per [..]; null for []
  Span extents_span;
  InitForm init_form = InitForm::none;
  std::span<Expr* const> init;  ///< assign: one; parens, braces: any number
  bool is_parameter = false;
  const Stmt* stmt =
      nullptr;  ///< its declaration statement; null for a parameter and at file level
  const Function* function = nullptr;  ///< null at file level
  [[nodiscard]] bool is_pointer() const { return pointer_depth > 0; }
  [[nodiscard]] bool is_array() const { return !extents.empty(); }
  /// A pointer, also a parameter that is written as an array: it can be made to point elsewhere.
  [[nodiscard]] bool points() const { return is_pointer() || (is_parameter && is_array()); }
  [[nodiscard]] bool has(std::uint32_t q) const { return (qualifiers & q) != 0; }
  [[nodiscard]] bool is_constant() const;  ///< constexpr, or const without pointer
  [[nodiscard]] const Expr* value() const { return init.size() == 1 ? init[0] : nullptr; }
};

enum class StmtKind : std::uint8_t {
  block,        ///< `children`
  declaration,  ///< `declarators`; `text_only` where it declares types (struct, using, typedef,
                ///< static_assert)
  expression,   ///< `expr`
  if_,          ///< `init`?, `condition` = expr (or a declaration in `init`), `body`, `otherwise`?
  for_,         ///< `init`?, `expr`? condition, `step`?, `body`
  range_for,    ///< `init` declares, `expr` is the range, `body`
  while_,       ///< `expr`, `body`
  do_,          ///< `body`, `expr`
  switch_,      ///< `expr`, `body`
  case_,        ///< `expr` (null: default); the statements follow as siblings
  return_,      ///< `expr`?
  break_,
  continue_,
  goto_,      ///< `name`
  label,      ///< `name`
  empty,      ///< ;
  assembly,   ///< asm(...); the operands' expressions are in `operands`
  directive,  ///< a preprocessor line or _Pragma between statements; `name` = pragma, define, if,
              ///< ...
  try_,       ///< `body`; handlers are opaque children
  macro,   ///< a macro that governs a statement: NAME(args) { ... }, UNROLL for ...; `expr` is its
           ///< call or name, `body`
  opaque,  ///< not understood
};

struct Stmt {
  StmtKind kind = StmtKind::opaque;
  Span span;                     ///< with ; or braces; without a pragma before it
  const Stmt* parent = nullptr;  ///< null: a function's body
  const Function* function = nullptr;
  const Expr* expr = nullptr;
  const Stmt* init = nullptr;
  const Expr* step = nullptr;
  const Stmt* body = nullptr;
  const Stmt* otherwise = nullptr;
  std::span<Stmt* const> children;  ///< of a block, in order
  std::span<Declarator* const> declarators;
  std::span<Expr* const> operands;  ///< of assembly, outputs first
  std::size_t outputs = 0;          ///< how many of the operands are written
  std::string_view name;
  Span header;                   ///< from `for`, `if`, ... past its ")"
  const Stmt* pragma = nullptr;  ///< of a loop: the `#pragma unroll` directly before it
  bool text_only = false;
  bool constexpr_if = false;
  [[nodiscard]] bool is(StmtKind k) const { return kind == k; }
  [[nodiscard]] bool is_loop() const {
    return kind == StmtKind::for_ || kind == StmtKind::while_ || kind == StmtKind::do_ ||
           kind == StmtKind::range_for;
  }
};

struct TemplateParameter {
  std::string_view name;
  Span span;
  bool is_type = false;  ///< typename T, class T
  const Expr* default_value = nullptr;
};

/// A class, struct or union with members.
struct Record {
  std::string_view name;  ///< empty: it has none
  Span head;              ///< between its name and "{": what it is derived from
  Span body;              ///< inside the braces
  std::span<TemplateParameter const> template_parameters;
};

/// A function definition or declaration, at namespace level or in a class.
struct Function {
  Span span;  ///< from its first word (including template <..> and extern "C") past } or ;
  std::string_view name;
  Span name_span;
  Span attributes;  ///< words before the name: extern "C" __global__ void __launch_bounds__(256)
  Span return_type;
  Span parameters_span;  ///< inside the parentheses
  Span launch_bounds;    ///< __launch_bounds__(...); empty if absent
  std::span<Expr* const> launch_bounds_args;
  std::span<TemplateParameter const> template_parameters;
  Span template_head;  ///< template <...>
  std::span<Declarator* const> parameters;
  const Stmt* body = nullptr;  ///< null for a declaration
  bool is_global = false;      ///< __global__
  bool is_device = false;      ///< __device__
  bool is_host = false;        ///< __host__
  bool extern_c = false;
  const Record* record = nullptr;        ///< that it is a member of
  std::string_view scope;                ///< enclosing "ns::Class"; empty at file level
  std::span<Span const> opaque;          ///< opaque spans inside, in order
  bool unresolved_conditionals = false;  ///< an #if inside depends on names unknown to the parser
  [[nodiscard]] const Declarator* parameter(std::string_view wanted) const;
};

[[nodiscard]] std::string_view name(ExprKind kind);
[[nodiscard]] std::string_view name(StmtKind kind);

}  // namespace warpath::model
