#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/hash.h"
#include "engine/plugin/device_facts.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/runner.h"

/// Messages between the engine and the members of its cluster: one frame each
/// (runners/worker/frames.h), answered in any order but for those of one kind. Every decoder
/// returns false unless the message is well-formed.
namespace warpath::cluster {

/// First message of a member. The engine answers with Welcome.
struct Join {
  std::string key;      ///< shared secret (access_key.h)
  std::string version;  ///< of the program: both sides must be the same
  std::string host;
  std::int64_t pid = 0;
  std::string job;  ///< identity in the queue that started it; empty: none
};
struct Welcome {
  std::string problem;  ///< not empty: the member is refused, and ends
};

/// A runner to be made in place of the present one; the answer is RunnerOpened.
struct OpenRunner {
  std::uint64_t turn = 0;  ///< counts the runners and specs of this engine
  std::string runner;      ///< NAME of `--runner NAME:ARGUMENT`
  std::string argument;
  std::string options;  ///< all options as JSON
};
struct RunnerOpened {
  std::uint64_t turn = 0;
  std::string problem;    ///< not empty: the runner cannot be made here
  bool is_input = false;  ///< `problem` is that of an Error(bad_input)
  DeviceFacts facts;
  int lanes = 0;
  bool drafts = false;
};

/// Prepares the present runner for a spec; the answer is SpecPrepared.
struct PrepareSpec {
  std::uint64_t turn = 0;
  std::string spec;  ///< JSON (engine/spec/spec_load.h: to_json)
};
struct SpecPrepared {
  std::uint64_t turn = 0;
  std::string problem;
  bool is_input = false;
  std::string platform;  ///< Runner::platform
  std::string kind;      ///< Runner::platform_kind
};

/// One evaluation; the answer is Finished.
struct RunVariant {
  std::uint64_t turn = 0;  ///< of the spec; one of another turn is left alone
  std::uint64_t id = 0;
  bool draft = false;   ///< Runner::draft: the outcome has a diagnosis, or status compile_error
  std::string variant;  ///< JSON (engine/plugin/variant_io.h)
  Hash128 key;
  std::uint64_t seed = 0;
  double incumbent_ns = 0;
  Stage stage = Stage::screening;
  double searched_ns = 0;
  std::string against;  ///< as `variant`; empty: none
  double seconds_left = 0;
};
struct Finished {
  std::uint64_t id = 0;
  int code = 0;         ///< exit status of a command; its last line is the outcome's log
  std::string problem;  ///< not empty: the runner is broken there; there is no outcome
  Outcome outcome;
  int useful = 0;  ///< Runner::useful_lanes now
};

/// A command of the program, to its end; the answer is Finished.
struct RunCommand {
  std::uint64_t id = 0;
  std::vector<std::string> words;  ///< behind the program's name
  std::string directory;           ///< working folder
};

/// Abandons an evaluation or a command. It may be answered nevertheless.
struct Cancel {
  std::uint64_t id = 0;
  bool if_waiting = false;  ///< only what still waits to be measured; it is answered then
};

/// Answered at once, whatever is under way, by Pong.
struct Ping {};
struct Pong {};

using EngineMessage =
    std::variant<Welcome, OpenRunner, PrepareSpec, RunVariant, RunCommand, Cancel, Ping>;
using MemberMessage = std::variant<Join, RunnerOpened, SpecPrepared, Finished, Pong>;

[[nodiscard]] std::string encode(const EngineMessage& message);
[[nodiscard]] std::string encode(const MemberMessage& message);
[[nodiscard]] bool decode(std::string_view frame, EngineMessage& message);
[[nodiscard]] bool decode(std::string_view frame, MemberMessage& message);

}  // namespace warpath::cluster
