#include "experiments/propose/move_service.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "engine/json/json_record.h"
#include "engine/plugin/device_io.h"
#include "engine/plugin/variant_io.h"
#include "engine/spec/spec_load.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "runners/worker/frames.h"
#include "runners/worker/sandbox.h"
#include "runners/worker/wire.h"

namespace warpath {
namespace {

// Requests.
struct SceneMessage {
  std::string spec, device;  // JSON
};
struct QuestionMessage {
  MoveQuestion::Kind kind = MoveQuestion::Kind::enumerate;
  std::string instance;
  std::uint32_t from = 0;
  std::vector<std::string> excluded;
  std::string variant;  // JSON
};
using Request = std::variant<SceneMessage, QuestionMessage>;

// Parts of an answer; instances are numbered as they were listed.
struct Ready {};  // state of a worker before the first request
struct Listed {
  std::vector<std::string> instances;
};
struct WrittenEdit {  // few instances change more than the source
  std::uint64_t begin = 0, removed = 0;
  std::string inserted;
  std::optional<std::string> rest;  // JSON
};
struct WrittenMade {
  Hash128 key{};
  WrittenEdit edit;
  std::optional<std::vector<WrittenEdit>> versions;
};
struct Tried {
  std::uint32_t at = 0;
  std::optional<WrittenMade> made;
};
struct Threw {
  std::uint32_t at = 0;
  std::string reason;
};
struct Result {
  std::optional<std::string> variant;  // JSON
  std::string why;
};
struct Domain {
  std::vector<Tunable> tunables;
};
struct Inverse {
  std::optional<std::string> instance;
};
struct Failed {
  std::string reason;
};
struct Done {};
using Part = std::variant<Ready, Listed, Tried, Threw, Result, Domain, Inverse, Failed, Done>;

}  // namespace

template <>
struct LastOf<MoveQuestion::Kind> {
  static constexpr auto value = MoveQuestion::Kind::inverse;
};
template <>
struct Description<Hash128> : Unnamed<&Hash128::high, &Hash128::low> {};
template <>
struct Description<Tunable>
    : Unnamed<&Tunable::name, &Tunable::values, &Tunable::default_value, &Tunable::help> {};
template <>
struct Description<SceneMessage> : Unnamed<&SceneMessage::spec, &SceneMessage::device> {};
template <>
struct Description<QuestionMessage> : Unnamed<&QuestionMessage::kind,
                                              &QuestionMessage::instance,
                                              &QuestionMessage::from,
                                              &QuestionMessage::excluded,
                                              &QuestionMessage::variant> {};
template <>
struct Description<Ready> : Unnamed<> {};
template <>
struct Description<Listed> : Unnamed<&Listed::instances> {};
template <>
struct Description<WrittenEdit> : Unnamed<&WrittenEdit::begin,
                                          &WrittenEdit::removed,
                                          &WrittenEdit::inserted,
                                          &WrittenEdit::rest> {};
template <>
struct Description<WrittenMade>
    : Unnamed<&WrittenMade::key, &WrittenMade::edit, &WrittenMade::versions> {};
template <>
struct Description<Tried> : Unnamed<&Tried::at, &Tried::made> {};
template <>
struct Description<Threw> : Unnamed<&Threw::at, &Threw::reason> {};
template <>
struct Description<Result> : Unnamed<&Result::variant, &Result::why> {};
template <>
struct Description<Domain> : Unnamed<&Domain::tunables> {};
template <>
struct Description<Inverse> : Unnamed<&Inverse::instance> {};
template <>
struct Description<Failed> : Unnamed<&Failed::reason> {};
template <>
struct Description<Done> : Unnamed<> {};

namespace {

using nlohmann::json;

constexpr std::string_view kPlace = "move worker";
constexpr int kExitEnvironment = 3;

template <class P>
std::string encode_part(const P& part) {
  return encode_frame_as<Part>(part);
}

WrittenEdit written(const VariantEdit& edit) {
  return {.begin = edit.begin,
          .removed = edit.removed,
          .inserted = edit.inserted,
          .rest = edit.rest == VariantPatch{} ? std::nullopt
                                              : std::optional(to_json(edit.rest).dump())};
}

WrittenMade written(const Made& made) {
  WrittenMade out{.key = made.key, .edit = written(made.edit), .versions = std::nullopt};
  if (!made.edit.versions) return out;
  out.versions.emplace();
  for (const VariantEdit& version : *made.edit.versions) out.versions->push_back(written(version));
  return out;
}

VariantEdit read(const WrittenEdit& written) {
  VariantEdit out{
      .begin = written.begin, .removed = written.removed, .inserted = written.inserted, .rest = {}};
  if (written.rest) out.rest = patch_from_json(json::parse(*written.rest), kPlace);
  return out;
}

Made read(const WrittenMade& written) {
  Made out{.key = written.key, .edit = read(written.edit)};
  if (!written.versions) return out;
  out.edit.versions.emplace();
  for (const WrittenEdit& version : *written.versions) out.edit.versions->push_back(read(version));
  return out;
}

std::vector<std::string> texts_of(const std::vector<MoveInstance>& instances) {
  std::vector<std::string> out;
  for (const MoveInstance& instance : instances) out.push_back(instance.text());
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
  return encode_frame_as<Request>(
      SceneMessage{.spec = to_json(spec).dump(), .device = to_json(device).dump()});
}

std::string encode(const MoveQuestion& question, const Variant& variant) {
  return encode_frame_as<Request>(QuestionMessage{.kind = question.kind,
                                                  .instance = question.instance.text(),
                                                  .from = question.from,
                                                  .excluded = question.excluded,
                                                  .variant = to_json(variant).dump()});
}

namespace {

/// Adds one part to an answer. False if it does not fit what came before.
struct Taking {
  const Variant& variant;
  MoveAnswer& answer;

