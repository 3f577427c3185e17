#include "runners/host/worker_client.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "runners/host/options.h"
#include "runners/host/worker.h"

namespace warpath::host {
namespace {

constexpr std::uint64_t kMaxReply = 1ULL << 34U;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kStart{10};

}  // namespace

int block_threads(const HostOptions& options) {
  return options.threads > 0 ? options.threads
                             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

WorkerClient::WorkerClient(std::string program, const HostOptions& options)
    : program_(std::move(program)), options_(options) {}

void WorkerClient::start() {
  ProcessSpec spec;
  spec.argv = {program_, "worker", "host"};
  spec.directory = std::filesystem::temp_directory_path().string();
  spec.memory_bytes = options_.memory_mib << 20;
  spec.file_bytes = 1;
  child_ = std::make_unique<Child>(spec);
  ++started_;
  const std::int32_t threads = block_threads(options_);
  const auto deadline = Clock::now() + kStart;
  Hello hello;
  // A worker that does not answer this is found lost by the request that follows.
  if (child_->write(std::as_bytes(std::span(&threads, 1)), deadline, {}) != Child::Io::done ||
      child_->read(std::as_writable_bytes(std::span(&hello, 1)), deadline, {}) != Child::Io::done)
    return;
  sandbox_ = {.landlock = hello.landlock, .seccomp = hello.seccomp};
}

const Sandbox& WorkerClient::sandbox() {
  if (!child_) start();
  return sandbox_;
}

WorkerLoss WorkerClient::lose(Child::Io why) {
  WorkerLoss loss;
  if (why == Child::Io::timed_out || why == Child::Io::stopped) {
    loss.kind =
        why == Child::Io::timed_out ? WorkerLoss::Kind::timed_out : WorkerLoss::Kind::stopped;
    child_.reset();
    return loss;
  }
  const int status = child_->wait(std::chrono::seconds(1));
  child_.reset();
  loss.kind = WIFSIGNALED(status) ? WorkerLoss::Kind::signalled : WorkerLoss::Kind::exited;
  loss.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  if (loss.kind == WorkerLoss::Kind::exited && loss.code == kWorkerOutOfMemory)
    loss.kind = WorkerLoss::Kind::out_of_memory;
  return loss;
}

WorkerClient::Raw WorkerClient::exchange(const std::vector<std::byte>& request,
                                         Limit limit,
                                         const std::stop_token& stop,
                                         int descriptor) {
  if (!child_) start();
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  const std::uint64_t size = request.size();
  Raw out;
  std::uint64_t length = 0;
  auto io = child_->write(std::as_bytes(std::span(&size, 1)), deadline, stop, descriptor);
  if (io == Child::Io::done) io = child_->write(request, deadline, stop);
  if (io == Child::Io::done)
    io = child_->read(std::as_writable_bytes(std::span(&length, 1)), deadline, stop);
  if (io == Child::Io::done && (length == 0 || length > kMaxReply)) io = Child::Io::closed;
  if (io == Child::Io::done) {
    out.message.resize(static_cast<std::size_t>(length));
    io = child_->read(out.message, deadline, stop);
  }
  if (io != Child::Io::done) {
    out.loss = lose(io);
    return out;
  }
  const auto kind = static_cast<Message>(out.message.front());
  out.message.erase(out.message.begin());
  if (kind == Message::reply) return out;
  out.loss = lose(Child::Io::closed);
  if (kind == Message::fault && out.message.size() == sizeof(FaultRecord)) {
    FaultRecord record;
    std::memcpy(&record, out.message.data(), sizeof record);
    out.loss->fault = record;
    out.loss->kind = WorkerLoss::Kind::signalled;
    out.loss->code = record.signal;
  }
  return out;
}

namespace {

/// Decodes a whole message; a damaged one counts as a lost worker.
template <class Reply, class Unpack>
Answer<Reply> decode(const std::vector<std::byte>& message,
                     std::optional<WorkerLoss> loss,
                     Unpack unpack) {
  Answer<Reply> out;
  out.loss = std::move(loss);
  if (out.loss) return out;
  Unpacker from(message);
  out.reply = unpack(from);
  if (!from.ok()) out.loss = WorkerLoss{};
  return out;
}

}  // namespace

Answer<LoadReply> WorkerClient::load(const std::string& object_path,
                                     std::size_t kernel,
                                     Limit limit,
                                     const std::stop_token& stop,
                                     std::size_t steps) {
  const int object = ::open(object_path.c_str(), O_RDONLY | O_CLOEXEC);
  auto raw = exchange(pack_load(object_path, kernel, steps), limit, stop, object);
  if (object >= 0) ::close(object);
  return decode<LoadReply>(raw.message, std::move(raw.loss), unpack_load_reply);
}

std::optional<WorkerLoss> WorkerClient::bind(const std::vector<BoundArgument>& arguments,
                                             Limit limit,
                                             const std::stop_token& stop) {
  return exchange(pack_bind(arguments), limit, stop).loss;
}

Answer<LaunchReply> WorkerClient::launch(const LaunchCommand& command,
                                         Limit limit,
                                         const std::stop_token& stop) {
  auto raw = exchange(pack(command), limit, stop);
  return decode<LaunchReply>(raw.message, std::move(raw.loss), unpack_launch_reply);
}

Answer<LaunchReply> WorkerClient::time(const TimeCommand& command,
                                       Limit limit,
                                       const std::stop_token& stop) {
  auto raw = exchange(pack(command), limit, stop);
  return decode<LaunchReply>(raw.message, std::move(raw.loss), unpack_launch_reply);
}

}  // namespace warpath::host
