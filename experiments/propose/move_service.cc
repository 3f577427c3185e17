#include "experiments/propose/move_service.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/json/json_record.h"
#include "engine/plugin/device_io.h"
#include "engine/plugin/variant_io.h"
#include "engine/spec/spec_load.h"
#include "moves/model/facts.h"
#include "runners/worker/frames.h"
#include "runners/worker/sandbox.h"
#include "runners/worker/wire.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::string_view kPlace = "move worker";
constexpr int kExitEnvironment = 3;

/// First byte of a message.
enum class Kind : std::uint8_t {
  scene,
  question,
  listed,
  tried,
  threw,
  made,
  domain,
  inverse,
  failed,
  done
};

WireWriter message(Kind kind) {
  WireWriter writer;
  writer.u8(static_cast<std::uint8_t>(kind));
  return writer;
}

void put(WireWriter& writer, const Hash128& hash) {
  writer.u64(hash.high).u64(hash.low);
}

Hash128 read_hash(WireReader& reader) {
  Hash128 out;
  out.high = reader.u64();
  out.low = reader.u64();
  return out;
}

void put(WireWriter& writer, const std::vector<Tunable>& tunables) {
  writer.u32(static_cast<std::uint32_t>(tunables.size()));
  for (const Tunable& t : tunables) {
    writer.text(t.name).u32(static_cast<std::uint32_t>(t.values.size()));
    for (const std::int64_t value : t.values) writer.u64(static_cast<std::uint64_t>(value));
    writer.u64(static_cast<std::uint64_t>(t.default_value)).text(t.help);
  }
}

std::vector<Tunable> read_tunables(WireReader& reader) {
  std::vector<Tunable> out;
  const std::uint32_t count = reader.u32();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    Tunable t;
    t.name = reader.text();
    const std::uint32_t values = reader.u32();
    for (std::uint32_t k = 0; k < values && reader.ok(); ++k)
      t.values.push_back(static_cast<std::int64_t>(reader.u64()));
    t.default_value = static_cast<std::int64_t>(reader.u64());
    t.help = reader.text();
    out.push_back(std::move(t));
  }
  return out;
}

/// What was thrown, in one line.
std::string described(const std::exception& thrown) {
  const std::string text = dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr
                               ? "it used up its memory"
                               : std::string("it threw: ") + thrown.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string encode_scene(const KernelSpec& spec, const DeviceFacts& device) {
  return message(Kind::scene).text(to_json(spec).dump()).text(to_json(device).dump()).bytes();
}

std::string encode(const MoveQuestion& question, const Variant& variant) {
  return message(Kind::question)
      .u8(static_cast<std::uint8_t>(question.kind))
      .text(question.instance.text())
      .u32(question.from)
      .texts(question.excluded)
      .text(to_json(variant).dump())
      .bytes();
}

bool take(std::string_view bytes, MoveAnswer& answer) {
  WireReader reader(bytes);
  switch (static_cast<Kind>(reader.u8())) {
    case Kind::listed: {
      std::vector<MoveInstance> listed;
      for (const std::string& text : reader.texts())
        listed.push_back(MoveInstance::parse(text, kPlace));
      // asked again, a pure move says the same
      if (answer.listed && *answer.listed != listed) return false;
      answer.listed = std::move(listed);
      break;
    }
    case Kind::tried: {
      const std::uint32_t at = reader.u32();
      const bool applies = reader.u8() != 0;
      const Hash128 key = read_hash(reader);
      if (!answer.listed || at < answer.next || at >= answer.listed->size()) return false;
      if (applies) answer.offers.push_back({(*answer.listed)[at], key});
      answer.next = at + 1;
      break;
    }
    case Kind::threw: {
      const std::uint32_t at = reader.u32();
      std::string reason = reader.text();
      if (!answer.listed || at < answer.next || at >= answer.listed->size()) return false;
      answer.thrown.emplace_back((*answer.listed)[at], std::move(reason));
      answer.next = at + 1;
      break;
    }
    case Kind::made: {
      const bool applies = reader.u8() != 0;
      const std::string variant = reader.text();
      if (applies) answer.variant = variant_from_json(json::parse(variant), kPlace);
      answer.why = reader.text();
      break;
    }
    case Kind::domain:
      answer.domain = read_tunables(reader);
      break;
    case Kind::inverse: {
      const bool exists = reader.u8() != 0;
      const std::string text = reader.text();
      if (exists) answer.inverse = MoveInstance::parse(text, kPlace);
      break;
    }
    case Kind::failed:
      answer.failure = reader.text();
      break;
    case Kind::done:
      answer.complete = true;
      break;
    default:
      return false;
  }
  return reader.complete();
}

struct MoveService::Scene {
  KernelSpec spec;
  DeviceFacts device;
  model::ModelScope models{spec};
};

MoveService::MoveService(const MoveRegistry& moves) : moves_(moves) {}
MoveService::~MoveService() = default;

bool MoveService::handle(std::string_view bytes,
                         const std::function<void(std::string_view)>& emit) {
  WireReader reader(bytes);
  const auto kind = static_cast<Kind>(reader.u8());
  if (kind == Kind::scene) {
    KernelSpec spec = spec_from_json(json::parse(reader.text()), std::string(kPlace));
    const json device = json::parse(reader.text());
    scene_.reset();  // its scope ends before another begins
    scene_.reset(new Scene{.spec = std::move(spec),
                           .device = device_from_json(JsonCursor(device, std::string(kPlace)))});
    return reader.complete();
  }
  if (kind != Kind::question || !scene_) return false;
  MoveQuestion question;
  question.kind = static_cast<MoveQuestion::Kind>(reader.u8());
  question.instance = MoveInstance::parse(reader.text(), kPlace);
  question.from = reader.u32();
  question.excluded = reader.texts();
  const Variant variant = variant_from_json(json::parse(reader.text()), kPlace);
  if (!reader.complete()) return false;
  try {
    answer(question, variant, emit);
  } catch (const std::exception& thrown) {
    emit(message(Kind::failed).text(described(thrown)).bytes());
  }
  emit(message(Kind::done).bytes());
  return true;
}

void MoveService::offer(const Move& move,
                        const MoveContext& at,
                        const MoveQuestion& question,
                        const std::function<void(std::string_view)>& emit) {
  const std::vector<MoveInstance> listed = move.enumerate(at);
  std::vector<std::string> texts;
  for (const MoveInstance& instance : listed) texts.push_back(instance.text());
  emit(message(Kind::listed).texts(texts).bytes());
  for (std::uint32_t i = question.from; i < listed.size(); ++i) {
    std::optional<Variant> next;
    bool applies = false;
    if (before_each) before_each();
    try {
      std::string why;
      const bool is_tried =
          std::ranges::find(question.excluded, texts[i]) == question.excluded.end();
      if (is_tried) next = move.apply(at, listed[i], why);
      applies = next && satisfies_constraints(at.spec, *next, why);
    } catch (const std::exception& thrown) {
      emit(message(Kind::threw).u32(i).text(described(thrown)).bytes());
      continue;
    }
    WireWriter writer = message(Kind::tried);
    writer.u32(i).u8(applies ? 1 : 0);
    put(writer, applies ? variant_key(*next) : Hash128{});
    emit(writer.bytes());
  }
}

void MoveService::answer(const MoveQuestion& question,
                         const Variant& variant,
                         const std::function<void(std::string_view)>& emit) {
  if (before_each) before_each();
  const Move* const move = moves_.find(question.instance.move);
  if (move == nullptr) return emit(message(Kind::failed).text("there is no such move").bytes());
  const MoveContext at{scene_->spec, variant, scene_->device};
  switch (question.kind) {
    case MoveQuestion::Kind::offers:
      return offer(*move, at, question, emit);
    case MoveQuestion::Kind::enumerate: {
      std::vector<std::string> texts;
      for (const MoveInstance& instance : move->enumerate(at)) texts.push_back(instance.text());
      return emit(message(Kind::listed).texts(texts).bytes());
    }
    case MoveQuestion::Kind::apply: {
      std::string why;
      const auto made = move->apply(at, question.instance, why);
      return emit(message(Kind::made)
                      .u8(made ? 1 : 0)
                      .text(made ? to_json(*made).dump() : "")
                      .text(why)
                      .bytes());
    }
    case MoveQuestion::Kind::domain: {
      WireWriter writer = message(Kind::domain);
      put(writer, move->domain(at, question.instance.site));
      return emit(writer.bytes());
    }
    case MoveQuestion::Kind::inverse: {
      const auto back = move->inverse(at, question.instance);
      return emit(message(Kind::inverse).u8(back ? 1 : 0).text(back ? back->text() : "").bytes());
    }
  }
}

namespace {

// What a dying worker says: set before the first question, read in signal handlers.
int last_words_from = -1;
int last_words_to = -1;

/// Sends what stderr got as the reason of the failure. Only async-signal-safe calls.
extern "C" void say_last_words(int signal) {
  static std::array<char, 1024> bytes;
  constexpr std::size_t kBefore = 4 + 1 + 4;  // length of the frame, kind, length of the text
  const ssize_t got = ::read(last_words_from, bytes.data() + kBefore, bytes.size() - kBefore);
  if (got > 0) {
    std::size_t length = 0;
    while (length < static_cast<std::size_t>(got) && bytes[kBefore + length] != '\n') ++length;
    const auto place = [&](std::size_t at, std::size_t value) {
      for (std::size_t i = 0; i < 4; ++i)
        bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xffU);
    };
    place(0, 1 + 4 + length);
    bytes[4] = static_cast<char>(Kind::failed);
    place(5, length);
    [[maybe_unused]] const ssize_t put = ::write(last_words_to, bytes.data(), kBefore + length);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void listen_to_last_words(int out_fd) {
  int pipe[2];
  if (::pipe(pipe) != 0) return;
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  ::fcntl(pipe[1], F_SETFL, O_NONBLOCK);
  ::dup2(pipe[1], STDERR_FILENO);
  last_words_from = pipe[0];
  last_words_to = out_fd;
  static std::array<char, 1U << 16U> stack;  // of the handler: the worker's own may be used up
  const stack_t other{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&other, nullptr);
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction action{};
    action.sa_handler = say_last_words;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    ::sigaction(number, &action, nullptr);
  }
}

void limit_time(double seconds) {
  const double whole = std::floor(seconds);
  const itimerval timer{.it_interval = {},
                        .it_value = {.tv_sec = static_cast<time_t>(whole),
                                     .tv_usec = static_cast<suseconds_t>((seconds - whole) * 1e6)}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

int move_worker_main(int in_fd, int out_fd, const MoveRegistry& moves, double cpu_seconds) {
  MoveService service(moves);
  static_cast<void>(lock_down());
  listen_to_last_words(out_fd);
  service.before_each = [&] { limit_time(cpu_seconds); };
  bool alive = write_frame(out_fd, "") == FrameStatus::done;  // it can start
  std::string message;
  while (alive) {
    const FrameStatus status = read_frame(in_fd, message);
    if (status == FrameStatus::closed) return 0;
    if (status != FrameStatus::done) return kExitEnvironment;
    const bool understood = service.handle(message, [&](std::string_view part) {
      alive = alive && write_frame(out_fd, part) == FrameStatus::done;
    });
    limit_time(0);
    if (!understood) return kExitEnvironment;
  }
  return kExitEnvironment;
}

}  // namespace warpath