  bool operator()(const Ready&) const { return false; }
  bool operator()(const Listed& part) const {
    std::vector<MoveInstance> listed;
    for (const std::string& text : part.instances)
      listed.push_back(MoveInstance::parse(text, kPlace));
    // a pure move would give the same answer again
    if (answer.listed && *answer.listed != listed) return false;
    answer.listed = std::move(listed);
    return true;
  }
  bool operator()(const Tried& part) const {
    if (!is_next(part.at)) return false;
    if (part.made) {
      Made made = read(*part.made);
      if (!fits(variant, made.edit)) return false;
      answer.offers.push_back({(*answer.listed)[part.at], std::move(made)});
    }
    answer.next = part.at + 1;
    return true;
  }
  bool operator()(const Threw& part) const {
    if (!is_next(part.at)) return false;
    answer.thrown.emplace_back((*answer.listed)[part.at], part.reason);
    answer.next = part.at + 1;
    return true;
  }
  bool operator()(const Result& part) const {
    if (part.variant) answer.variant = variant_from_json(json::parse(*part.variant), kPlace);
    answer.why = part.why;
    return true;
  }
  bool operator()(Domain& part) const {
    answer.domain = std::move(part.tunables);
    return true;
  }
  bool operator()(const Inverse& part) const {
    if (part.instance) answer.inverse = MoveInstance::parse(*part.instance, kPlace);
    return true;
  }
  bool operator()(const Failed& part) const {
    answer.failure = part.reason.substr(0, part.reason.find('\n'));
    return true;
  }
  bool operator()(const Done&) const { return answer.complete = true; }

