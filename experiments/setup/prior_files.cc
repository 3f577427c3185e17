#include "experiments/setup/prior_files.h"

#include <utility>

#include "engine/json/json_reader.h"
#include "engine/plugin/options.h"
#include "priors/options.h"

namespace warpath {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr std::string_view kKernel = "{kernel}";

std::string contents(const std::string& file, std::string_view place) {
  return read_text_file(file, kMaxJsonBytes, place);
}

/// Reads files named in the options; nullopt for others.
std::optional<std::string> named_file(const PriorOptions& options, std::string_view name) {
  const auto read = [](const std::string& file, std::string_view option) {
    return file.empty() || file == kAuto ? std::nullopt : std::optional(contents(file, option));
  };
  if (name == kModelFile) return read(options.model, "prior.model");
  if (name == kDraftModelFile) return read(options.draft_model, "prior.draft_model");
  return read(options.tactics, "prior.tactics");
}

std::string with_kernel(std::string file, const std::string& kernel) {
  for (auto at = file.find(kKernel); at != std::string::npos;
       at = file.find(kKernel, at + kernel.size()))
    file.replace(at, kKernel.size(), kernel);
  return file;
}

PriorOptions with_kernel(PriorOptions options, const std::string& kernel) {
  for (std::string* const file : {&options.model, &options.tactics, &options.draft_model})
    *file = with_kernel(std::move(*file), kernel);
  return options;
}

}  // namespace

PriorConfig run_prior_config(const Options& options,
                             const std::filesystem::path& folder,
                             const std::filesystem::path& outdir,
                             bool resumed) {
  return {
      .options = &options,
      .read = [prior = with_kernel(options.of<PriorOptions>(), folder.filename().string()), folder,
               outdir, resumed](std::string_view name) -> std::optional<std::string> {
        if (resumed) {
          const std::filesystem::path kept = folder / name;
          if (!std::filesystem::exists(kept)) return std::nullopt;
          return contents(kept.string(), kept.string());
        }
        if (auto named = named_file(prior, name)) return named;
        const std::filesystem::path common = outdir / kTacticGraphFile;
        if (name != kTacticGraphFile || prior.tactics != kAuto || !std::filesystem::exists(common))
          return std::nullopt;
        return contents(common.string(), common.string());
      }};
}

PriorConfig study_prior_config(const Options& options, const std::string& kernel) {
  return {.options = &options,
          .read = [named = with_kernel(options.of<PriorOptions>(), kernel)](std::string_view name) {
            return named_file(named, name);
          }};
}

}  // namespace warpath
