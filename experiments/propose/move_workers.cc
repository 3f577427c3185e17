#include "experiments/propose/move_workers.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/plugin/variant_io.h"
#include "runners/cuda/options.h"
#include "runners/worker/worker_process.h"

namespace warpath {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using Question = MoveQuestion::Kind;

constexpr int kMostWorkers = 8;
constexpr int kMaxFailedStarts = 3;
constexpr double kStartSeconds = 60;
constexpr std::size_t kMostRecordBytes = std::size_t{1} << 30U;

constexpr std::string_view name(Question kind) {
  switch (kind) {
    case Question::apply:
      return "apply";
    case Question::domain:
      return "domain";
    case Question::inverse:
      return "inverse";
    default:
      return "enumerate";
  }
}

bool same_device(const DeviceFacts& a, const DeviceFacts& b) {
  return a.runner == b.runner && a.name == b.name && a.arch == b.arch &&
         a.multiprocessors == b.multiprocessors &&
         a.max_threads_per_block == b.max_threads_per_block &&
         a.max_smem_per_block_bytes == b.max_smem_per_block_bytes && a.is_gpu == b.is_gpu;
}

constexpr std::string_view kKilled = "its worker was killed";
constexpr std::string_view kEndless = "it did not end";

/// Attempts before a request counts as failed. Kills come from outside; a move cannot cause one.
int attempts(std::string_view death) {
  if (death.starts_with(kEndless)) return 1;
  return death == kKilled ? 4 : 2;
}

/// Appends a line and puts it on the disk; what an earlier crash left of one is cut off. Throws
/// Error(environment).
void append_line(const std::filesystem::path& file, std::string line) {
  line += '\n';
  const auto failed = [&] {
    return environment_error(file.string() + ": cannot be written: " + std::strerror(errno));
  };
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) throw failed();
  bool good = true;
  off_t end = ::lseek(fd, 0, SEEK_END);
  for (char last = 0; end > 0 && ::pread(fd, &last, 1, end - 1) == 1 && last != '\n';) --end;
  good = ::ftruncate(fd, end) == 0;
  for (std::size_t done = 0; good && done < line.size();) {
    const ssize_t put =
        ::pwrite(fd, line.data() + done, line.size() - done, end + static_cast<off_t>(done));
    if (put < 0 && errno == EINTR) continue;
    good = put > 0;
    if (good) done += static_cast<std::size_t>(put);
  }
  good = good && ::fsync(fd) == 0;
  const int reason = errno;
  ::close(fd);
  errno = reason;
  if (!good) throw failed();
}

/// The reason given for a move that threw instead of answering, in one line.
std::string thrown_text(const std::exception& thrown) {
  const std::string text = std::string("it threw: ") + thrown.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace

MoveWorkersSetup move_workers_setup(const Options& options,
                                    const Program& program,
                                    std::filesystem::path record) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return {
      .argv = {program.path, "worker", "moves"},
      .workers = options.of<CudaOptions>().isolation == "none" ? 0 : std::min(cores, kMostWorkers),
      .record = std::move(record)};
}

struct MoveWorkers::Worker {
  std::unique_ptr<WorkerProcess> process;
  std::shared_ptr<const std::string> scene;  // that it was told
};

/// A move that runs in the workers; only its names are known without them.
class MoveWorkers::Guarded final : public OfferingMove {
 public:
  Guarded(std::unique_ptr<Move> own, MoveWorkers& workers)
      : own_(std::move(own)), workers_(workers) {}
  [[nodiscard]] std::string_view name() const override { return own_->name(); }
  [[nodiscard]] bool structural() const override { return own_->structural(); }
  [[nodiscard]] bool polishes() const override { return own_->polishes(); }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& at) const override {
    return workers_.ask(*own_, at, {.kind = Question::enumerate, .instance = alone()})
        .listed.value_or(std::vector<MoveInstance>{});
  }
  [[nodiscard]] std::vector<MoveOffer> offers(const MoveContext& at) const override {
    return workers_.ask(*own_, at, {.kind = Question::offers, .instance = alone()}).offers;
  }
  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& at,
                                            std::string_view site) const override {
    MoveInstance instance = alone();
    instance.site = site;
    return workers_.ask(*own_, at, {.kind = Question::domain, .instance = std::move(instance)})
        .domain;
  }
  [[nodiscard]] std::optional<Variant> apply(const MoveContext& at,
                                             const MoveInstance& instance,
                                             std::string& why) const override {
    MoveAnswer answer = workers_.ask(*own_, at, {.kind = Question::apply, .instance = instance});
    why = std::move(answer.why);
    return std::move(answer.variant);
  }
  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& at,
                                                    const MoveInstance& instance) const override {
    return workers_.ask(*own_, at, {.kind = Question::inverse, .instance = instance}).inverse;
  }

 private:
  [[nodiscard]] MoveInstance alone() const {
    return {.move = std::string(own_->name()), .site = "", .parameters = {}};
  }

  std::unique_ptr<Move> own_;
  MoveWorkers& workers_;
};

