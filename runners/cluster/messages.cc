#include "runners/cluster/messages.h"

#include "engine/plugin/device_fields.h"
#include "engine/plugin/outcome_fields.h"
#include "engine/plugin/stage_fields.h"
#include "runners/worker/wire.h"

namespace warpath {

using namespace cluster;

template <>
struct Description<Hash128> : Unnamed<&Hash128::high, &Hash128::low> {};
template <>
struct Description<Verdict> : Unnamed<&Verdict::gates> {};
template <>
struct Description<Join>
    : Unnamed<&Join::key, &Join::version, &Join::host, &Join::pid, &Join::job> {};
template <>
struct Description<Welcome> : Unnamed<&Welcome::problem> {};
template <>
struct Description<OpenRunner>
    : Unnamed<&OpenRunner::turn, &OpenRunner::runner, &OpenRunner::argument, &OpenRunner::options> {
};
template <>
struct Description<RunnerOpened> : Unnamed<&RunnerOpened::turn,
                                           &RunnerOpened::problem,
                                           &RunnerOpened::is_input,
                                           &RunnerOpened::facts,
                                           &RunnerOpened::lanes,
                                           &RunnerOpened::drafts> {};
template <>
struct Description<PrepareSpec> : Unnamed<&PrepareSpec::turn, &PrepareSpec::spec> {};
template <>
struct Description<SpecPrepared> : Unnamed<&SpecPrepared::turn,
                                           &SpecPrepared::problem,
                                           &SpecPrepared::is_input,
                                           &SpecPrepared::platform,
                                           &SpecPrepared::kind> {};
template <>
struct Description<RunVariant> : Unnamed<&RunVariant::turn,
                                         &RunVariant::id,
                                         &RunVariant::draft,
                                         &RunVariant::variant,
                                         &RunVariant::key,
                                         &RunVariant::seed,
                                         &RunVariant::incumbent_ns,
                                         &RunVariant::stage,
                                         &RunVariant::searched_ns,
                                         &RunVariant::against,
                                         &RunVariant::seconds_left> {};
template <>
struct Description<RunCommand>
    : Unnamed<&RunCommand::id, &RunCommand::words, &RunCommand::directory> {};
template <>
struct Description<Finished> : Unnamed<&Finished::id,
                                       &Finished::code,
                                       &Finished::problem,
                                       &Finished::outcome,
                                       &Finished::useful> {};
template <>
struct Description<Cancel> : Unnamed<&Cancel::id, &Cancel::if_waiting> {};
template <>
struct Description<Ping> : Unnamed<> {};
template <>
struct Description<Pong> : Unnamed<> {};

}  // namespace warpath

namespace warpath::cluster {

std::string encode(const EngineMessage& message) {
  return encode_frame(message);
}
std::string encode(const MemberMessage& message) {
  return encode_frame(message);
}
bool decode(std::string_view frame, EngineMessage& message) {
  return decode_frame(frame, message);
}
bool decode(std::string_view frame, MemberMessage& message) {
  return decode_frame(frame, message);
}

}  // namespace warpath::cluster
