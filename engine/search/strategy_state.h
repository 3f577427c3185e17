#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/base/key_table.h"
#include "engine/base/pool.h"
#include "engine/base/rng.h"
#include "engine/base/statistics.h"

namespace warpath {

/// What a strategy, or another part of a campaign, knows, as bytes for a snapshot. The same calls
/// write and read:
///
///     void keep(StrategyState& state) { state(current_, drawn_); }
///
/// Members are numbers, texts, NodeIds, hashes, Rngs, Welfords, sequences, sets and maps of these,
/// and structs with a `keep` of their own. Integers take as few bytes as they need; maps are in the
/// order of their keys, so that equal states have equal bytes.
class StrategyState {
 public:
  using Sink = std::function<void(std::string_view)>;
  using Source = std::function<std::string_view()>;

  /// Writes, for take().
  StrategyState() = default;
  /// Writes to `sink` one piece after another, the last at finish().
  explicit StrategyState(Sink sink) : sink_(std::move(sink)) {}
  /// Reads; `bytes` must outlive this. Nodes are below `nodes`, or kNoNode. Whatever does not fit
  /// throws Error(bad_input) with `place`.
  StrategyState(std::string_view bytes, std::uint32_t nodes, std::string place)
      : reads_(true), left_(bytes), nodes_(nodes), place_(std::move(place)) {}
  /// Reads `bytes` bytes of which `source` gives one piece after another; a piece must live until
  /// the next one is asked for.
  StrategyState(Source source, std::uint64_t bytes, std::uint32_t nodes, std::string place)
      : reads_(true),
        source_(std::move(source)),
        to_come_(bytes),
        nodes_(nodes),
        place_(std::move(place)) {}

  [[nodiscard]] bool reads() const { return reads_; }
  template <class... Members>
  void operator()(Members&... members) {
    (keep(members), ...);
  }
  /// What was written.
  [[nodiscard]] std::string take() { return std::move(written_); }
  void finish() { pass_on(); }
  /// All was read.
  [[nodiscard]] bool at_end() const { return left_.size() + to_come_ == 0; }
  /// Throws unless all was read.
  void require_end() const {
    if (!at_end()) fail();
  }
  /// The size of a sequence, which is `now` if it is written and of which each element, to follow,
  /// takes a byte or more: for a `keep` of what is none of the above.
  [[nodiscard]] std::size_t size(std::size_t now);

 private:
  [[noreturn]] void fail() const;
  void put(std::uint64_t x);
  [[nodiscard]] std::uint64_t get();
  /// Gives the sink what was written.
  void pass_on();
  /// The next piece of the source.
  void refill();

  void keep(std::uint64_t& x) { reads_ ? void(x = get()) : put(x); }
  template <std::integral T>
  void keep(T& x) {
    auto wide = static_cast<std::uint64_t>(x);
    keep(wide);
    x = static_cast<T>(wide);
  }
  void keep(double& x);
  void keep(float& x);
  void keep(std::string& text);
  void keep(NodeId& node);
  void keep(Hash128& hash) { (*this)(hash.high, hash.low); }
  void keep(Rng& rng);
  void keep(Welford& w) { (*this)(w.count, w.mean, w.m2); }
  template <class T>
    requires requires(T& x, StrategyState& state) { x.keep(state); }
  void keep(T& x) {
    x.keep(*this);
  }
  template <class A, class B>
  void keep(std::pair<A, B>& x) {
    (*this)(x.first, x.second);
  }
  template <class... Parts>
  void keep(std::tuple<Parts...>& x) {
    std::apply([this](Parts&... parts) { (*this)(parts...); }, x);
  }
  template <class T>
  void keep(std::vector<T>& all) {
    all.resize(size(all.size()));
    for (T& x : all) keep(x);
  }
  template <class T>
  void keep(Pool<T>& all) {
    const std::size_t count = size(all.size());
    if (reads_) all = Pool<T>();
    for (std::size_t i = 0; i < count; ++i) {
      if (reads_) all.push_back(T{});
      keep(all[i]);
    }
  }
  void keep(KeyTable& all);
  template <class T>
  void keep(std::deque<T>& all) {
    all.resize(size(all.size()));
    for (T& x : all) keep(x);
  }
  template <class T, std::size_t count>
  void keep(std::array<T, count>& all) {
    for (T& x : all) keep(x);
  }
  template <class T>
  void keep(std::optional<T>& one) {
    bool there = one.has_value();
    keep(there);
    if (reads_) there ? void(one.emplace()) : one.reset();
    if (there) keep(*one);
  }
  template <class T>
  void keep(std::set<T>& all) {
    const std::size_t count = size(all.size());
    if (reads_) all.clear();
    auto it = all.begin();
    for (std::size_t i = 0; i < count; ++i) {
      T x = reads_ ? T{} : *it++;
      keep(x);
      if (reads_) all.insert(all.end(), std::move(x));
    }
  }
  template <class K, class V, class Less>
  void keep(std::map<K, V, Less>& all) {
    const std::size_t count = size(all.size());
    if (reads_) all.clear();
    auto it = all.begin();
    for (std::size_t i = 0; i < count; ++i) {
      K key = reads_ ? K{} : it->first;
      keep(key);
      if (reads_) it = all.emplace_hint(all.end(), std::move(key), V{});
      keep(it->second);
      ++it;
    }
  }
  template <class K, class V>
  void keep(std::unordered_map<K, V>& all) {
    std::vector<std::pair<K, V*>> rows;
    for (auto& [key, value] : all) rows.emplace_back(key, &value);
    std::ranges::sort(rows, {}, &std::pair<K, V*>::first);
    const std::size_t count = size(rows.size());
    if (reads_) all.clear();
    for (std::size_t i = 0; i < count; ++i) {
      K key = reads_ ? K{} : rows[i].first;
      keep(key);
      keep(reads_ ? all[key] : *rows[i].second);
    }
  }

  bool reads_ = false;
  Sink sink_;            // empty: everything stays in `written_`
  std::string written_;  // and not passed on yet
  Source source_;
  std::string_view left_;      // of the current piece
  std::uint64_t to_come_ = 0;  // bytes in later pieces
  std::uint32_t nodes_ = 0;
  std::string place_;
};

}  // namespace warpath
