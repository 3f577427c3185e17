#include "runners/cluster/member_worker.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/plugin/variant_io.h"
#include "engine/spec/spec_load.h"
#include "runners/cluster/access_key.h"
#include "runners/cluster/socket.h"
#include "runners/worker/process.h"

namespace warpath::cluster {
namespace {

constexpr std::chrono::seconds kConnectLimit{30};
/// For what is under way once the engine is gone.
constexpr std::chrono::seconds kGrace{20};
constexpr std::size_t kMostCommandOutput = std::size_t{256} << 20U;
constexpr const char* kPlace = "the engine's message";

/// Where a queue that started this process says which of its jobs it is.
std::string own_job() {
  for (const auto& [whole, part] : {std::pair{"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"}}) {
    const char* const job = std::getenv(whole);
    const char* const task = std::getenv(part);
    if (job != nullptr && task != nullptr) return std::string(job) + "_" + task;
  }
  const char* const job = std::getenv("SLURM_JOB_ID");
  return job == nullptr ? "" : job;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) out.emplace_back(*variable);
  return out;
}

/// What a member does for an engine. Its thread makes and prepares runners, each evaluation has one
/// of its own, and the one that reads messages only distributes them.
class Desk {
 public:
  Desk(Socket& socket, const std::string& program, const MakeRunner& make)
      : socket_(socket), program_(program), make_(make), setting_up_([this] { set_up(); }) {}

  ~Desk() {
    abandon();
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    setting_up_.join();
    join_all();
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  void take(const OpenRunner& message) { queue(message); }
  void take(const PrepareSpec& message) { queue(message); }
  void take(const Ping&) { send(Pong{}); }
  void take(const Welcome&) {}
  void take(const Cancel& message) {
    const std::lock_guard lock(mutex_);
    if (const auto found = work_.find(message.id); found != work_.end())
      (message.if_waiting ? found->second.withdrawn : found->second.stop).request_stop();
  }
  void take(const RunVariant& message) {
    const std::lock_guard lock(mutex_);
    if (message.turn == ready_turn_) begin(message);
  }
  void take(const RunCommand& message) {
    const std::lock_guard lock(mutex_);
    begin(message);
  }

 private:
  using SetUp = std::variant<OpenRunner, PrepareSpec>;
  struct Work {
    std::stop_source stop, withdrawn;
    std::thread thread;
    std::atomic<bool> done = false;
  };

  /// Under the mutex.
  template <class Message>
  void begin(const Message& message) {
    for (auto one = work_.begin(); one != work_.end();) {
      if (!one->second.done) {
        ++one;
        continue;
      }
      one->second.thread.join();
      one = work_.erase(one);
    }
    Work& work = work_[message.id];
    work.thread = std::thread([this, message, &work] {
      send(answer(message, work));
      work.done = true;
    });
  }

  void send(const MemberMessage& message) {
    const std::string frame = encode(message);
    const std::lock_guard lock(writing_);
    if (!socket_.write(frame)) socket_.shut_down();
  }

  void queue(SetUp message) {
    {
      const std::lock_guard lock(mutex_);
      ready_turn_ = 0;
      waiting_.push_back(std::move(message));
    }
    changed_.notify_all();
  }

  void abandon() {
    const std::lock_guard lock(mutex_);
    for (auto& [id, work] : work_) work.stop.request_stop();
  }
  /// Once nothing is added to the work.
  void join_all() {
    for (auto& [id, work] : work_) {
      if (work.thread.joinable()) work.thread.join();
    }
    const std::lock_guard lock(mutex_);
    work_.clear();
  }

  void set_up() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return over_ || !waiting_.empty(); });
      if (over_) return;
      const SetUp message = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      abandon();
      join_all();
      send(std::visit([&](const auto& one) -> MemberMessage { return done(one); }, message));
    }
  }

  RunnerOpened done(const OpenRunner& message) {
    RunnerOpened out;
    out.turn = message.turn;
    spec_.reset();
    made_ = {};
    try {
      made_ = make_(message);
      out.facts = made_.runner->device();
      out.lanes = made_.runner->lanes();
      out.drafts = made_.runner->drafts();
    } catch (const Error& error) {
      out.problem = error.what();
      out.is_input = error.code() == ErrorCode::bad_input;
    }
    return out;
  }

  SpecPrepared done(const PrepareSpec& message) {
    SpecPrepared out;
    out.turn = message.turn;
    if (!made_.runner) {
      out.problem = "there is no runner";
      return out;
    }
    try {
      spec_ = spec_from_json(parse_json(message.spec, kPlace), kPlace);
      made_.runner->prepare(*spec_);
      out.platform = made_.runner->platform();
      out.kind = made_.runner->platform_kind();
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) ready_turn_ = message.turn;
    } catch (const Error& error) {
      out.problem = error.what();
      out.is_input = error.code() == ErrorCode::bad_input;
    }
    return out;
  }

  Finished answer(const RunVariant& message, const Work& work) {
    const std::stop_token stop = work.stop.get_token();
    Finished out;
    out.id = message.id;
    Runner& runner = *made_.runner;
    try {
      const Variant variant = variant_from_json(parse_json(message.variant, kPlace), kPlace);
      std::optional<Variant> against;
      if (!message.against.empty())
        against = variant_from_json(parse_json(message.against, kPlace), kPlace);
      if (message.draft) {
        const auto diagnosis = runner.draft(*spec_, variant, stop);
        out.outcome.status = diagnosis ? Status::ok : Status::compile_error;
        if (diagnosis) out.outcome.diagnosis = *diagnosis;
      } else {
        out.outcome = guarded_run(runner,
                                  {.spec = *spec_,
                                   .variant = variant,
                                   .key = message.key,
                                   .seed = message.seed,
                                   .incumbent_ns = message.incumbent_ns,
                                   .stage = message.stage,
                                   .searched_ns = message.searched_ns,
                                   .against = against ? &*against : nullptr,
                                   .seconds_left = message.seconds_left,
                                   .withdrawn = work.withdrawn.get_token()},
                                  stop);
      }
    } catch (const Error& error) {
      out.problem = error.what();
    }
    out.useful = runner.useful_lanes();
    return out;
  }

  Finished answer(const RunCommand& message, const Work& work) {
    Finished out;
    out.id = message.id;
    ProcessSpec spec{.argv = {program_}, .environment = own_environment()};
    spec.argv.insert(spec.argv.end(), message.words.begin(), message.words.end());
    spec.directory = message.directory;
    try {
      const ProcessResult result = run_process(spec, std::chrono::hours(24 * 365),
                                               kMostCommandOutput, work.stop.get_token());
      out.code =
          result.end == ProcessEnd::exited ? result.code : static_cast<int>(ErrorCode::environment);
      out.outcome.log = last_line(result.output);
      std::fwrite(result.output.data(), 1, result.output.size(), stderr);
    } catch (const Error& error) {
      out.problem = error.what();
    }
    out.useful = 1;
    return out;
  }

  Socket& socket_;
  const std::string program_;
  const MakeRunner& make_;
  std::mutex writing_;  // of the socket
  std::mutex mutex_;    // of the next four
  std::condition_variable changed_;
  std::deque<SetUp> waiting_;
  std::map<std::uint64_t, Work> work_;
  std::uint64_t ready_turn_ = 0;  // 0: nothing is evaluated now
  bool over_ = false;
  // of the thread that sets up; constant while anything is evaluated
  MadeRunner made_;
  std::optional<KernelSpec> spec_;
  std::thread setting_up_;
};

}  // namespace

