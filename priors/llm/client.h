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

/// What a call came to.
struct Reply {
  enum class End : std::uint8_t {
    answered,     ///< `answer` holds it; its own end may be length, refusal or filtered
    failed,       ///< every attempt did, or the server refused it
    too_long,     ///< the prompt does not fit the model
    over_budget,  ///< not sent
    disabled,     ///< not sent: an earlier answer said that none will succeed
    lost,         ///< a killed process sent it; it is not paid for twice
    unknown,      ///< replay: not on the cassette
    cancelled,
  };
  std::uint64_t id = 0;
  End end = End::failed;
  std::string reason;  ///< of everything but an answer; one line, redacted
  ModelAnswer answer;
  Usage usage;  ///< of all attempts, estimates where a server said nothing
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
  std::int64_t estimated = 0;  ///< attempts whose usage the server did not say
  /// failed attempts by the first word of their reason
  std::map<std::string, std::int64_t> reasons;
};

/// Asks a model: retries with jitter, keeps to rates and budget, stops asking a server that is
/// down, records. `submit`, `take`, `cancel` and the rest but `settle` never block and may be
/// called from any thread; the work is done on a thread of its own.
class Client {
 public:
  struct Setup {
    Profile profile;
    std::string key;       ///< empty: none is sent
    Transport& transport;  ///< outlives the client
    Cassette& cassette;    ///< used by the client's thread alone from now on
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

  /// The id that its reply will have.
  std::uint64_t submit(ModelRequest request);
  /// Replies since the last call, in the order of their ids where several are there.
  [[nodiscard]] std::vector<Reply> take();
  [[nodiscard]] std::size_t under_way() const;
  /// False while the server is down, or for good once it is disabled: there is no use in asking.
  [[nodiscard]] bool accepting() const;
  /// Why nothing is asked any more; empty as long as something is.
  [[nodiscard]] std::string disabled() const;
  [[nodiscard]] ClientFigures figures() const;
  /// Everything under way ends as cancelled.
  void cancel();
  /// Cancels, and waits until nothing is under way, at most some seconds; what the transport has
  /// not let go of by then stays reserved.
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
  RateLimit rate_;              // of the thread
  Breaker breaker_;             // of the thread
  double tokens_per_byte_ = 1;  // of the thread; most that was seen, with a margin
  int heard_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Call>> calls_;  // of the thread
  std::map<Hash128, std::uint64_t> occurrences_;          // of the thread

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

/// The request as it is known on cassettes: no credentials, no identifiers, no time.
[[nodiscard]] nlohmann::json canonical_request(const Profile& profile, const ModelRequest& request);

}  // namespace warpath::llm
