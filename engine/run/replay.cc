#include "engine/run/replay.h"

#include "engine/base/error.h"

namespace warpath {
namespace {

constexpr std::string_view kChanged = "; the program, its moves or its proposers changed since";

/// One pass over the events; a call for each kind.
class Replay {
 public:
  Replay(KernelSpace& space, Campaign& campaign, RunRecord& record, bool restoring)
      : space_(space), campaign_(campaign), record_(record), restoring_(restoring) {}

  void search_from_now_on() { restoring_ = false; }
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
    if (restoring_) {
      space_.restore(e, place_);
      campaign_.restore(e, place_);
    } else {
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
    }
    record_.add(e);
  }

  void operator()(const OutcomeEvent& e) {
    require_begun();
    record_.add(e, restoring_ ? campaign_.restore(e, place_) : campaign_.apply(e, place_));
  }

  void operator()(const HeatEvent& e) {
    require_begun();
    record_.add(e, campaign_.apply(e, place_));
  }

  void operator()(const FinalEvent& e) {
    require_begun();
    record_.add(e, campaign_.apply(e, place_));
  }

  void operator()(const IdleEvent& e) {
    require_begun();
    if (restoring_) return campaign_.restore(e);
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
  bool restoring_;
  std::string place_;
};

}  // namespace

LogSummary scan_log(const std::filesystem::path& path, const Snapshot* snapshot) {
  EventReader reader(path);
  LogSummary out;
  const std::optional<std::string> first = reader.next();
  const Event event = decode(*first, reader.place());
  const auto* run = std::get_if<RunEvent>(&event);
  if (run == nullptr) throw bad_input(reader.place(), "", "the event that opens a run");
  out.run = *run;
  do {
    out.snapshot_fits =
        out.snapshot_fits || (snapshot != nullptr && snapshot->log == reader.position());
  } while (reader.next());
  out.end = reader.position();
  out.torn = reader.torn();
  return out;
}

void replay(const std::filesystem::path& path,
            std::optional<Snapshot> snapshot,
            KernelSpace& space,
            Campaign& campaign,
            RunRecord& record) {
  EventReader reader(path);
  static_cast<void>(reader.next());  // the run, as scan_log saw it
  Replay step(space, campaign, record, snapshot.has_value());
  for (;;) {
    if (snapshot && snapshot->log == reader.position()) {
      campaign.adopt(std::move(*snapshot), (path.parent_path() / "search_state.json").string());
      snapshot.reset();
      step.search_from_now_on();
    }
    const std::optional<std::string> object = reader.next();
    if (!object) return;
    step.at(reader.place());
    std::visit(step, decode(*object, reader.place()));
  }
}

}  // namespace warpath
