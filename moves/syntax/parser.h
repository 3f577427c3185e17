#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "moves/syntax/syntax_query.h"
#include "moves/syntax/type_scan.h"

namespace warpath::model {

/// Recursive descent over the lexemes of one unit. A parse function returns null (or false) for
/// what it does not understand; the nearest statement or argument then becomes opaque. Only types
/// are parsed twice, in bounded lookahead.
class Parser : private TypeLookahead {
 public:
  explicit Parser(Unit::Storage& storage);
  void parse_unit();

 private:
  // parse_file.cc
  void parse_items(std::size_t end, std::string_view scope, bool in_class);
  void parse_item(std::size_t end, std::string_view scope, bool in_class);
  void parse_type_item(std::size_t end, std::string_view scope, Function& head);
  bool parse_namespace(std::size_t end, std::string_view scope, bool in_class);
  bool parse_template_head(Function& head);
  void parse_enumerators(std::size_t open);
  void bind_template_arguments();
  [[nodiscard]] std::optional<std::int64_t> constant_value(const std::vector<Word>& words) const;
  void fold_constants();

  // parse_function.cc
  bool parse_function(std::size_t end, std::string_view scope, bool in_class, Function& head);
  [[nodiscard]] bool starts_function_head(std::size_t at) const;
  [[nodiscard]] std::size_t find_function_name(std::size_t end) const;
  [[nodiscard]] std::size_t behind_function_head(std::size_t close, std::size_t end) const;
  [[nodiscard]] bool looks_like_parameters(std::size_t open) const;
  void parse_parameters(Function& function, std::size_t open);
  void read_attributes(Function& function, std::size_t from, std::size_t to);
  [[nodiscard]] bool is_attribute_macro(std::string_view word, Function& says, int depth = 0) const;

  // parse_declaration.cc
  struct Specifiers {
    Span all, type;
    std::uint32_t qualifiers = 0;
    bool has_type = false;
  };
  bool parse_specifiers(Specifiers& out, std::size_t end);
  bool skip_attribute();
  Declarator* parse_declarator(const Specifiers& specifiers, bool is_parameter);
  bool parse_initialiser(Declarator& out);
  bool parse_declarator_name(Declarator& out);
  bool parse_extents(Declarator& out, std::vector<Expr*>& extents);
  bool parse_declarators(const Specifiers& specifiers, std::vector<Declarator*>& out);
  void note_alias(std::size_t from, std::size_t end);

  // parse_statement.cc
  Stmt* parse_statement();
  Stmt* parse_block();
  Stmt* parse_simple(StmtKind kind);
  Stmt* parse_keyword();
  Stmt* parse_if();
  Stmt* parse_for();
  Stmt* parse_while();
  Stmt* parse_do();
  Stmt* parse_switch();
  Stmt* parse_case();
  Stmt* parse_return();
  Stmt* parse_condition(Stmt& owner, std::size_t open);
  Stmt* parse_initialising_statement();
  bool parse_for_header(Stmt& out, std::size_t open);
  Stmt* opaque_statement(std::size_t from);
  Stmt* directives_before(std::vector<Stmt*>* into);
  Stmt* body_of(Stmt& owner);
  Stmt* begin_statement(StmtKind kind, std::size_t from);
  Stmt* finish(Stmt* stmt, std::size_t from);
  bool semicolon();

  // parse_simple_statement.cc
  Stmt* parse_goto();
  Stmt* parse_label();
  Stmt* parse_asm();
  Stmt* parse_try();
  Stmt* parse_text_declaration();
  Stmt* parse_declaration();
  [[nodiscard]] bool is_macro_word(std::size_t at) const;
  Stmt* parse_expression_statement();
  Stmt* parse_macro(Stmt* out, std::size_t from);

  // parse_expression.cc
  Expr* parse_comma();
  Expr* parse_assignment();
  Expr* parse_binary(int least);
  Expr* parse_unary();
  Expr* parse_postfix();
  Expr* parse_postfix_of(Expr* primary, std::size_t from);
  Expr* parse_launch(Expr* callee, std::size_t from);
  Expr* parse_member(Expr* object, std::size_t from);
  Expr* parse_primary();
  Expr* parse_name();
  Expr* parse_lambda();
  Expr* parse_fold();
  Expr* parse_group();
  Expr* parse_braces();
  Expr* parse_argument();
  bool parse_arguments(std::size_t open, std::vector<Expr*>& out);
  Expr* opaque_expression(std::size_t from, std::size_t end);
  Expr* make(ExprKind kind, std::size_t from, const std::vector<Expr*>& args);

  // parse_cast.cc
  Expr* parse_sized();
  Expr* parse_new();
  Expr* parse_cast();
  Expr* parse_named_cast();

  // shared
  void note_opaque(Span span) { s_.opaque.push_back(span); }

  class Deeper {
   public:
    explicit Deeper(Parser& parser) : parser_(parser) { ++parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { --parser_.depth_; }

   private:
    Parser& parser_;
  };
  static constexpr int kMaxDepth = 400;    // of recursion
  static constexpr int kMaxHeight = 1000;  // of an expression
  [[nodiscard]] bool too_deep() const { return depth_ > kMaxDepth; }

  std::size_t at_ = 0;
  std::size_t next_directive_ = 0;
  int depth_ = 0;
  const Stmt* stmt_ = nullptr;          // being parsed
  const Function* function_ = nullptr;  // being parsed
  const Record* record_ = nullptr;      // whose members are being parsed
  std::set<std::string_view> macros_;
  std::set<std::string_view>
      statement_macros_;  // without parameters, standing for the start of a statement or a pragma
  const Stmt* pending_pragma_ = nullptr;  // directly before the next statement of a block
};

}  // namespace warpath::model
