#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/propose/move_script.h"
#include "moves/propose/rule_proposer.h"

namespace warpath {

/// A question to a move, without the kernel.
struct MoveQuestion {
  enum class Kind : std::uint8_t { offers, enumerate, apply, domain, inverse };
  Kind kind = Kind::enumerate;
  MoveInstance instance;  ///< apply, inverse: whole; domain: move and site; else the move only
  // offers:
  std::uint32_t from = 0;                  ///< instances before this one have been answered
  std::vector<std::string> excluded = {};  ///< labels to skip
};

/// The answer received so far. An answer is a sequence of messages, so that what preceded the death
/// of a worker is known, and where it died.
struct MoveAnswer {
  std::optional<std::vector<MoveInstance>> listed;  ///< enumerate, offers
  /// offers: the first instance of `listed` without an answer
  std::uint32_t next = 0;
  std::vector<MoveOffer> offers;
  /// offers: instances whose apply() threw, with the message
  std::vector<std::pair<MoveInstance, std::string>> thrown;
  std::optional<Variant> variant;  ///< apply
  std::string why;
  std::vector<Tunable> domain;
  std::optional<MoveInstance> inverse;
  /// the move threw, or the worker's last words; one line
  std::optional<std::string> failure;
  bool complete = false;
};

/// Messages to a worker, as frames. A scene (spec and device) applies to all following questions.
[[nodiscard]] std::string encode_scene(const KernelSpec& spec, const DeviceFacts& device);
[[nodiscard]] std::string encode(const MoveQuestion& question, const Variant& variant);
/// Adds one message of an answer to a question about `variant`. False if it is malformed.
[[nodiscard]] bool take(std::string_view frame, const Variant& variant, MoveAnswer& answer);
/// True for the first message of a worker, sent unsolicited.
[[nodiscard]] bool is_ready(std::string_view frame);

/// Answers questions to moves, in a worker or, without workers, in the process itself. Not
/// thread-safe.
class MoveService {
 public:
  explicit MoveService(const MoveRegistry& moves);
  ~MoveService();
  /// Called before each operation that may not terminate: listing instances, trying one.
  std::function<void()> before_each = {};
  /// Handles one message, passing the messages of the answer to `emit`. Exceptions of moves become
  /// part of the answer. False: malformed message.
  [[nodiscard]] bool handle(std::string_view frame, const std::function<void(std::string)>& emit);

 private:
  struct Scene;
  void offer(const Move& move,
             const MoveContext& at,
             const MoveQuestion& question,
             const std::function<void(std::string)>& emit);
  void answer(const MoveQuestion& question,
              const Variant& variant,
              const std::function<void(std::string)>& emit);

  MoveTable moves_;
  std::unique_ptr<Scene> scene_;
};

/// `warpath worker moves`: serves until `in_fd` ends, locked down (runners/worker/sandbox.h). An
/// operation that takes more than `cpu_seconds` of CPU time ends the process by SIGPROF; last words
/// on stderr (a failed check) become part of the answer. Returns the exit status.
[[nodiscard]] int move_worker_main(int in_fd,
                                   int out_fd,
                                   const MoveRegistry& moves,
                                   double cpu_seconds);
inline constexpr double kMoveSeconds = 10;

}  // namespace warpath
