#include "runners/cluster/cluster.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "engine/base/stopwatch.h"
#include "runners/cluster/access_key.h"

namespace warpath::cluster {
namespace {

using State = Member::State;

constexpr std::chrono::milliseconds kTick{100};
/// A connection that has not said who it is by then is ended.
constexpr std::chrono::seconds kJoinLimit{10};
constexpr std::uint64_t kMostJoinBytes = 4096;
/// Connections at once that have not said who they are; further ones are closed.
constexpr int kMostStrangers = 256;
constexpr int kMostLosses = 3;
/// Losses in a row, beyond the number of members, after which none is replaced.
constexpr int kSpareFailures = 2;
constexpr int kMostWidth = 4096;

void say(const std::string& line) {
  std::fprintf(stderr, "warpath: %s\n", line.c_str());
}

}  // namespace

Cluster::Cluster(ClusterSetup setup, const PlacementMaker& make)
    : setup_(std::move(setup)),
      meeting_(setup_.options, setup_.program),
      placement_(make ? make(meeting_.command(), meeting_.folder())
                      : make_placement(setup_.options, meeting_.command(), meeting_.folder())),
      wanted_(placement_->size()) {
  accepting_ = std::jthread([this](const std::stop_token& stop) { accept(stop); });
}

Cluster::~Cluster() {
  accepting_.request_stop();
  watching_.request_stop();
  accepting_ = {};
  watching_ = {};
  {
    const Lock lock(mutex_);
    ending_ = true;
    for (const auto& connection : connections_) connection->member.socket.shut_down();
  }
  for (const auto& connection : connections_) connection->thread.join();
}

std::shared_ptr<Cluster> Cluster::shared(const ClusterSetup& setup) {
  static std::mutex mutex;
  static std::shared_ptr<Cluster> present;
  const std::lock_guard lock(mutex);
  if (!present || present->setup_ != setup) {
    present.reset();
    present = std::make_shared<Cluster>(setup);
  }
  return present;
}

RunnerOpened Cluster::open(OpenRunner runner) {
  Lock lock(mutex_);
  runner.turn = ++turn_;
  runner_ = std::move(runner);
  spec_.reset();
  opened_.reset();
  prepared_.reset();
  refusal_.reset();
  if (!watching_.joinable())
    watching_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  lock.unlock();
  set_up_all();
  lock.lock();
  wait_for_first(lock, [&] { return opened_.has_value(); });
  return *opened_;
}

SpecPrepared Cluster::prepare(std::string spec) {
  Lock lock(mutex_);
  spec_ = PrepareSpec{.turn = ++turn_, .spec = std::move(spec)};
  prepared_.reset();
  refusal_.reset();
  lock.unlock();
  set_up_all();
  lock.lock();
  wait_for_first(lock, [&] { return prepared_.has_value(); });
  return *prepared_;
}

template <class Ready>
void Cluster::wait_for_first(Lock& lock, const Ready& ready) {
  constexpr double kFirstWord = 3, kNextWord = 60;
  const Stopwatch waiting;
  double next = kFirstWord;
  while (!ready()) {
    if (refusal_) throw Error(*refusal_);
    if (hopeless()) throw last_problem();
    changed_.wait_for(lock, kTick);
    if (waiting.seconds() < next || count(State::joined) > 0) continue;
    next = waiting.seconds() + kNextWord;
    say("waiting for a member of " + placement_->text() + ": " + std::to_string(alive_) +
        " asked for, none has joined");
  }
}

std::optional<Outcome> Cluster::run(RunVariant request,
                                    const std::stop_token& stop,
                                    const std::stop_token& withdrawn) {
  {
    const Lock lock(mutex_);
    request.turn = spec_ ? spec_->turn : 0;
  }
  Finished answer;
  const Asking end = ask(request, answer, stop, withdrawn);
  if (end == Asking::stopped) return std::nullopt;
  if (end == Asking::lost) {
    answer.outcome.status = Status::crashed;
    answer.outcome.log = "three members of the cluster were lost while they evaluated it";
  }
  return std::move(answer.outcome);
}

void Cluster::take_commands() {
  const Lock lock(mutex_);
  commands_ = true;
  if (!watching_.joinable())
    watching_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

std::optional<Cluster::CommandEnd> Cluster::run_command(RunCommand command,
                                                        const std::stop_token& stop) {
  Finished answer;
  switch (ask(command, answer, stop)) {
    case Asking::stopped:
      return std::nullopt;
    case Asking::lost:
      return CommandEnd{.code = static_cast<int>(ErrorCode::environment),
                        .last_line = "three members of the cluster were lost over it"};
    case Asking::answered:
      break;
  }
  return CommandEnd{.code = answer.code, .last_line = std::move(answer.outcome.log)};
}

template <class Request>
Cluster::Asking Cluster::ask(Request& request,
                             Finished& answer,
                             const std::stop_token& stop,
                             const std::stop_token& withdrawn) {
  const std::stop_callback wakes(withdrawn, [this] {
    const Lock lock(mutex_);
    changed_.notify_all();
  });
  for (int losses = 0; losses < kMostLosses; ++losses) {
    Lock lock(mutex_);
    std::shared_ptr<Connection> chosen;
    changed_.wait(lock, stop, [&] {
      return withdrawn.stop_requested() || (chosen = roomiest()) != nullptr || hopeless();
    });
    if (stop.stop_requested() || withdrawn.stop_requested()) return Asking::stopped;
    if (!chosen) throw last_problem();
    Member& member = chosen->member;
    Asked asked;
    request.id = ++next_id_;
    member.asked.emplace(request.id, &asked);
    again_ += losses > 0 ? 1 : 0;
    lock.unlock();
    member.send(request);
    const std::stop_callback tells(
        withdrawn, [&] { member.send(Cancel{.id = request.id, .if_waiting = true}); });
    lock.lock();
    changed_.wait(lock, stop, [&] { return asked.answer || asked.lost; });
    if (asked.answer) {
      answer = std::move(*asked.answer);
      return Asking::answered;
    }
    if (!asked.lost) {
      member.asked.erase(request.id);
      lock.unlock();
      member.send(Cancel{.id = request.id});
      return Asking::stopped;
    }
  }
  return Asking::lost;
}

// The connections.

void Cluster::accept(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::optional<Socket> socket = meeting_.listener().accept(kTick);
    if (!socket) continue;
    const Lock lock(mutex_);
    const auto strangers = std::ranges::count_if(connections_, [](const auto& connection) {
      return connection->member.state == State::connected;
    });
    if (strangers >= kMostStrangers) continue;  // the socket closes
    const auto connection = std::make_shared<Connection>(std::move(*socket));
    connection->thread = std::thread([this, connection] { serve(*connection); });
    connections_.push_back(connection);
  }
}

void Cluster::serve(Connection& connection) {
  Member& member = connection.member;
  std::string frame;
  MemberMessage message;
  std::uint64_t most = kMostJoinBytes;
  while (member.socket.read(frame, most) == FrameStatus::done && decode(frame, message)) {
    if (!std::visit([&](const auto& one) { return take(member, one); }, message)) break;
    most = kMaxMessageBytes;
  }
  const Lock lock(mutex_);
  let_go(member, "its connection ended");
  connection.over = true;
  changed_.notify_all();
}

bool Cluster::take(Member& member, const Join& join) {
  std::string problem;
  std::unique_lock writing(member.writing);  // nobody else tells it anything before its welcome
  {
    const Lock lock(mutex_);
    if (member.state != State::connected) return false;
    if (!same_key(join.key, meeting_.key())) {
      say("a connection to port " + std::to_string(meeting_.listener().port()) +
          " without the key of this run was refused");
      return false;
    }
    member.who = join;
    member.state = State::joined;
    member.heard = Clock::now();
    if (join.version != setup_.version) {
      problem = "it runs revision " + join.version + ", the engine " + setup_.version +
                ": both must be the same";
    } else {
      say(placement_->text() + ": " + member.text() + " joined, " +
          std::to_string(count(State::joined)) + " of " + std::to_string(wanted_));
    }
  }
  member.put(encode(EngineMessage(Welcome{.problem = problem})));
  writing.unlock();
  if (problem.empty()) {
    set_up(member);
    return true;
  }
  const Lock lock(mutex_);
  let_go(member, problem);
  return false;
}

bool Cluster::take(Member& member, const RunnerOpened& opened) {
  const Lock lock(mutex_);
  member.heard = Clock::now();
  if (member.state == State::connected) return false;
  if (opened.turn != runner_.turn || member.state != State::joined) return true;
  if (!opened.problem.empty()) {
    refuse(member, opened.problem, opened.is_input);
  } else if (opened_ && !(opened_->facts == opened.facts)) {
    refuse(member, opened.facts.name + " is not " + opened_->facts.name + ", which the others have",
           false);
  } else {
    member.opened = opened;
    member.useful = std::max(1, opened.lanes);
    if (!opened_) opened_ = opened;
  }
  changed_.notify_all();
  return true;
}

bool Cluster::take(Member& member, const SpecPrepared& prepared) {
  const Lock lock(mutex_);
  member.heard = Clock::now();
  if (member.state == State::connected) return false;
  if (!spec_ || prepared.turn != spec_->turn || member.state != State::joined) return true;
  if (!prepared.problem.empty()) {
    refuse(member, prepared.problem, prepared.is_input);
  } else if (prepared_ && prepared_->kind != prepared.kind) {
    refuse(member, prepared.kind + " is not " + prepared_->kind + ", which the others have", false);
  } else {
    member.state = State::ready;
    if (!prepared_) prepared_ = prepared;
  }
  changed_.notify_all();
  return true;
}

bool Cluster::take(Member& member, const Finished& finished) {
  const Lock lock(mutex_);
  member.heard = Clock::now();
  if (member.state == State::connected) return false;
  if (!finished.problem.empty()) {
    let_go(member, finished.problem);
    return false;
  }
  const auto found = member.asked.find(finished.id);
  if (found == member.asked.end()) return true;  // abandoned
  found->second->answer = finished;
  member.asked.erase(found);
  member.useful = std::clamp(finished.useful, 1, std::max(1, member.opened.lanes));
  failures_ = 0;
  forgiven_ = std::max(forgiven_, asked_for_ - alive_ - lost_);
  changed_.notify_all();
  return true;
}

bool Cluster::take(Member& member, const Pong&) {
  const Lock lock(mutex_);
  member.heard = Clock::now();
  return member.state != State::connected;
}

void Cluster::set_up(Member& member) {
  const std::lock_guard writing(member.writing);
  std::string frames;
  {
    const Lock lock(mutex_);
    if (member.state != State::joined && member.state != State::ready) return;
    if (commands_) {
      member.state = State::ready;
      member.opened.lanes = 1;
      return changed_.notify_all();
    }
    // A spec comes after its runner. Each is sent once: a member that is to set up anew leaves
    // evaluations alone until it has.
    if (member.turn < runner_.turn) frames = encode(EngineMessage(runner_));
    if (spec_ && member.turn < spec_->turn) frames += encode(EngineMessage(*spec_));
    if (frames.empty()) return;
    member.state = State::joined;
    member.turn = spec_ ? spec_->turn : runner_.turn;
  }
  member.put(frames);
}

void Cluster::set_up_all() {
  std::vector<std::shared_ptr<Connection>> all;
  {
    const Lock lock(mutex_);
    all = connections_;
  }
  for (const auto& connection : all) set_up(connection->member);
}

// The watch.

void Cluster::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    top_up();
    look_after_members();
    std::this_thread::sleep_for(kTick);
  }
}

void Cluster::top_up() {
  const int alive = placement_->alive();
  int missing = 0;
  {
    const Lock lock(mutex_);
    alive_ = alive;
    if (!given_up()) missing = wanted_ - alive;
  }
  if (missing <= 0) return changed_.notify_all();
  std::string problem, words = placement_->last_words();
  try {
    placement_->start(missing);
  } catch (const Error& error) {
    problem = error.what();
  }
  const Lock lock(mutex_);
  words_ = std::move(words);
  if (problem.empty()) {
    asked_for_ += missing;
    alive_ += missing;
  } else {
    ++failures_;
    if (problem != problem_) say(placement_->text() + ": " + problem);
    problem_ = problem;
  }
  changed_.notify_all();
}

void Cluster::look_after_members() {
  const std::chrono::duration<double> silence(setup_.options.silence_seconds);
  std::vector<std::shared_ptr<Connection>> over, asleep;
  {
    const Lock lock(mutex_);
    const auto now = Clock::now();
    for (const auto& connection : connections_) {
      Member& member = connection->member;
      const auto quiet = now - member.heard;
      if (connection->over) over.push_back(connection);
      if (member.state == State::connected && quiet > kJoinLimit) member.socket.shut_down();
      if (member.state != State::joined && member.state != State::ready) continue;
      if (quiet > silence) {
        let_go(member,
               "it did not answer for " + std::to_string(std::lround(silence.count())) + " s");
      } else if (quiet > silence / 4) {
        asleep.push_back(connection);
      }
    }
    std::erase_if(connections_, [](const auto& connection) { return connection->over; });
  }
  for (const auto& connection : over) connection->thread.join();
  for (const auto& connection : asleep) connection->member.ping();
}

