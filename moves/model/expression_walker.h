#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "moves/model/walk_place.h"

namespace warpath::model {

/// Walks expressions in the order of their evaluation: records accesses and the value of every
/// name, follows assignments.
class ExpressionWalker {
 public:
  enum class Mode : std::uint8_t { read, write, read_write, none };

  /// `place` must outlive it.
  explicit ExpressionWalker(WalkPlace& place) : at_(place) {}

  /// Notes values of names without accesses or effects: for what is looked at ahead of its turn.
  void visit_quietly(const Expr& e);
  /// Reads, writes or both, or nothing of its own (`&x`, a row of an array).
  void visit(const Expr& e, Mode mode);
  void changed(const Expr& target);
  void escape(const Expr& e);
  void unknown_call(const std::string& what, Span span, bool stays = false);

 private:
  void note_name(const Expr& e);
  [[nodiscard]] bool makes_object(const Expr& cast) const;
  [[nodiscard]] bool is_row(const Expr& e) const;
  void logical(const Expr& e);
  void conditional(const Expr& e);
  void assignment(const Expr& e);
  void bumped(const Expr& e);
  void escape_if_pointer(const Expr& value, const Expr& target);
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

  WalkPlace& at_;
  const Expr* helper_call_ = nullptr;
  int helper_depth_ = 0;
};

}  // namespace warpath::model
