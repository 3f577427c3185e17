#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "moves/blocks/block_run.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// Executes a kernel's body statement by statement for all threads of a block; see run_block. If a
/// condition differs between threads, each branch runs for its threads alone. Running threads in
/// lockstep changes no result: threads that could notice would race, and BlockMemory refuses races.
class BlockRunner {
 public:
  BlockRunner(const model::KernelModel& model, const Bindings& values, std::string& why)
      : model_(model), unit_(model.unit), values_(values), why_(why) {}
  std::optional<BlockRun> run();

  /// From here on statements run by follow(), as they stand somewhere in the kernel. What variables
  /// and shared arrays of the kernel hold before is known as far as the thread's index says it;
  /// otherwise it is a value of each thread or element.
  bool begin();
  /// Runs a statement for all threads of the block, all of which must continue after it.
  bool follow(const model::Stmt& s);

  /// Threads that run a statement, ascending.
  using Threads = std::vector<int>;
  /// A value for each of the threads that are running, or one for all of them.
  struct Lanes {
    std::vector<BlockValue> values = std::vector<BlockValue>(1);
    Lanes() = default;
    explicit Lanes(const BlockValue& value) : values(1, value) {}
    explicit Lanes(const Threads& threads) : values(threads.size()) {}
    [[nodiscard]] bool is_uniform() const { return values.size() == 1; }
    const BlockValue& operator[](std::size_t i) const { return values[is_uniform() ? 0 : i]; }
  };
  /// Values of parameters, and of which threads.
  using Arguments = std::map<std::string_view, std::pair<Threads, Lanes>>;

  /// A local of the kernel, or a declared array.
  struct Variable {
    std::optional<DType> type;          ///< of an element; nullopt: a pointer, auto
    std::vector<std::int64_t> extents;  ///< empty: no array
    int memory = -1;                    ///< of a shared one
    std::size_t size = 1;
    /// Of a thread's own: [thread, element], or one element that all threads agree on.
    std::vector<BlockValue> values;
    std::vector<BlockValue> before;  ///< what ran: of a variable declared elsewhere
    int source = -1;                 ///< of its unknown values
    /// As the text counts on where it is volatile, a warp's threads advance together.
    bool in_step = false;
  };
  using Variables = std::unordered_map<const model::Declarator*, Variable>;
  /// Of what follow() ran: variables by their declarations, shared arrays by Variable::memory.
  [[nodiscard]] const Variables& variables() const { return variables_; }
  [[nodiscard]] const std::vector<BlockMemory>& memories() const { return memories_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] const std::array<std::int64_t, 3>& block() const { return block_; }
  /// The thread's index, as names of the source.
  [[nodiscard]] Bindings index_of(int thread) const;
  /// Barriers of the block that its threads have passed.
  [[nodiscard]] int barriers() const { return now_.block; }

 private:
  /// Where a thread writes: an element of memory, or of a variable of its own.
  struct Place {
    Variable* variable = nullptr;
    int memory = -1;
    BlockMemory::Element element;
    bool in_step = false;
  };
  static constexpr int kWarp = 32;
  /// Values of expressions, one if all threads agree on it.
  static constexpr std::int64_t kMostWork = 400'000;

  // block_follow.cc
  Variable* entered(const model::Declarator* d, const model::Expr& e);
  [[nodiscard]] bool is_set_again(const model::Declarator& d) const;
  Lanes chosen(const model::Expr& condition,
               const Lanes& yes,
               const Lanes& no,
               const Threads& threads);
  [[nodiscard]] bool compares_data(const model::Expr& condition, const Threads& threads);
  bool keeps_better(const model::Stmt& s, const Threads& threads);
  void advance_warps(const Threads& threads);

  // block_run.cc
  bool read_launch();
  [[nodiscard]] std::optional<DType> type_of(const model::Declarator& d) const;
  void declare_parameter(const model::Declarator& p);
  [[nodiscard]] bool overlaps(const model::Array& array) const;
  void declare(const model::Declarator& d, const Threads& threads);
  bool shape(const model::Declarator& d, Variable& v);
  [[nodiscard]] bool is_viewed(const Variable& v) const;
  bool view(const BlockValue& pointer, DType type);
  void stop(const std::string& what);
  void stop_at(const model::Expr& e);
  void count_work(std::size_t values);
  static Threads merged(const Threads& a, const Threads& b);
  std::pair<Threads, Threads> split(const model::Expr& condition, const Threads& threads);
  Threads execute(const model::Stmt& s, Threads threads);
  Threads repeated(const model::Stmt& s, Threads threads);
  std::vector<Place> places(const model::Expr& e, const Threads& threads);
  [[nodiscard]] static BlockValue& own(const Place& p, int thread);
  [[nodiscard]] static Lanes read(const Variable& v, const Threads& threads);
  void write(Variable& v, const Lanes& values, const Threads& threads) const;
  [[nodiscard]] Variable* scalar(const model::Expr& e);
  Lanes loaded(const std::vector<Place>& from, const Threads& threads);
  Lanes stored(const std::vector<Place>& to, Lanes values, const Threads& threads);

  // block_expressions.cc
  Lanes evaluated(const model::Expr& e, const Threads& threads);
  Lanes evaluated_kind(const model::Expr& e, const Threads& threads);
  static Lanes woven(const Threads& threads, const Threads& yes, const Lanes& a, const Lanes& b);
  Lanes literal(const model::Expr& e);
  Variable* variable_of(const model::Expr& e);
  Lanes named(const model::Expr& e, const Threads& threads);
  Lanes builtin(const model::Expr& e, const Threads& threads);
  Lanes unary(const model::Expr& e, const Threads& threads);
  Lanes two_sided(const model::Expr& e, const Threads& threads);
  Lanes operated(std::string_view text,
                 const Lanes& a,
                 const Lanes& b,
                 const model::Expr& e,
                 const model::Expr& left,
                 const model::Expr& right);
  [[nodiscard]] bool is_unsigned(const model::Expr& e) const;
  void convert(Lanes& values, std::optional<DType> type);
  Lanes cast(const model::Expr& e, const Threads& threads);
  Lanes assigned(const model::Expr& e, const Threads& threads);
  Lanes stepped(const model::Expr& e, const Threads& threads, bool after);
  Lanes called(const model::Expr& e, const Threads& threads);
  Lanes hinted(const model::Expr& e, bool stores, const Threads& threads);
  Lanes expanded(const model::Expr& e, std::string_view name, const Threads& threads);
  [[nodiscard]] bool has_whole_warps(const Threads& threads) const;
  Lanes shuffled(const model::Expr& e, std::string_view name, const Threads& threads);

  const model::KernelModel& model_;
  const model::Unit& unit_;
  const Bindings& values_;
  std::string& why_;  ///< set: what runs stops
  std::array<std::int64_t, 3> block_{};
  std::int64_t blocks_ = 0, work_ = 0;
  int threads_ = 0, depth_ = 0;
  BlockMemory::Clock now_;
  std::vector<BlockMemory> memories_;  ///< of the parameters, then of the kernel's arrays
  Variables variables_;
  std::unordered_map<const model::Expr*, Variable*> named_;
  const Arguments* arguments_ = nullptr;  ///< of the call that is being expanded
  Threads broken_, continued_;            ///< out of the innermost loop
  bool follows_ = false;                  ///< begin() was called
};

}  // namespace warpath
