#include "engine/run/replay.h"

#include "engine/base/error.h"

namespace warpath {
namespace {

constexpr std::string_view kChanged = "; the program, its moves or its proposers changed since";

/// One pass over the events; a call for each kind.
class Replay {
 public:
  Replay(KernelSpace& space, Campaign& campaign, RunRecord& record)
      : space_(space), campaign_(campaign), record_(record) {}

  void at(std::string place) { place_ = std::move(place); }

  void operator()(const RunEvent&) { throw bad_input(place_, "a second run", "one run a log"); }
  void operator()(const SessionEvent& e) {
    campaign_.begin_session();
    record_.add(e);
  }
  void operator()(const ProposalsEvent& e) { space_.recall(e); }
  void operator()(const PriorsEvent& e) { space_.recall(e); }

  void operator()(const ArrivalEvent& e) {
    require_begun();
    campaign_.apply(e, place_);
  }

  void operator()(const BaselineEvent& e) {
    if (campaign_.begun())
      throw bad_input(place_, "a second baseline", "one, unless the first failed");
    if (e.key != campaign_.space().key(NodeId{0})) {
      throw bad_input(place_, "baseline " + e.key.hex(),
                      campaign_.space().key(NodeId{0}).hex() + std::string(kChanged));
    }
    campaign_.apply(e);
    record_.add(e);
  }

  void operator()(const DispatchEvent& e) {
    require_begun();
    const Campaign::Pending* const selected = campaign_.select();
    if (selected == nullptr)
      throw bad_input(place_, "dispatch of " + e.key.hex(),
                      "nothing to dispatch" + std::string(kChanged));
    const Hash128 key = space_.key(selected->node);
    const MoveInstance instance = space_.instance(selected->node);
    if (key != e.key || selected->sequence != e.sequence || selected->node != e.node ||
        selected->parent != e.parent || instance != e.instance) {
      throw bad_input(place_, "dispatch of " + e.key.short_hex() + " by " + e.instance.text(),
                      key.short_hex() + " by " + instance.text() + std::string(kChanged));
    }
    record_.add(e);
  }

  void operator()(const OutcomeEvent& e) {
    require_begun();
    record_.add(e, campaign_.apply(e, place_));
  }

  void operator()(const HeatEvent& e) {
    require_begun();
    record_.add(e, campaign_.apply(e, place_));
  }

  void operator()(const FinalEvent& e) {
    require_begun();
    record_.add(e, campaign_.apply(e, place_));
  }

  void operator()(const IdleEvent&) {
    require_begun();
    if (const Campaign::Pending* const selected = campaign_.select()) {
      throw bad_input(place_, "nothing to dispatch",
                      "dispatch of " + space_.key(selected->node).hex() + std::string(kChanged));
    }
  }

 private:
  void require_begun() const {
    if (!campaign_.begun()) throw bad_input(place_, "", "a baseline that is ok before this");
  }

  KernelSpace& space_;
  Campaign& campaign_;
  RunRecord& record_;
  std::string place_;
};

}  // namespace

LogSummary scan_log(const std::filesystem::path& path, const LogPosition* snapshot) {
  EventReader reader(path);
  LogSummary out;
  const Event event = decode(reader.first(), path.string() + ":1");
  const auto* run = std::get_if<RunEvent>(&event);
  if (run == nullptr) throw bad_input(path.string() + ":1", "", "the event that opens a run");
  out.run = *run;
  if (snapshot != nullptr) reader.skip_to(*snapshot);
  do {
    out.snapshot_fits =
        out.snapshot_fits || (snapshot != nullptr && *snapshot == reader.position());
  } while (reader.next());
  out.end = reader.position();
  out.torn = reader.torn();
  out.end_place = reader.place_of_next();
  return out;
}

void replay(const std::filesystem::path& path,
            const LogPosition* from,
            KernelSpace& space,
            Campaign& campaign,
            RunRecord& record) {
  EventReader reader(path);
  Replay step(space, campaign, record);
  if (from != nullptr) {
    reader.skip_to(*from);
    while (reader.position() != *from) static_cast<void>(reader.next().value());
  } else {
    static_cast<void>(reader.next());  // the run, as scan_log saw it
  }
  while (const std::optional<std::string> object = reader.next()) {
    step.at(reader.place());
    std::visit(step, decode(*object, reader.place()));
  }
}

}  // namespace warpath
