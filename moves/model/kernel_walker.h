#pragma once

#include <vector>

#include "moves/model/expression_walker.h"
#include "moves/model/loop_header.h"

namespace warpath::model {

/// Walks a kernel in execution order, tracking the values of variables: fills the facts' arrays,
/// accesses, guards and loops, and records the value of every name at its place.
class KernelWalker {
 public:
  explicit KernelWalker(KernelFacts& facts) : at_(facts), expressions_(at_) {}
  KernelWalker(const KernelWalker&) = delete;  // its parts refer to each other
  KernelWalker& operator=(const KernelWalker&) = delete;
  ~KernelWalker() = default;
  void run();

 private:
  using Mode = ExpressionWalker::Mode;

  void statement(const Stmt& s);
  void assembly(const Stmt& s);
  void lone_word(const Expr& e);
  void block(const Stmt& s);
  static bool returns(const Stmt& s);
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

  WalkPlace at_;
  ExpressionWalker expressions_;
};

}  // namespace warpath::model