MoveWorkers::MoveWorkers(const MoveRegistry& moves, MoveWorkersSetup setup)
    : setup_(std::move(setup)) {
  for (const auto& [name, entry] : moves.entries()) {
    guarded_.add(name, entry.help,
                 [this, &entry = entry] { return std::make_unique<Guarded>(entry.make(), *this); });
  }
  read_record();
  for (int i = 0; i < setup_.workers; ++i)
    idle_.push_back(workers_.emplace_back(std::make_unique<Worker>()).get());
}

MoveWorkers::~MoveWorkers() = default;

std::vector<MoveFailure> MoveWorkers::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

/// A last line without a line end was never completed and had no effect.
void MoveWorkers::read_record() {
  if (setup_.record.empty() || !std::filesystem::exists(setup_.record)) return;
  const std::string file = setup_.record.string();
  std::string text = read_text_file(file, kMostRecordBytes, file);
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string place = file + ":" + std::to_string(++number);
    const json line = parse_json(text.substr(at, text.find('\n', at) - at), place);
    const JsonCursor cursor(line, place);
    const JsonCursor instance = cursor.at("instance");
    known_.insert({hash_from_json(cursor.at("key")),
                   cursor.at("question").text() + " " +
                       instance_from_json(instance.value(), instance.place()).text()});
  }
}

void MoveWorkers::write_record(const MoveFailure& failure, const Variant& variant) const {
  if (setup_.record.empty()) return;
  const json line{{"key", failure.key.hex()},
                  {"instance", to_json(failure.instance)},
                  {"question", failure.question},
                  {"reason", valid_utf8(failure.reason)},
                  {"variant", to_json(variant)}};
  append_line(setup_.record, line.dump());
}

std::vector<int> MoveWorkers::pids() const {
  const std::lock_guard lock(mutex_);
  std::vector<int> out;
  for (const auto& worker : workers_) {
    if (worker->process != nullptr) out.push_back(worker->process->pid());
  }
  return out;
}

std::uint64_t MoveWorkers::deaths() const {
  const std::lock_guard lock(mutex_);
  return deaths_;
}

void MoveWorkers::fail(const MoveContext& at,
                       MoveInstance instance,
                       std::string question,
                       std::string reason) {
  const Hash128 key = variant_key(at.variant);
  FailureKey place{key, question + " " + instance.text()};
  const std::lock_guard lock(mutex_);
  if (!known_.insert(std::move(place)).second) return;
  failures_.push_back({.key = key,
                       .instance = std::move(instance),
                       .question = std::move(question),
                       .reason = std::move(reason)});
  write_record(failures_.back(), at.variant);
}

bool MoveWorkers::has_failed(const Hash128& key,
                             std::string_view question,
                             const MoveInstance& instance) const {
  return known_.contains({key, std::string(question) + " " + instance.text()});
}

std::shared_ptr<const std::string> MoveWorkers::scene(const MoveContext& at) {
  const std::lock_guard lock(mutex_);
  if (scene_spec_ != &at.spec || !same_device(scene_device_, at.device)) {
    scene_ = std::make_shared<const std::string>(encode_scene(at.spec, at.device));
    scene_spec_ = &at.spec;
    scene_device_ = at.device;
  }
  return scene_;
}

MoveAnswer MoveWorkers::ask(const Move& own, const MoveContext& at, MoveQuestion question) {
  const Question kind = question.kind;
  const std::string asked(name(kind));
  {
    const std::lock_guard lock(mutex_);
    if (!known_.empty()) {
      const Hash128 key = variant_key(at.variant);
      if (has_failed(key, asked, question.instance)) {
        MoveAnswer known;
        known.why = "the move failed here before";
        return known;
      }
      if (kind == Question::offers) {
        const FailureKey first{key, "apply " + std::string(own.name())};
        for (auto it = known_.lower_bound(first);
             it != known_.end() && it->first == key && it->second.starts_with(first.second); ++it) {
          question.excluded.push_back(it->second.substr(std::string_view("apply ").size()));
        }
      }
    }
  }
  MoveAnswer answer = setup_.workers == 0 ? ask_here(own, at, question) : ask_worker(at, question);
  for (auto& [instance, reason] : answer.thrown)
    fail(at, std::move(instance), "apply", std::move(reason));
  if (answer.failure) {
    answer.why = "the move failed: " + *answer.failure;
    fail(at, question.instance, asked, *answer.failure);
  }
  return answer;
}

