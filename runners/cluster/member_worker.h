#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "runners/cluster/messages.h"

namespace warpath::cluster {

struct MemberSetup {
  std::string host;  ///< of the engine
  int port = 0;
  std::filesystem::path key;  ///< file (access_key.h)
  std::string version;        ///< of this program
  std::string program;        ///< path of this executable, for commands
};

/// A runner, and the options that it refers to.
struct MadeRunner {
  std::unique_ptr<const Options> options;
  std::unique_ptr<Runner> runner;
};
/// Throws Error if there is no such runner, or it cannot run here.
using MakeRunner = std::function<MadeRunner(const OpenRunner&)>;

/// Body of `warpath worker member`: joins the engine and evaluates for it until it ends the
/// connection. Returns the exit status: 0, or 3 if the engine refused it. Throws Error if the key
/// cannot be read or nothing answers within half a minute.
[[nodiscard]] int member_worker_main(const MemberSetup& setup, const MakeRunner& make);

}  // namespace warpath::cluster
