#include "experiments/report/live_page.h"

#include <httplib.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/log/run_folder.h"
#include "experiments/report/run_page.h"

namespace warpath {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kHost = "127.0.0.1";
constexpr std::size_t kThreads = 2;
/// The log is not read again before so many times what reading it took.
constexpr int kRest = 5;
constexpr std::chrono::milliseconds kPoll{50};

/// A run folder as it was read last. Thread-safe.
class LiveRun {
 public:
  explicit LiveRun(std::filesystem::path folder) : folder_(std::move(folder)) {
    if (!RunFolder::has_run(folder_))
      throw bad_input(folder_.string(), "", "a run folder: OUTDIR/kernels/NAME");
    const std::lock_guard lock(mutex_);
    renew();
  }

  [[nodiscard]] std::string page() {
    const std::lock_guard lock(mutex_);
    renew();
    if (!run_) return waiting_page(folder_.filename().string(), state());
    return run_page(*run_, state());
  }

  [[nodiscard]] std::string news(std::uint64_t after) {
    const std::lock_guard lock(mutex_);
    if (Clock::now() >= next_) renew();
    return run_ ? run_news(*run_, after, state()) : R"({"state":")" + state() + "\"}";
  }

 private:
  void renew() {
    const auto began = Clock::now();
    if (run_) {
      static_cast<void>(read_on(*run_));
    } else {
      try {
        run_.emplace(run_material(folder_));
      } catch (const Error&) {
        if (!RunFolder::is_in_use(folder_)) throw;  // else: its baseline is being measured
      }
    }
    next_ = Clock::now() + kRest * (Clock::now() - began);
  }

  [[nodiscard]] std::string state() const {
    const bool runs = RunFolder::is_in_use(folder_);
    if (!run_) return "measuring the baseline";
    const RecordedCost& cost = run_->run.cost();
    return std::string(!runs                         ? "no search is running"
                       : cost.finals.evaluations > 0 ? "timing the finalists"
                                                     : "searching") +
           ": " + std::to_string(cost.search.evaluations) + " builds, " +
           duration_text(cost.seconds);
  }

  const std::filesystem::path folder_;
  std::mutex mutex_;
  std::optional<RunMaterial> run_;
  Clock::time_point next_{};  // the log is not read again before
};

/// Its own address, under either name.
bool is_addressed_here(const httplib::Request& request, int port) {
  const std::string host = request.get_header_value("Host"), end = ":" + std::to_string(port);
  return host == kHost + end || host == "localhost" + end;
}

void route(httplib::Server& server, LiveRun& run, const int& port) {
  server.set_pre_routing_handler([&port](const auto& request, auto& response) {
    if (is_addressed_here(request, port)) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    return httplib::Server::HandlerResponse::Handled;
  });
  server.set_exception_handler([](const auto&, auto& response, std::exception_ptr problem) {
    try {
      std::rethrow_exception(std::move(problem));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "warpath: %s\n", error.what());
      response.set_content(error.what(), "text/plain; charset=utf-8");
    }
    response.status = 500;
  });
  server.set_default_headers(
      {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
  server.Get("/", [&run](const auto&, auto& response) {
    response.set_content(run.page(), "text/html; charset=utf-8");
  });
  server.Get("/events", [&run](const auto& request, auto& response) {
    const std::string text = request.get_param_value("after");
    std::uint64_t after = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), after);
    if (text.empty() || problem != std::errc() || end != text.data() + text.size()) {
      response.status = 400;
      return;
    }
    response.set_content(run.news(after), "application/json");
  });
}

}  // namespace

void serve_live_page(const std::filesystem::path& folder,
                     int port,
                     const std::function<void(const std::string& address)>& ready,
                     const std::stop_token& stop) {
  LiveRun run(folder);
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_keep_alive_timeout(2);
  // the library would let several processes listen on one port
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  route(server, run, port);
  if (port == 0) {
    port = server.bind_to_any_port(kHost);
  } else if (!server.bind_to_port(kHost, port)) {
    port = -1;
  }
  if (port < 0) throw environment_error(std::string("--port: cannot listen there on ") + kHost);
  const std::jthread ends([&](const std::stop_token& done) {
    while (!done.stop_requested()) {
      if (stop.stop_requested() && server.is_running()) return server.stop();
      std::this_thread::sleep_for(kPoll);
    }
  });
  ready("http://" + std::string(kHost) + ":" + std::to_string(port) + "/");
  if (!stop.stop_requested()) static_cast<void>(server.listen_after_bind());
}

}  // namespace warpath