MoveAnswer MoveWorkers::ask_here(const Move& own,
                                 const MoveContext& at,
                                 const MoveQuestion& question) const {
  MoveAnswer out;
  try {
    switch (question.kind) {
      case Question::enumerate:
        out.listed = own.enumerate(at);
        break;
      case Question::apply:
        out.variant = own.apply(at, question.instance, out.why);
        break;
      case Question::domain:
        out.domain = own.domain(at, question.instance.site);
        break;
      case Question::inverse:
        out.inverse = own.inverse(at, question.instance);
        break;
      case Question::offers:
        for (const MoveInstance& instance : own.enumerate(at)) {
          if (std::ranges::find(question.excluded, instance.text()) != question.excluded.end())
            continue;
          try {
            if (std::optional<Made> made = try_move(own, at, instance))
              out.offers.push_back({instance, std::move(*made)});
          } catch (const std::exception& thrown) {
            out.thrown.emplace_back(instance, thrown_text(thrown));
          }
        }
    }
  } catch (const std::exception& thrown) {
    out.failure = thrown_text(thrown);
  }
  return out;
}

MoveAnswer MoveWorkers::ask_worker(const MoveContext& at, MoveQuestion question) {
  Worker* worker = nullptr;
  {
    std::unique_lock lock(mutex_);
    idle_changed_.wait(lock, [this] { return !idle_.empty(); });
    worker = idle_.back();
    idle_.pop_back();
  }
  struct Return {  // NOLINT(cppcoreguidelines-special-member-functions): in place
    MoveWorkers& pool;
    Worker* worker;
    ~Return() {
      const std::lock_guard lock(pool.mutex_);
      pool.idle_.push_back(worker);
      pool.idle_changed_.notify_one();
    }
  } const give_back{*this, worker};

  MoveAnswer answer;
  std::uint32_t died_at = 0;  // where a worker last died
  int deaths = 0;             // there
  while (true) {
    question.from = answer.next;
    const std::string death = converse(*worker, at, question, answer);
    if (death.empty()) return answer;
    const std::string reason = answer.failure.value_or(death);
    answer.failure.reset();
    const bool listed = question.kind == Question::offers && answer.listed;
    deaths = deaths > 0 && died_at == answer.next ? deaths + 1 : 1;
    died_at = answer.next;
    if (deaths < attempts(death)) continue;
    if (!listed || answer.next >= answer.listed->size()) {
      answer.failure = reason;
      return answer;
    }
    answer.thrown.emplace_back((*answer.listed)[answer.next], reason);
    ++answer.next;
    deaths = 0;
  }
}

void MoveWorkers::start(Worker& worker) {
  for (int attempt = 1;; ++attempt) {
    auto process = std::make_unique<WorkerProcess>(
        LockedWorker{.argv = setup_.argv, .memory_bytes = setup_.memory_bytes});
    if (is_ready(process->wait(kStartSeconds).frame)) {
      const std::lock_guard lock(mutex_);
      worker.process = std::move(process);
      worker.scene.reset();
      return;
    }
    if (attempt >= kMaxFailedStarts)
      throw environment_error("a move worker ended before it was ready: " + setup_.argv.front());
  }
}

void MoveWorkers::bury(Worker& worker) {
  const std::lock_guard lock(mutex_);
  worker.process.reset();
  ++deaths_;
}

std::string MoveWorkers::cause_of_death(const WorkerReply& lost) const {
  using Kind = WorkerReply::Kind;
  if (lost.kind == Kind::timed_out)
    return std::string(kEndless) + " within " +
           std::to_string(static_cast<int>(setup_.silent_seconds)) + " s";
  if (lost.kind != Kind::ended) return "its worker sent what cannot be read";
  const int number = lost.end.code;
  if (!lost.end.signalled) return "its worker ended with " + lost.end.text();
  if (number == SIGPROF || number == SIGXCPU)
    return std::string(kEndless) + " within " + number_text(setup_.seconds) + " s of the processor";
  return number == SIGKILL ? std::string(kKilled)
                           : std::string("it crashed: ") + ::strsignal(number);
}

/// One exchange with a worker, which is started if necessary. Empty if the answer is complete,
/// otherwise how the worker ended.
std::string MoveWorkers::converse(Worker& worker,
                                  const MoveContext& at,
                                  const MoveQuestion& question,
                                  MoveAnswer& answer) {
  // it died while idle
  if (worker.process != nullptr && !worker.process->idle()) bury(worker);
  if (worker.process == nullptr) start(worker);
  if (const auto told = scene(at); worker.scene != told) {
    worker.process->send(*told);
    worker.scene = told;
  }
  worker.process->send(encode(question, at.variant));
  WorkerReply reply;
  while (true) {
    reply = worker.process->wait(setup_.silent_seconds);
    if (reply.kind != WorkerReply::Kind::frame) break;
    try {
      if (!take(reply.frame, at.variant, answer)) break;
    } catch (const std::exception&) {
      break;
    }
    if (answer.complete) return "";
  }
  bury(worker);
  return cause_of_death(reply);
}

}  // namespace warpath
