#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "runners/cluster/meeting_point.h"
#include "runners/cluster/member.h"
#include "runners/cluster/options.h"
#include "runners/cluster/placement.h"

namespace warpath::cluster {

struct ClusterSetup {
  ClusterOptions options;
  std::string program;  ///< path of this executable
  std::string version;  ///< of the program; a member of another one is refused
  bool operator==(const ClusterSetup&) const = default;
};

/// Processes on machines, each of which evaluates with a runner of its own. They are asked for when
/// the first runner is opened; work begins with the first that joins, late ones are added, and what
/// a lost one was doing goes elsewhere. Lost ones are replaced as long as evaluations succeed in
/// between. All but open() and prepare() is thread-safe.
class Cluster {
 public:
  /// `make`: absent, that of the options. Throws Error(bad_input) if the options are wrong,
  /// Error(environment) if no port can be had or Slurm does not answer.
  explicit Cluster(ClusterSetup setup, const PlacementMaker& make = {});
  ~Cluster();  ///< the members end
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// The one of this process: with the same setup it is the same one, with the members it has.
  [[nodiscard]] static std::shared_ptr<Cluster> shared(const ClusterSetup& setup);

  /// Replaces the runner on every member, present and to come, waits for the first to have it, and
  /// returns what that one says. Reports on stderr what it waits for. Throws the Error that made it
  /// impossible there, Error(environment) if no member is left. `runner.turn` is set here. Nothing
  /// may be under way.
  RunnerOpened open(OpenRunner runner);
  /// Prepares the runner on every member, present and to come, for a spec given as JSON, and waits
  /// for the first. Throws as open(). Nothing may be under way.
  SpecPrepared prepare(std::string spec);

  /// Evaluates on the member with most room; waits for one, without limit, as long as any may come.
  /// `request.id` and `turn` are set here. Nullopt once `stop` is requested, or `withdrawn` while
  /// no member has it; one that has it is told of the latter (RunRequest::withdrawn). A variant
  /// whose members were lost three times counts as crashed. Throws Error(environment) if no member
  /// is left.
  [[nodiscard]] std::optional<Outcome> run(RunVariant request,
                                           const std::stop_token& stop,
                                           const std::stop_token& withdrawn = {});

  /// Makes members do commands instead of evaluations, one at a time each.
  void take_commands();
  /// A command of the program on a member that has none; waits for one as run() does. `id` is set
  /// here. Nullopt once `stop` is requested; else the exit status and the last line. What is lost
  /// with its member begins again on another, three times at most: the status is then that of an
  /// Error(environment). Throws as run().
  struct CommandEnd {
    int code = 0;
    std::string last_line;
  };
  [[nodiscard]] std::optional<CommandEnd> run_command(RunCommand command,
                                                      const std::stop_token& stop);

  /// Most evaluations at once when all members are here.
  [[nodiscard]] int width() const;
  /// The number that is useful with those that are.
  [[nodiscard]] int useful() const;
  /// "members", "members_lost", "evaluated_again".
  [[nodiscard]] std::map<std::string, double> figures() const;

 private:
  using Clock = Member::Clock;
  using Lock = std::unique_lock<std::mutex>;

  struct Connection {
    explicit Connection(Socket socket) : member(std::move(socket)) {}
    Member member;
    std::thread thread;
    bool over = false;  ///< the thread has nothing more to do
  };

  // Threads: one accepts connections, one watches over them and the placement, and one for each
  // connection reads.
  void accept(const std::stop_token& stop);
  void watch(const std::stop_token& stop);
  void serve(Connection& connection);

  /// False: the connection is to end.
  [[nodiscard]] bool take(Member& member, const Join& join);
  [[nodiscard]] bool take(Member& member, const RunnerOpened& opened);
  [[nodiscard]] bool take(Member& member, const SpecPrepared& prepared);
  [[nodiscard]] bool take(Member& member, const Finished& finished);
  [[nodiscard]] bool take(Member& member, const Pong& pong);

  /// Sends a member what it is to work with; to each in the order in which that changes.
  void set_up(Member& member);
  void set_up_all();
  /// Sends the request to a member and waits for the answer: `answer`, or that `stop` came first,
  /// or that as many members as are tried were lost.
  enum class Asking : std::uint8_t { answered, stopped, lost };
  template <class Request>
  [[nodiscard]] Asking ask(Request& request,
                           Finished& answer,
                           const std::stop_token& stop,
                           const std::stop_token& withdrawn = {});
  void top_up();
  void look_after_members();

  // Under the mutex.
  [[nodiscard]] std::shared_ptr<Connection> roomiest() const;
  [[nodiscard]] int count(Member::State least) const;
  /// Ends a connection; what it was doing goes elsewhere. Says why if the member had joined.
  void let_go(Member& member, const std::string& why);
  /// A member that cannot work at all; it is the reason why none can if it is the first.
  void refuse(Member& member, const std::string& why, bool is_input);
  [[nodiscard]] bool given_up() const;
  [[nodiscard]] bool hopeless() const;
  [[nodiscard]] Error last_problem() const;
  template <class Ready>
  void wait_for_first(Lock& lock, const Ready& ready);

  const ClusterSetup setup_;
  MeetingPoint meeting_;
  const std::unique_ptr<Placement> placement_;  // of the watching thread once it runs
  const int wanted_;

  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable_any changed_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::uint64_t turn_ = 0, next_id_ = 0;
  OpenRunner runner_;
  bool commands_ = false;  // instead of a runner
  std::optional<PrepareSpec> spec_;
  std::optional<RunnerOpened> opened_;    // what the first member said of the runner
  std::optional<SpecPrepared> prepared_;  // and of the spec
  std::optional<Error> refusal_;
  std::string problem_;  // the last one
  std::string words_;    // the last ones of a member that ended
  int alive_ = 0;        // according to the placement
  int failures_ = 0;     // in a row, without an evaluation in between
  int asked_for_ = 0, lost_ = 0, again_ = 0;
  int forgiven_ = 0;  // ended before they joined, and an evaluation succeeded since
  bool ending_ = false;

  std::jthread accepting_, watching_;
};

}  // namespace warpath::cluster