 private:
  [[nodiscard]] bool is_next(std::uint32_t at) const {
    return answer.listed && at >= answer.next && at < answer.listed->size();
  }
};

}  // namespace

bool take(std::string_view frame, const Variant& variant, MoveAnswer& answer) {
  Part part;
  return decode_frame(frame, part) && std::visit(Taking{variant, answer}, part);
}

bool is_ready(std::string_view frame) {
  Part part;
  return decode_frame(frame, part) && std::holds_alternative<Ready>(part);
}

struct MoveService::Scene {
  KernelSpec spec;
  DeviceFacts device;
  model::ModelScope models{spec};
};

MoveService::MoveService(const MoveRegistry& moves) : moves_(moves) {}
MoveService::~MoveService() = default;

bool MoveService::handle(std::string_view frame, const std::function<void(std::string)>& emit) {
  Request request;
  if (!decode_frame(frame, request)) return false;
  if (const auto* const scene = std::get_if<SceneMessage>(&request)) {
    KernelSpec spec = spec_from_json(json::parse(scene->spec), std::string(kPlace));
    const json device = json::parse(scene->device);
    scene_.reset();  // its scope ends before another begins
    scene_.reset(new Scene{.spec = std::move(spec),
                           .device = device_from_json(JsonCursor(device, std::string(kPlace)))});
    return true;
  }
  if (!scene_) return false;
  auto& message = std::get<QuestionMessage>(request);
  const MoveQuestion question{.kind = message.kind,
                              .instance = MoveInstance::parse(message.instance, kPlace),
                              .from = message.from,
                              .excluded = std::move(message.excluded)};
  const Variant variant = variant_from_json(json::parse(message.variant), kPlace);
  try {
    answer(question, variant, emit);
  } catch (const std::exception& thrown) {
    emit(encode_part(Failed{described(thrown)}));
  }
  emit(encode_part(Done{}));
  return true;
}

void MoveService::offer(const Move& move,
                        const MoveContext& at,
                        const MoveQuestion& question,
                        const std::function<void(std::string)>& emit) {
  const std::vector<MoveInstance> listed = move.enumerate(at);
  const std::vector<std::string> texts = texts_of(listed);
  emit(encode_part(Listed{texts}));
  for (std::uint32_t i = question.from; i < listed.size(); ++i) {
    std::optional<Made> made;
    if (before_each) before_each();
    try {
      if (std::ranges::find(question.excluded, texts[i]) == question.excluded.end())
        made = try_move(move, at, listed[i]);
    } catch (const std::exception& thrown) {
      emit(encode_part(Threw{.at = i, .reason = described(thrown)}));
      continue;
    }
    emit(encode_part(Tried{.at = i, .made = made ? std::optional(written(*made)) : std::nullopt}));
  }
}

void MoveService::answer(const MoveQuestion& question,
                         const Variant& variant,
                         const std::function<void(std::string)>& emit) {
  if (before_each) before_each();
  const Move* const move = moves_.find(question.instance.move);
  if (move == nullptr) return emit(encode_part(Failed{"there is no such move"}));
  const MoveContext at{scene_->spec, variant, scene_->device};
  switch (question.kind) {
    case MoveQuestion::Kind::offers:
      return offer(*move, at, question, emit);
    case MoveQuestion::Kind::enumerate:
      return emit(encode_part(Listed{texts_of(move->enumerate(at))}));
    case MoveQuestion::Kind::apply: {
      Result result;
      if (const auto next = move->apply(at, question.instance, result.why))
        result.variant = to_json(*next).dump();
      return emit(encode_part(result));
    }
    case MoveQuestion::Kind::domain:
      return emit(encode_part(Domain{move->domain(at, question.instance.site)}));
    case MoveQuestion::Kind::inverse: {
      Inverse inverse;
      if (const auto back = move->inverse(at, question.instance)) inverse.instance = back->text();
      return emit(encode_part(inverse));
    }
  }
}

namespace {

// The message of a dying worker: set before the first request, used in signal handlers.
int last_words_from = -1;
int last_words_to = -1;
constexpr std::size_t kLastWords = 1024;
char* last_frame = nullptr;  // a failure whose reason is kLastWords ends of a line
std::size_t last_frame_size = 0;

/// Sends the text on stderr as the reason of the failure. Async-signal-safe.
extern "C" void say_last_words(int signal) {
  if (::read(last_words_from, last_frame + last_frame_size - kLastWords, kLastWords) > 0) {
    [[maybe_unused]] const ssize_t put = ::write(last_words_to, last_frame, last_frame_size);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void listen_to_last_words(int out_fd) {
  static std::string frame = encode_part(Failed{std::string(kLastWords, '\n')});
  last_frame = frame.data();
  last_frame_size = frame.size();
  int pipe[2];
  if (::pipe(pipe) != 0) return;
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  ::fcntl(pipe[1], F_SETFL, O_NONBLOCK);
  ::dup2(pipe[1], STDERR_FILENO);
  last_words_from = pipe[0];
  last_words_to = out_fd;
  static std::array<char, 1U << 16U> stack;  // the worker's own may be exhausted
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
  bool alive = write_frame(out_fd, encode_part(Ready{})) == FrameStatus::done;
  std::string frame;
  while (alive) {
    const FrameStatus status = read_frame(in_fd, frame);
    if (status == FrameStatus::closed) return 0;
    if (status != FrameStatus::done) return kExitEnvironment;
    const bool understood = service.handle(frame, [&](const std::string& part) {
      alive = alive && write_frame(out_fd, part) == FrameStatus::done;
    });
    limit_time(0);
    if (!understood) return kExitEnvironment;
  }
  return kExitEnvironment;
}

}  // namespace warpath
