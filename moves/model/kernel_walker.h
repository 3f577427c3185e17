#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "moves/model/loop_header.h"
#include "moves/model/value_reader.h"
#include "moves/model/variable_values.h"

namespace warpath::model {

/// Walks a kernel in execution order, tracking the values of variables: fills the facts' arrays,
/// accesses, guards and loops, and records the value of every name at its place.
class KernelWalker {
 public:
  explicit KernelWalker(KernelFacts& facts)
      : facts_(facts),
        state_(*facts.state),
        unit_(*facts.unit),
        reader_(facts),
        variables_(facts) {}
  void run();

 private:
  enum class Mode : std::uint8_t { read, write, read_write, none };

  // walk_statements.cc
  void statement(const Stmt& s);
  void assembly(const Stmt& s);
  void lone_word(const Expr& e);
  void block(const Stmt& s);
  static bool returns(const Stmt& s);
  Guard& add_guard(const Expr& condition, bool negated, const Stmt& stmt);
  void declaration(const Stmt& s);
  void branch(const Stmt& s);
  VariableValues::Environment limits(const Stmt& s, const VariableValues::Environment& after_then);
  void switched(const Stmt& s);
  void forget_written(Span span);
  void loop(const Stmt& s);
  static bool is_inside_declaration(const Declarator& d, const Stmt& loop);
  void fill_range(Loop& l, const LoopHeader& h);
  void find_thread_axis(Loop& l);
  bool fold_induction(Loop& l,
                      const LoopHeader& header,
                      const Declarator& d,
                      const std::vector<const Write*>& writes);

  // walk_expressions.cc
  void visit_quietly(const Expr& e);
  void note_name(const Expr& e);
  void visit(const Expr& e, Mode mode);
  [[nodiscard]] bool makes_object(const Expr& cast) const;
  [[nodiscard]] bool is_row(const Expr& e) const;
  void logical(const Expr& e);
  void conditional(const Expr& e);
  void assignment(const Expr& e);
  void bumped(const Expr& e);
  void changed(const Expr& target);
  void escape(const Expr& e);
  void escape_if_pointer(const Expr& value, const Expr& target);
  void unknown_call(const std::string& what, Span span, bool stays = false);
  void call(const Expr& e, Mode mode);
  bool reaches_only_arguments(const Expr& e);
  [[nodiscard]] const Declarator* variable_in(const Expr& lvalue) const;
  [[nodiscard]] bool is_of_file(const Expr& atomic);
  void expand(const Expr& e, const Expansion& expansion, Mode mode);
  void visit_helper(const Expr& e, Mode mode);
  [[nodiscard]] static bool takes_address_of(const Expansion& expansion, std::size_t parameter);
  void access(const Expr& e, Mode mode);
  [[nodiscard]] bool is_local_object(const Expr& e, Mode mode) const;
  void pointed(const Expr& pointer, AccessKind kind, std::string_view atomic_op, const Expr& call);
  void record(const Expr& e, const Value& where, AccessKind kind, std::string_view atomic_op);

  KernelFacts& facts_;
  KernelFacts::State& state_;
  const Unit& unit_;
  ValueReader reader_;
  VariableValues variables_;
  std::vector<const Guard*> guards_;
  std::vector<Loop*> loops_;
  const Expr* helper_call_ = nullptr;
  int helper_depth_ = 0;
};

}  // namespace warpath::model
