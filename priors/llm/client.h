#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/rng.h"
#include "priors/llm/budget.h"
#include "priors/llm/cassette.h"
#include "priors/llm/model_call.h"
#include "priors/llm/profile.h"
#include "priors/llm/redact.h"
#include "priors/llm/retry.h"
#include "priors/llm/transport.h"

namespace warpath::llm {

/// The result of a call.
struct Reply {
  enum class End : std::uint8_t {
    answered,     ///< see `answer`, whose own end may be length, refusal or filtered
    failed,       ///< every attempt failed, or the server refused the call
    too_long,     ///< the prompt does not fit the model
    over_budget,  ///< not sent
    disabled,     ///< not sent: an earlier answer showed that none will succeed
    lost,         ///< sent by a killed process; not paid for twice
    unknown,      ///< replay: not on the cassette
    cancelled,
  };
  std::uint64_t id = 0;
  End end = End::failed;
  std::string reason;  ///< empty for an answer; one line, redacted
  ModelAnswer answer;
  Usage usage;  ///< of all attempts, estimated where the server gave none
  double cost = 0;
  int attempts = 0;
  bool replayed = false;
};
inline constexpr std::string_view kReplyEndNames[] = {
    "answered", "failed", "too_long", "over_budget", "disabled", "lost", "unknown", "cancelled"};

class Codec;  // priors/llm/codec.h

struct ClientFigures {
  std::int64_t calls = 0;     ///< submitted
  std::int64_t attempts = 0;  ///< sent
  std::int64_t replayed = 0;  ///< attempts from the cassette
  std::int64_t retries = 0;
  std::int64_t estimated = 0;  ///< attempts for which the server reported no usage
  /// failed attempts by the first word of their reason
  std::map<std::string, std::int64_t> reasons;
};

/// Asks a model: retries with jitter, observes rates and budget, stops asking a server that is
/// down, records. Except for `settle`, member functions are thread-safe and never block; a thread
/// of the client does the work.
class Client {
 public:
  struct Setup {
    Profile profile;
    std::string key;       ///< empty: none is sent
    Transport& transport;  ///< must outlive the client
    Cassette& cassette;    ///< from now on used only by the client's thread
    Budget& budget;
    Redactor redactor;
    std::uint64_t seed = 1;  ///< of the jitter
    int in_flight = 4;
    RetryPolicy retry = {};
    int breaker_failures = 5;
    double breaker_open_s = 60;
  };
  explicit Client(Setup setup);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Returns the id of the reply.
  std::uint64_t submit(ModelRequest request);
  /// Replies since the last call, ordered by id.
  [[nodiscard]] std::vector<Reply> take();
  [[nodiscard]] std::size_t under_way() const;
  /// False while the server is down, and permanently once it is disabled.
  [[nodiscard]] bool accepting() const;
  /// Why no more calls are made; empty otherwise.
  [[nodiscard]] std::string disabled() const;
  [[nodiscard]] ClientFigures figures() const;
  /// Ends all running calls as cancelled.
  void cancel();
  /// Cancels and waits, at most some seconds, until no call is running; what the transport has not
  /// released by then stays reserved.
  void settle();

 private:
  struct Call;
  using Clock = std::chrono::steady_clock;

  void work(const std::stop_token& stop);
  void admit(std::vector<std::unique_ptr<Call>> arrived);
  [[nodiscard]] Clock::time_point advance(Clock::time_point now);
  void replay(Call& call);
  void send(Call& call, Clock::time_point now);
  void receive(HttpResult result);
  void absorb(Call& call, const HttpResult& result, bool live);
  void finish(Call& call, Reply::End end, std::string reason);
  [[nodiscard]] Usage worst_case(const Call& call) const;
  [[nodiscard]] Usage estimate(const Call& call,
                               const HttpResult& result,
                               const ModelAnswer& answer) const;
  void count(const std::string& reason);
  [[nodiscard]] std::string body_text(const Call& call) const;

  Setup setup_;
  const Codec& codec_;
  Rng rng_;
  RateLimit rate_;              // used by the thread
  Breaker breaker_;             // used by the thread
  double tokens_per_byte_ = 1;  // used by the thread; maximum seen, with a margin
  int heard_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Call>> calls_;  // used by the thread
  std::map<Hash128, std::uint64_t> occurrences_;          // used by the thread

  mutable std::mutex mutex_;
  std::condition_variable_any wake_, idle_;
  std::vector<std::unique_ptr<Call>> arrived_;  // guarded by mutex_, as all below
  std::vector<HttpResult> results_;
  std::vector<Reply> replies_;
  std::size_t under_way_ = 0;
  std::uint64_t next_id_ = 1;
  bool cancel_ = false;
  bool down_ = false;
  std::string disabled_;
  ClientFigures figures_;
  std::jthread thread_;
};

/// The request as recorded on cassettes: without credentials, identifiers and times.
[[nodiscard]] nlohmann::json canonical_request(const Profile& profile, const ModelRequest& request);

}  // namespace warpath::llm
