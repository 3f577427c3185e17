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

/// What a move is asked, apart from the kernel.
struct MoveQuestion {
  enum class Kind : std::uint8_t { offers, enumerate, apply, domain, inverse };
  Kind kind = Kind::enumerate;
  MoveInstance instance;  ///< apply, inverse: whole; domain: move and site; else the move alone
  // offers:
  std::uint32_t from = 0;                  ///< instances before this one were answered
  std::vector<std::string> excluded = {};  ///< labels that are not tried
};

/// What has come of an answer. An answer is a row of messages, so that what came before the end of
/// a worker is known, and where it ended.
struct MoveAnswer {
  std::optional<std::vector<MoveInstance>> listed;  ///< enumerate, offers
  /// offers: the first instance of `listed` that was not answered
  std::uint32_t next = 0;
  std::vector<MoveOffer> offers;
  /// offers: instances whose apply() threw, with what
  std::vector<std::pair<MoveInstance, std::string>> thrown;
  std::optional<Variant> variant;  ///< apply
  std::string why;
  std::vector<Tunable> domain;
  std::optional<MoveInstance> inverse;
  /// the move threw, or the last words of the worker; one line
  std::optional<std::string> failure;
  bool complete = false;
};

/// Messages to a worker, as frames. A scene (spec and device) holds for the questions that follow
/// it.
[[nodiscard]] std::string encode_scene(const KernelSpec& spec, const DeviceFacts& device);
[[nodiscard]] std::string encode(const MoveQuestion& question, const Variant& variant);
/// Adds one message of an answer to a question about `variant`. False if it is damaged.
[[nodiscard]] bool take(std::string_view frame, const Variant& variant, MoveAnswer& answer);
/// The first message of a worker, which nothing was asked of yet.
[[nodiscard]] bool is_ready(std::string_view frame);

/// Answers questions to moves, in a worker and, where there are none, in the process itself. One
/// thread only.
class MoveService {
 public:
  explicit MoveService(const MoveRegistry& moves);
  ~MoveService();
  /// Called before every piece of work that may not end: listing instances, trying one.
  std::function<void()> before_each = {};
  /// Handles one message; `emit` gets the messages of the answer. What a move throws is part of the
  /// answer. False: not a message.
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

/// `warpath worker moves`: serves until `in_fd` ends. Locked down (runners/worker/sandbox.h) and
/// without files. Work that takes more than `cpu_seconds` of the processor ends the process by
/// SIGPROF; last words on stderr (a failed check) become part of the answer. Returns the exit
/// status.
[[nodiscard]] int move_worker_main(int in_fd,
                                   int out_fd,
                                   const MoveRegistry& moves,
                                   double cpu_seconds);
inline constexpr double kMoveSeconds = 10;

}  // namespace warpath