std::shared_ptr<Cluster::Connection> Cluster::roomiest() const {
  std::shared_ptr<Connection> best;
  double least = 0;
  for (const auto& connection : connections_) {
    const Member& member = connection->member;
    const auto busy = member.asked.size();
    if (member.state != State::ready || busy >= static_cast<std::size_t>(member.opened.lanes))
      continue;
    const double load = static_cast<double>(busy) / member.useful;
    if (!best || load < least) best = connection, least = load;
  }
  return best;
}

int Cluster::count(State least) const {
  return static_cast<int>(std::ranges::count_if(connections_, [&](const auto& connection) {
    const State state = connection->member.state;
    return state >= least && state != State::gone;
  }));
}

void Cluster::let_go(Member& member, const std::string& why) {
  const bool worked = member.state == State::joined || member.state == State::ready;
  member.state = State::gone;
  member.socket.shut_down();
  for (const auto& [id, asked] : member.asked) asked->lost = true;
  member.asked.clear();
  changed_.notify_all();
  if (!worked || ending_) return;
  ++lost_;
  ++failures_;
  problem_ = member.text() + ": " + why;
  say(placement_->text() + ": lost " + problem_);
}

void Cluster::refuse(Member& member, const std::string& why, bool is_input) {
  if (is_input) refusal_.emplace(ErrorCode::bad_input, why);
  let_go(member, why);
}

/// Members are lost again and again, or end before they join.
bool Cluster::given_up() const {
  const int unjoined = std::max(0, asked_for_ - alive_ - lost_ - forgiven_);
  return failures_ + unjoined >= wanted_ + kSpareFailures;
}

bool Cluster::hopeless() const {
  return given_up() && alive_ == 0 && count(State::connected) == 0;
}

Error Cluster::last_problem() const {
  const std::string& why = problem_.empty() ? words_ : problem_;
  return environment_error(placement_->text() + ": no member is left" +
                           (why.empty() ? "" : "; the last one: " + why));
}

int Cluster::width() const {
  const Lock lock(mutex_);
  return std::clamp(wanted_ * (opened_ ? opened_->lanes : 1), 1, kMostWidth);
}

int Cluster::useful() const {
  const Lock lock(mutex_);
  int out = 0;
  for (const auto& connection : connections_) {
    if (connection->member.state == State::ready) out += connection->member.useful;
  }
  return std::max(1, out);
}

std::map<std::string, double> Cluster::figures() const {
  const Lock lock(mutex_);
  return {{"members", count(State::ready)}, {"members_lost", lost_}, {"evaluated_again", again_}};
}

}  // namespace warpath::cluster
