#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include "engine/base/hash.h"

namespace warpath {

/// hash128() of the pieces one behind the other. A Hasher that was given the same bytes has it as
/// its digest.
[[nodiscard]] Hash128 hash128_of(std::initializer_list<std::string_view> pieces);

/// hash128() of bytes that come piece by piece.
class PieceHasher {
 public:
  PieceHasher();
  ~PieceHasher();
  PieceHasher(const PieceHasher&) = delete;
  PieceHasher& operator=(const PieceHasher&) = delete;

  void add(std::string_view piece);
  [[nodiscard]] Hash128 digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpath
