#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

namespace warpath {

/// Serves the page of a run on 127.0.0.1, read-only, until `stop`: GET / is the page, GET
/// /events?after=LINE what the log gained since that line; anything else is 404, and a request for
/// another host (a name that was made to lead here) 403. `port` 0: any free one. Calls `ready` with
/// the address once it listens. Throws Error(bad_input) if `folder` contains no run,
/// Error(environment) if the port is taken.
void serve_live_page(const std::filesystem::path& folder,
                     int port,
                     const std::function<void(const std::string& address)>& ready,
                     const std::stop_token& stop);

}  // namespace warpath