int member_worker_main(const MemberSetup& setup, const MakeRunner& make) {
  const std::string key = read_key(setup.key);
  Socket socket = Socket::connect(setup.host, setup.port, kConnectLimit);
  const Join join{.key = key,
                  .version = setup.version,
                  .host = host_name(),
                  .pid = static_cast<std::int64_t>(::getpid()),
                  .job = own_job()};
  std::string frame;
  EngineMessage message;
  if (!socket.write(encode(MemberMessage(join))) || socket.read(frame) != FrameStatus::done ||
      !decode(frame, message) || !std::holds_alternative<Welcome>(message))
    throw environment_error("the engine at " + setup.host + " port " + std::to_string(setup.port) +
                            " does not take this member");
  if (const std::string& problem = std::get<Welcome>(message).problem; !problem.empty()) {
    std::fprintf(stderr, "warpath: %s\n", problem.c_str());
    return static_cast<int>(ErrorCode::environment);
  }
  std::jthread last_resort;
  {
    Desk desk(socket, setup.program, make);
    while (socket.read(frame) == FrameStatus::done && decode(frame, message))
      std::visit([&](const auto& one) { desk.take(one); }, message);
    // What does not end in time holds up the machine for nobody.
    last_resort = std::jthread([](const std::stop_token& stop) {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      never.wait_for(lock, stop, kGrace, [] { return false; });
      if (!stop.stop_requested()) ::_exit(static_cast<int>(ErrorCode::environment));
    });
  }
  return 0;
}

}  // namespace warpath::cluster
